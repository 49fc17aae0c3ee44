// SPDX-License-Identifier: Apache-2.0
#include "weir/runtime/hash.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <unordered_set>
#include <vector>

#include <gtest/gtest.h>

namespace {

std::uint64_t hash_text(std::string_view text, std::uint64_t seed = 0) {
  return weir::hash_bytes(std::as_bytes(std::span(text)), seed);
}

// The input of the vectors below, which the reference implementation 0.8.1 produced.
std::vector<std::byte> pattern(std::size_t size) {
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i * 131 + 17);
  return bytes;
}

TEST(HashBytes, MatchesPublishedVectors) {
  EXPECT_EQ(hash_text(""), 0xEF46DB3751D8E999u);
  EXPECT_EQ(hash_text("a"), 0xD24EC4F1A98C6E5Bu);
  EXPECT_EQ(hash_text("abc"), 0x44BC2CF5AD770999u);
  EXPECT_EQ(hash_text("message digest"), 0x066ED728FCEEB3BEu);
  EXPECT_EQ(hash_text("Nobody inspects the spammish repetition"), 0xFBCEA83C8A378BF1u);
}

struct Vector {
  std::size_t size;
  std::uint64_t seed;
  std::uint64_t hash;
};

TEST(HashBytes, MatchesReferenceAroundEveryBranch) {
  constexpr Vector kVectors[] = {
      {3, 0, 0x40626D96276E4594u},  {4, 0, 0x882207C122C76E23u},   {7, 0, 0xCFC90033AA9DAC4Fu},
      {8, 0, 0x90FDA2F089FA86DEu},  {12, 0, 0x333861B25FD6348Bu},  {31, 0, 0x44CC9EFE5D2D0233u},
      {32, 0, 0x0E1AAB1D173CF196u}, {33, 0, 0x5C820B4B4FE28FDCu},  {63, 0, 0x1153D36CADE87066u},
      {64, 0, 0xD4C20EF54CBC9F67u}, {100, 0, 0x7F8375F3E09D8123u}, {200, 0, 0x18005B73212257B8u},
  };
  for (const Vector& v : kVectors) {
    EXPECT_EQ(weir::hash_bytes(pattern(v.size), v.seed), v.hash) << v.size << " bytes";
  }
}

TEST(HashBytes, MatchesReferenceWithSeeds) {
  constexpr Vector kVectors[] = {
      {0, 1, 0xD5AFBA1336A3BE4Bu},   {0, ~0ull, 0x298F4C84B24F5380u},
      {1, 1, 0x3ABF8188650F6B17u},   {14, 0x9E3779B1u, 0x0B97EE4E2CFD94E4u},
      {32, 1, 0x07752758EE3553B0u},  {33, 0x9E3779B1u, 0xEB179EC5ED36D2A8u},
      {200, 1, 0xB100DB166D877B13u}, {200, ~0ull, 0x5E05842079914070u},
  };
  for (const Vector& v : kVectors) {
    EXPECT_EQ(weir::hash_bytes(pattern(v.size), v.seed), v.hash)
        << v.size << " bytes, seed " << v.seed;
  }
}

TEST(HashBytes, MatchesReferenceForEveryLengthTo200) {
  const std::vector<std::byte> bytes = pattern(200);
  std::uint64_t chained = 0;
  for (std::size_t size = 0; size <= bytes.size(); ++size) {
    chained = weir::hash_bytes(std::span(bytes).first(size), chained);
  }
  EXPECT_EQ(chained, 0x13672E0046C778B0u);
}

TEST(HashBytes, IgnoresAlignment) {
  const std::vector<std::byte> bytes = pattern(77);
  const std::uint64_t expected = weir::hash_bytes(bytes);
  for (std::size_t shift = 0; shift < 16; ++shift) {
    std::vector<std::byte> moved(shift + bytes.size());
    std::copy(bytes.begin(), bytes.end(), moved.data() + shift);
    EXPECT_EQ(weir::hash_bytes(std::span(moved).subspan(shift)), expected);
  }
}

TEST(Mix64, KeepsItsValues) {
  static_assert(weir::mix64(0) == 0);
  EXPECT_EQ(weir::mix64(1), 0x3C02AA47758292BDu);
  EXPECT_EQ(weir::mix64(2), 0x946F086BBB956C5Du);
  EXPECT_EQ(weir::mix64(0xDEADBEEFu), 0x114DB568D062A65Cu);
  EXPECT_EQ(weir::mix64(~0ull), 0x78A9666A39C1A1B5u);
}

TEST(Mix64, SpreadsNeighboursOverLowBits) {
  std::unordered_set<std::uint64_t> seen;
  std::array<int, 16> buckets{};
  for (std::uint64_t key = 0; key < 16'000; ++key) {
    const std::uint64_t mixed = weir::mix64(key);
    seen.insert(mixed);
    ++buckets[mixed & 15];
  }
  EXPECT_EQ(seen.size(), 16'000u);
  for (const int count : buckets) EXPECT_NEAR(count, 1000, 150);  // 4.9 standard deviations
}

}  // namespace
