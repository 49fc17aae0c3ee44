// SPDX-License-Identifier: Apache-2.0
// Arithmetic on one bucket word: all slots at once, no loops (SIMD within a register).
#pragma once
#include <cstdint>

#include "weir/anifilter/layout.hpp"

/// Inlined also in debug builds: sources compiled for AVX must not leave a copy of these behind
/// that the linker could pick for the baseline.
#define WEIR_INLINE [[gnu::always_inline]]

namespace weir::anifilter {

template <unsigned Slots, unsigned Bits>
struct Bucket {
  static constexpr unsigned kSlots = Slots;
  static constexpr unsigned kBits = Bits;
  static_assert(Slots * Bits <= 60, "bits 60-63 are flags");

  static constexpr Word kSlotMask = (Word{1} << Bits) - 1;
  static constexpr Word spread(Word lane) {  // the same value in every slot
    Word all = 0;
    for (unsigned s = 0; s < Slots; ++s) all |= lane << (s * Bits);
    return all;
  }
  static constexpr Word kLow = spread(1);
  static constexpr Word kHigh = kLow << (Bits - 1);
  static constexpr Word kBelowHigh = spread(kSlotMask >> 1);

  WEIR_INLINE static constexpr Word get(Word bucket, unsigned slot) {
    return (bucket >> (slot * Bits)) & kSlotMask;
  }
  WEIR_INLINE static constexpr Word slot0(Word bucket) { return bucket & kSlotMask; }
  WEIR_INLINE static constexpr Word replace(Word bucket, unsigned slot, Word fingerprint) {
    return (bucket & ~(kSlotMask << (slot * Bits))) | (fingerprint << (slot * Bits));
  }

  /// The high bit of every slot that is not empty. Exact for each slot: the addition cannot carry
  /// out of a slot, since its high bit was cleared.
  WEIR_INLINE static constexpr Word occupied(Word bucket) {
    return (((bucket & kBelowHigh) + kBelowHigh) | bucket) & kHigh;
  }
  WEIR_INLINE static constexpr Word empty(Word bucket) { return occupied(bucket) ^ kHigh; }
  WEIR_INLINE static constexpr bool is_full(Word bucket) { return empty(bucket) == 0; }
  WEIR_INLINE static constexpr unsigned count(Word bucket) {
    return static_cast<unsigned>(__builtin_popcountll(occupied(bucket)));
  }

  /// The high bit of every slot that holds `fingerprint` (not 0) for this bucket itself: slot 0
  /// does not count while it holds the left neighbour's.
  WEIR_INLINE static constexpr Word own_matches(Word bucket, Word fingerprint) {
    Word difference = bucket ^ (fingerprint * kLow);
    difference |= (bucket & kSpillBit) != 0 ? kSlotMask : 0;
    return occupied(difference) ^ kHigh;
  }
  /// Some slot holds `fingerprint`, whosever it is.
  WEIR_INLINE static constexpr bool holds_any(Word bucket, Word fingerprint) {
    return occupied(bucket ^ (fingerprint * kLow)) != kHigh;
  }
  WEIR_INLINE static constexpr bool holds_own(Word bucket, Word fingerprint) {
    return own_matches(bucket, fingerprint) != 0;
  }
  /// `right` is the right neighbour of the fingerprint's bucket.
  WEIR_INLINE static constexpr bool holds_spilled(Word right, Word fingerprint) {
    return ((right ^ fingerprint ^ kSpillBit) & (kSlotMask | kSpillBit)) == 0;
  }

  /// Own fingerprints fill slots from the top down, so that slot 0, the only one that a neighbour
  /// may use, is taken last. `empty_slots` comes from empty() and is not 0.
  WEIR_INLINE static constexpr unsigned highest(Word slots) {
    return (63u - static_cast<unsigned>(__builtin_clzll(slots))) / Bits;
  }
  WEIR_INLINE static constexpr unsigned lowest(Word slots) {
    return static_cast<unsigned>(__builtin_ctzll(slots)) / Bits;
  }
};

}  // namespace weir::anifilter
