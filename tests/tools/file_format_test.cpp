// SPDX-License-Identifier: Apache-2.0
// Reads filter files with nothing but what docs/anifilter.md, "File format", says.
#include <cstring>
#include <fstream>
#include <span>

#include "weir/runtime/hash.hpp"

#include "tool_test.hpp"

namespace weir::tool {
namespace {

using U128 = unsigned __int128;

std::uint64_t documented_mix64(std::uint64_t x) {
  x ^= x >> 27;
  x *= 0x3C79AC492BA7B653;
  x ^= x >> 33;
  x *= 0x1C69B3F74AC4AE35;
  return x ^ x >> 27;
}

std::uint32_t documented_mix_fingerprint(std::uint32_t x) {
  x *= 0x9E3779B1;
  x ^= x >> 15;
  x *= 0x85EBCA77;
  return x ^ x >> 13;
}

struct FileReader {
  std::string bytes;

  template <class T>
  [[nodiscard]] T field(std::size_t offset) const {
    T value;
    std::memcpy(&value, bytes.data() + offset, sizeof value);
    return value;
  }
  [[nodiscard]] std::uint64_t slots() const { return field<std::uint32_t>(16); }
  [[nodiscard]] std::uint64_t fingerprint_bits() const { return field<std::uint32_t>(20); }
  [[nodiscard]] std::uint64_t buckets() const { return field<std::uint64_t>(32); }
  [[nodiscard]] std::uint64_t seed() const { return field<std::uint64_t>(40); }
  [[nodiscard]] std::uint64_t word(std::uint64_t b) const {
    return field<std::uint64_t>(8192 + 8 * b);
  }
  [[nodiscard]] std::uint64_t slot(std::uint64_t b, std::uint64_t s) const {
    return word(b) >> (s * fingerprint_bits()) & ((std::uint64_t{1} << fingerprint_bits()) - 1);
  }
  [[nodiscard]] bool spill(std::uint64_t b) const { return (word(b) >> 60 & 1) != 0; }
  [[nodiscard]] bool overflow(std::uint64_t b) const { return (word(b) >> 61 & 1) != 0; }

  [[nodiscard]] bool holds(std::uint64_t b, std::uint64_t fingerprint) const {
    for (std::uint64_t s = spill(b) ? 1 : 0; s < slots(); ++s)
      if (slot(b, s) == fingerprint) return true;
    const std::uint64_t right = (b & ~std::uint64_t{7}) | ((b + 1) & 7);
    return spill(right) && slot(right, 0) == fingerprint;
  }
  [[nodiscard]] bool contains(std::uint64_t h) const {
    const std::uint64_t n = buckets();
    const auto prime = static_cast<std::uint64_t>(U128{h} * n >> 64);
    const std::uint64_t fingerprint =
        1 + ((h & 0xFFFFFFFF) * ((std::uint64_t{1} << fingerprint_bits()) - 1) >> 32);
    const std::uint64_t distance =
        (documented_mix_fingerprint(static_cast<std::uint32_t>(fingerprint)) * n >> 32) | 1;
    const std::uint64_t secondary =
        prime % 2 == 0 ? (prime + distance) % n : (prime + n - distance) % n;
    return holds(prime, fingerprint) || (overflow(prime) && holds(secondary, fingerprint));
  }
};

using FileFormat = ToolTest;

TEST_F(FileFormat, HeaderIsAsDocumented) {
  ok("weir filter create a --buckets 24 --layout 6x10 --consistency strict --seed 0x1234 -q");
  const FileReader file{read("a")};
  EXPECT_EQ(file.bytes.size(), 8192u + 8 * 24);
  EXPECT_EQ(file.bytes.substr(0, 8), "WEIRANIF");
  EXPECT_EQ(file.field<std::uint32_t>(8), 1u);
  EXPECT_EQ(file.field<std::uint32_t>(12), 0x01020304u);
  EXPECT_EQ(file.slots(), 6u);
  EXPECT_EQ(file.fingerprint_bits(), 10u);
  EXPECT_EQ(file.field<std::uint32_t>(24), 0b1111u);
  EXPECT_EQ(file.field<std::uint32_t>(28), 0u);
  EXPECT_EQ(file.buckets(), 24u);
  EXPECT_EQ(file.seed(), 0x1234u);
  EXPECT_EQ(file.field<std::uint64_t>(48), 4096u);
  EXPECT_EQ(file.field<std::uint64_t>(56), 64u);
  EXPECT_EQ(file.field<std::uint64_t>(64), 8192u);
  EXPECT_EQ(file.field<std::uint64_t>(72), 8192u + 8 * 24);
  EXPECT_EQ(file.field<std::uint64_t>(80), 0u);
  const auto header = std::as_bytes(std::span(file.bytes)).first(88);
  EXPECT_EQ(file.field<std::uint64_t>(88), hash_bytes(header));
  EXPECT_EQ(file.bytes.substr(2048, 96), file.bytes.substr(0, 96));
  std::string rest = file.bytes;
  rest.erase(2048, 96).erase(0, 96);
  EXPECT_EQ(rest, std::string(rest.size(), '\0'));
}

TEST_F(FileFormat, EveryKeyIsWhereTheDocumentationSays) {
  for (const std::string layout : {"7x8", "6x10", "5x12", "4x15", "3x20"}) {
    ok("weir filter create a -c 5000 --force -q --seed 7 --layout " + layout);
    ok("seq 5000 | weir filter add a --keys u64 -q");
    const FileReader numbers{read("a")};
    const std::uint64_t mask = documented_mix64(7 + 0x9E3779B97F4A7C15);
    for (std::uint64_t key = 1; key <= 5000; ++key)
      ASSERT_TRUE(numbers.contains(documented_mix64(key ^ mask))) << layout << ' ' << key;

    ok("weir filter create a -c 5000 --force -q --seed 7 --layout " + layout);
    ok("seq 5000 | weir filter add a -q");
    const FileReader lines{read("a")};
    for (std::uint64_t key = 1; key <= 5000; ++key) {
      const std::string text = std::to_string(key);
      ASSERT_TRUE(lines.contains(hash_bytes(std::as_bytes(std::span(text)), 7))) << text;
    }
    const std::uint64_t used = lines.slots() * lines.fingerprint_bits();
    for (std::uint64_t b = 0; b < lines.buckets(); ++b) {
      EXPECT_EQ(lines.word(b) >> 62, 0u);
      EXPECT_EQ(lines.word(b) >> used & ((std::uint64_t{1} << (60 - used)) - 1), 0u);
    }
  }
}

}  // namespace
}  // namespace weir::tool
