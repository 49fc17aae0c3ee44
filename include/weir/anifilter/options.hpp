// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>

#include "weir/anifilter/layout.hpp"

namespace weir::anifilter {

/// What a crash may leave of an operation that had not returned. Neither ever loses a key whose
/// insert had returned.
enum class Consistency : std::uint8_t {
  /// No log. At most one surplus fingerprint for each operation in flight: it costs a slot, and
  /// after
  /// an erase of its key one lasting false positive.
  relaxed,
  /// One 64-byte log record for each thread that moves a fingerprint; recovery undoes a half-done
  /// move, so counts are exact. Costs fences on evictions only.
  strict,
};

/// How a filter is made. All of it is stored in the filter's header.
struct Options {
  /// Keys it shall hold; the number of buckets is chosen so that they fill `max_load` of the slots.
  std::uint64_t capacity = 0;
  double max_load = 0.95;  ///< in (0, 0.98]; inserts succeed up to about 0.99
  /// Exact number of buckets instead of `capacity`: a multiple of 8, at least 8, below 2^32.
  std::uint64_t buckets = 0;
  Layout layout = Layout::k5x12;
  Consistency consistency = Consistency::relaxed;
  std::uint64_t hash_seed = 0;

  // The paper's three ideas, each of which can be switched off to measure what it gains.
  bool spillable_buckets = true;   ///< off: a bucket's neighbour is never used
  bool lookahead_eviction = true;  ///< off: evict along a random walk (found first, then executed)
  bool bucket_primacy = true;      ///< off: every lookup reads both buckets
};

/// Buckets that `options` asks for. Throws InvalidArgument (no capacity, absurd capacity, buckets
/// not a multiple of 8, load out of range) with what is allowed.
std::uint64_t bucket_count(const Options& options);

}  // namespace weir::anifilter
