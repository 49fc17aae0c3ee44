// SPDX-License-Identifier: Apache-2.0
// kill -9 while two threads insert and erase: every operation that had returned must be there when
// the file is opened again. Shows that the death of a process loses nothing (stores reach the
// page cache in any case); what a power failure may leave is the crash cells' business.
#pragma once
#include <cstdint>
#include <string>

#include "weir/anifilter/options.hpp"

namespace weir::anifilter::trials {

struct KillOptions {
  std::uint64_t rounds = 200;
  std::uint64_t create_rounds = 50;  ///< kills while a filter is being created
  double least_microseconds = 100;
  double most_microseconds = 20'000;
  std::uint64_t rounds_a_file = 10;  ///< each file is opened, used and killed so often
  std::uint64_t buckets = 4096;
  std::uint64_t seed = 1;
};

struct KillResult {
  std::uint64_t rounds = 0;         ///< in which the child was killed at work
  std::uint64_t create_rounds = 0;  ///< in which it was killed in or about create
  std::uint64_t half_created = 0;   ///< of them, without a file at the path
  std::uint64_t operations = 0;     ///< acknowledged before the kills
  std::uint64_t keys_checked = 0;
  std::uint64_t lost = 0;  ///< acknowledged keys that were missing
  double most_load = 0;
  std::string problem;  ///< the first one of any kind: a lost key, verify(), a wrong size
};

KillResult run_kill_trial(const KillOptions& options);

}  // namespace weir::anifilter::trials
