// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

namespace weir {

/// Mixes a 64-bit key so that every input bit reaches every output bit ("moremur", Evensen 2019).
/// A bijection; only 64-bit multiplies, so it vectorises with AVX-512DQ.
constexpr std::uint64_t mix64(std::uint64_t x) {
  x ^= x >> 27;
  x *= 0x3C79AC492BA7B653u;
  x ^= x >> 33;
  x *= 0x1C69B3F74AC4AE35u;
  return x ^ (x >> 27);
}

/// XXH64 (Collet): the stable 64-bit hash of a byte string. Used for byte-string keys and for the
/// checksums of stored headers, so its values are part of Weir's file formats.
std::uint64_t hash_bytes(std::span<const std::byte> bytes, std::uint64_t seed = 0);

}  // namespace weir
