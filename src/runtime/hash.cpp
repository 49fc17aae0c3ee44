// SPDX-License-Identifier: Apache-2.0
// XXH64, written from its specification (Collet, "xxHash fast digest algorithm", 0.1.1).
#include "weir/runtime/hash.hpp"

#include <bit>
#include <cstring>

namespace weir {
namespace {

constexpr std::uint64_t kPrime1 = 0x9E3779B185EBCA87u;
constexpr std::uint64_t kPrime2 = 0xC2B2AE3D27D4EB4Fu;
constexpr std::uint64_t kPrime3 = 0x165667B19E3779F9u;
constexpr std::uint64_t kPrime4 = 0x85EBCA77C2B2AE63u;
constexpr std::uint64_t kPrime5 = 0x27D4EB2F165667C5u;

static_assert(std::endian::native == std::endian::little, "the loads below are little-endian");

template <class Word>
std::uint64_t load(const std::byte* p) {
  Word word;
  std::memcpy(&word, p, sizeof word);
  return word;
}

std::uint64_t round(std::uint64_t accumulator, std::uint64_t lane) {
  return std::rotl(accumulator + lane * kPrime2, 31) * kPrime1;
}

std::uint64_t merge(std::uint64_t hash, std::uint64_t accumulator) {
  return (hash ^ round(0, accumulator)) * kPrime1 + kPrime4;
}

}  // namespace

std::uint64_t hash_bytes(std::span<const std::byte> bytes, std::uint64_t seed) {
  const std::byte* p = bytes.data();
  std::size_t left = bytes.size();
  std::uint64_t hash;

  if (left >= 32) {
    std::uint64_t a = seed + kPrime1 + kPrime2;
    std::uint64_t b = seed + kPrime2;
    std::uint64_t c = seed;
    std::uint64_t d = seed - kPrime1;
    for (; left >= 32; p += 32, left -= 32) {
      a = round(a, load<std::uint64_t>(p));
      b = round(b, load<std::uint64_t>(p + 8));
      c = round(c, load<std::uint64_t>(p + 16));
      d = round(d, load<std::uint64_t>(p + 24));
    }
    hash = std::rotl(a, 1) + std::rotl(b, 7) + std::rotl(c, 12) + std::rotl(d, 18);
    hash = merge(merge(merge(merge(hash, a), b), c), d);
  } else {
    hash = seed + kPrime5;
  }
  hash += bytes.size();

  for (; left >= 8; p += 8, left -= 8) {
    hash = std::rotl(hash ^ round(0, load<std::uint64_t>(p)), 27) * kPrime1 + kPrime4;
  }
  if (left >= 4) {
    hash = std::rotl(hash ^ load<std::uint32_t>(p) * kPrime1, 23) * kPrime2 + kPrime3;
    p += 4;
    left -= 4;
  }
  for (; left > 0; ++p, --left) {
    hash = std::rotl(hash ^ std::to_integer<std::uint64_t>(*p) * kPrime5, 11) * kPrime1;
  }

  hash = (hash ^ (hash >> 33)) * kPrime2;
  hash = (hash ^ (hash >> 29)) * kPrime3;
  return hash ^ (hash >> 32);
}

}  // namespace weir
