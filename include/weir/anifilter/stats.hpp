// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "weir/runtime/units.hpp"

namespace weir::anifilter {

/// A picture of a filter, from a scan of its words. Exact when no thread changes the filter
/// meanwhile, except where it says "estimate".
struct Stats {
  std::uint64_t buckets = 0;
  std::uint64_t slots = 0;
  std::uint64_t size = 0;                  ///< fingerprints stored
  double load_factor = 0;                  ///< size / slots
  std::uint64_t full_buckets = 0;          ///< no slot of its own and none to spill to
  std::uint64_t overflowed_buckets = 0;    ///< overflow bit set
  std::uint64_t spilled_fingerprints = 0;  ///< in their right neighbour
  /// From a sample of about 2^16: the share of fingerprints whose other bucket has the overflow
  /// bit. A lookup of a key of that bucket compares them too; Bucket Primacy saves the rest.
  double exposed_fraction = 0;
  double expected_fpr = 0;  ///< of a key that was never inserted; see Filter::expected_fpr
  double bits_per_key = 0;  ///< of persistent memory, header included
  Bytes region_size;
  Bytes dram_size;  ///< occupancy flags, lock stripes, counters
};

/// What open() had to do.
struct RecoveryReport {
  double seconds = 0;  ///< from the call to the filter being ready
  std::uint64_t buckets_scanned = 0;
  std::uint64_t moves_undone = 0;  ///< strict: log records that were live
  bool header_repaired = false;    ///< one of the two header copies was bad and was rewritten
};

/// What verify() found; `problems` holds at most 100 lines, `problem_count` all.
struct VerifyReport {
  std::uint64_t problem_count = 0;
  std::vector<std::string> problems;
  [[nodiscard]] bool ok() const { return problem_count == 0; }
};

}  // namespace weir::anifilter
