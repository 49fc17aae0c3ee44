// SPDX-License-Identifier: Apache-2.0
// From a hash to a prime bucket, a fingerprint and a secondary bucket (partial-key cuckoo hashing).
#pragma once
#include <cstdint>

#include "weir/runtime/hash.hpp"

#include "anifilter/bucket.hpp"

namespace weir::anifilter {

/// 32-bit mix of a fingerprint. Only multiplies and shifts of 32 bits, so that it vectorises.
WEIR_INLINE constexpr std::uint32_t mix_fingerprint(std::uint32_t x) {
  x *= 0x9E3779B1u;
  x ^= x >> 15;
  x *= 0x85EBCA77u;
  return x ^ (x >> 13);
}

/// Works for every even number of buckets below 2^32, not only powers of two: the distance to the
/// alternate is odd, so it flips the parity of the bucket, and the parity tells whether to add or
/// to subtract; hence alternate(alternate(b)) == b.
struct Geometry {
  std::uint64_t buckets = 0;
  std::uint64_t key_mask = 0;  ///< mixed hash seed

  Geometry() = default;
  Geometry(std::uint64_t bucket_count, std::uint64_t seed)
      : buckets(bucket_count), key_mask(mix64(seed + 0x9E3779B97F4A7C15u)) {}

  [[nodiscard]] WEIR_INLINE std::uint64_t hash(std::uint64_t key) const {
    return mix64(key ^ key_mask);
  }

  [[nodiscard]] WEIR_INLINE std::uint64_t prime(std::uint64_t hash) const {
    return static_cast<std::uint64_t>((static_cast<unsigned __int128>(hash) * buckets) >> 64);
  }

  /// Uniform in [1, 2^bits - 1]. Uses the low half of the hash; the bucket uses the high end.
  template <class B>
  [[nodiscard]] WEIR_INLINE static std::uint32_t fingerprint(std::uint64_t hash) {
    return static_cast<std::uint32_t>(1 + (((hash & 0xFFFFFFFFu) * B::kSlotMask) >> 32));
  }

  [[nodiscard]] WEIR_INLINE std::uint64_t alternate(std::uint64_t bucket,
                                                    std::uint32_t fingerprint) const {
    const std::uint64_t distance =
        ((std::uint64_t{mix_fingerprint(fingerprint)} * buckets) >> 32) | 1;
    if ((bucket & 1) == 0) {
      const std::uint64_t sum = bucket + distance;
      return sum >= buckets ? sum - buckets : sum;
    }
    return bucket >= distance ? bucket - distance : bucket + buckets - distance;
  }
};

}  // namespace weir::anifilter
