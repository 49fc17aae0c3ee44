// SPDX-License-Identifier: Apache-2.0
// Lookups against moves, one memory access at a time: a reader is stopped and resumed at every
// access while another thread evicts, erases and inserts around the keys that are looked up. Far
// more interleavings of few instructions than free-running threads meet by chance, and each can be
// repeated.
#pragma once
#include <cstdint>
#include <string>

namespace weir::anifilter::trials {

struct RaceResult {
  std::uint64_t runs = 0;
  std::uint64_t lookups = 0;
  std::uint64_t moves = 0;  ///< fingerprints that changed their bucket, their keys being looked up
  std::uint64_t moves_to_prime = 0;   ///< of them, from the secondary to the prime bucket
  std::uint64_t false_negatives = 0;  ///< residents that a lookup did not find
  std::string problem;                ///< the first
};

/// `runs` interleavings. Deterministic for a seed; stops at the first miss.
RaceResult run_lookup_races(std::uint64_t runs, std::uint64_t seed);

}  // namespace weir::anifilter::trials
