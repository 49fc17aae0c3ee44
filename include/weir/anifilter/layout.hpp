// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "weir/runtime/persistent_access.hpp"

namespace weir::anifilter {

/// Slots of a bucket x bits of a fingerprint. A bucket is one aligned 8-byte word, the unit that
/// persistent memory writes atomically; a 64-byte line holds eight buckets.
enum class Layout : std::uint8_t { k7x8, k6x10, k5x12, k4x15, k3x20 };

struct LayoutInfo {
  Layout layout;
  unsigned slots;  ///< fingerprints a bucket
  unsigned
      fingerprint_bits;   ///< slot s is at bits [s * fingerprint_bits, (s + 1) * ...); 0 = empty
  std::string_view name;  ///< "5x12"
};

inline constexpr std::array<LayoutInfo, 5> kLayouts{{
    {Layout::k7x8, 7, 8, "7x8"},
    {Layout::k6x10, 6, 10, "6x10"},
    {Layout::k5x12, 5, 12, "5x12"},
    {Layout::k4x15, 4, 15, "4x15"},
    {Layout::k3x20, 3, 20, "3x20"},
}};
constexpr const LayoutInfo& info(Layout layout) {
  return kLayouts[static_cast<std::size_t>(layout)];
}
std::optional<Layout> parse_layout(std::string_view name);

/// Bit 60 of a bucket word, "spill in": slot 0 holds a fingerprint of the left neighbour.
inline constexpr Word kSpillBit = Word{1} << 60;
/// Bit 61, "overflow": a key whose prime bucket this is may be in its secondary bucket. Sticky.
inline constexpr Word kOverflowBit = Word{1} << 61;

/// Neighbours form a ring inside one line, so that a spilled fingerprint costs no second line.
constexpr std::uint64_t right_of(std::uint64_t bucket) {
  return (bucket & ~std::uint64_t{7}) | ((bucket + 1) & 7);
}
constexpr std::uint64_t left_of(std::uint64_t bucket) {
  return (bucket & ~std::uint64_t{7}) | ((bucket + 7) & 7);
}

}  // namespace weir::anifilter
