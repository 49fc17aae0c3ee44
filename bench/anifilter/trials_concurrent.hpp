// SPDX-License-Identifier: Apache-2.0
// Lookups beside inserts and erases at high load: residents that are never erased must be found at
// every moment, while the other thread evicts them, makes room for them to move back, and inserts
// and erases copies of their fingerprints.
#pragma once
#include <cstdint>
#include <string>

#include "weir/anifilter/options.hpp"

namespace weir::anifilter::trials {

struct ConcurrentOptions {
  std::uint64_t operations = 10'000'000;  ///< single keys; a batch counts with its length
  std::uint64_t buckets = 512;            ///< few, so that the threads meet often
  Layout layout = Layout::k5x12;
  Consistency consistency = Consistency::relaxed;
  double least_load = 0.90;
  double most_load = 0.97;
  std::uint64_t seed = 1;
};

struct ConcurrentResult {
  std::uint64_t lookups = 0;
  std::uint64_t inserts = 0;
  std::uint64_t erases = 0;
  std::uint64_t full = 0;             ///< inserts that found no room
  std::uint64_t false_negatives = 0;  ///< lookups, or erases, of a key that was there
  double load = 0;                    ///< at the end
  std::uint64_t in_secondary = 0;     ///< residents in their secondary bucket at the end
  std::uint64_t moved_back = 0;       ///< residents that were in their secondary at an earlier
                                      ///< look and are in their prime bucket at a later one
  std::string problem;                ///< the first

  ConcurrentResult& operator+=(const ConcurrentResult& other);
  [[nodiscard]] std::uint64_t operations() const { return lookups + inserts + erases; }
};

/// Two threads. The filter must come out sound: every key there, verify() content, size() exact.
ConcurrentResult run_concurrent_trial(const ConcurrentOptions& options);

}  // namespace weir::anifilter::trials
