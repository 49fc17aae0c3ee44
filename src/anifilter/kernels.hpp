// SPDX-License-Identifier: Apache-2.0
// The loops that gain from wide instructions, behind one table for each instruction set. They read
// the words directly, so only policies with kDirect use them.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "weir/anifilter/layout.hpp"
#include "weir/runtime/cpu.hpp"

#include "anifilter/geometry.hpp"

namespace weir::anifilter {

struct TableView {
  const Word* words;
  const std::atomic<std::uint32_t>* stripes;
  std::uint64_t stripe_mask;
  Geometry geometry;
};

struct ScanTotals {
  std::uint64_t fingerprints = 0;
  std::uint64_t full = 0;  ///< blocked buckets
  std::uint64_t overflowed = 0;
  std::uint64_t spilled = 0;

  ScanTotals& operator+=(const ScanTotals& other) {
    fingerprints += other.fingerprints;
    full += other.full;
    overflowed += other.overflowed;
    spilled += other.spilled;
    return *this;
  }
};

/// The fingerprints whose eviction makes room for one of `bucket`: in its slots, from the top down,
/// and last in its right neighbour's slot 0, where it could spill.
struct Victims {
  static constexpr unsigned kMost = 8;
  std::uint64_t targets[kMost];       ///< where each would go: its alternate bucket
  std::uint64_t homes[kMost];         ///< the bucket it belongs to now
  std::uint64_t fingerprints[kMost];  ///< 0: the slot is empty
  unsigned movable;                   ///< bit i: the target of victim i is not blocked
};

struct Kernels {
  /// hashes[i] = geometry.hash(keys[i]).
  void (*hash)(const Geometry& geometry, const std::uint64_t* keys, std::size_t n,
               std::uint64_t* hashes);
  /// results[i] = the key with hashes[i] is there; beside concurrent writers. Returns how many are.
  std::size_t (*contains)(const TableView& table, const std::uint64_t* hashes, std::size_t n,
                          bool* results);
  /// Occupancy byte (bit i: bucket i of the line is blocked) and totals of `lines` lines.
  ScanTotals (*scan)(const Word* words, std::uint64_t lines, bool spillable,
                     std::uint8_t* occupancy);
  /// Fills `victims` for `bucket`, whose word is `own` and whose right neighbour's is `right`.
  /// Reads up to 3 bytes past the end of `occupancy`.
  void (*victims)(const Geometry& geometry, const std::uint8_t* occupancy, std::uint64_t bucket,
                  Word own, Word right, Victims& victims);
};

inline constexpr std::size_t kOccupancyPadding = 8;

const Kernels& kernels(Layout layout, Isa isa);

// One definition each in kernels_<isa>.cpp, which are compiled with that instruction set.
const Kernels& kernels_baseline(Layout layout);
const Kernels& kernels_avx2(Layout layout);
const Kernels& kernels_avx512(Layout layout);

}  // namespace weir::anifilter
