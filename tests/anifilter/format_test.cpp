// SPDX-License-Identifier: Apache-2.0
// The stored bytes: what version 1 looks like, and what is refused.
#include <cstring>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "weir/anifilter/filter.hpp"
#include "weir/runtime/error.hpp"
#include "weir/runtime/hash.hpp"

#include "anifilter/trials_table.hpp"

namespace weir::anifilter {
namespace {

using testing::HasSubstr;
using trials::Image;
using trials::ImageRegion;

constexpr std::size_t kCopyB = 2048;
constexpr std::size_t kLog = 4096;
constexpr std::size_t kTable = 8192;

Options small_options() {
  Options options;
  options.buckets = 16;
  options.consistency = Consistency::strict;
  options.hash_seed = 42;
  return options;
}

class Format : public testing::Test {
 protected:
  void SetUp() override {
    image_ = Image(Filter::region_size(small_options()));
    ImageRegion region(image_.bytes());
    Filter filter = Filter::create(region, small_options());
    for (std::uint64_t key = 0; key < 24; ++key)
      ASSERT_EQ(filter.insert(key), InsertResult::inserted);
  }

  template <class T>
  void set(std::size_t offset, T value) {
    std::memcpy(image_.bytes().data() + offset, &value, sizeof value);
  }
  /// In both copies, with the checksum that belongs to it.
  template <class T>
  void set_header(std::size_t offset, T value) {
    for (const std::size_t copy : {std::size_t{0}, kCopyB}) {
      set(copy + offset, value);
      set(copy + 88, hash_bytes(image_.bytes().subspan(copy, 88)));
    }
  }
  std::string refusal(std::span<std::byte> bytes, bool writable = true) {
    const std::vector<std::byte> before(bytes.begin(), bytes.end());
    ImageRegion region(bytes, writable);
    std::string message = "it opened";
    try {
      static_cast<void>(Filter::open(region));
    } catch (const CorruptData& error) {
      message = error.what();
    }
    if (message != "it opened") {
      EXPECT_TRUE(std::ranges::equal(bytes, before)) << "a refused file was changed";
    }
    return message;
  }
  std::string refusal() { return refusal(image_.bytes()); }

  Image image_;
};

TEST_F(Format, HeaderIsAsDocumented) {
  const unsigned char golden[96] = {
      'W', 'E',  'I', 'R', 'A',  'N',  'I',  'F',   // magic
      1,   0,    0,   0,   0x04, 0x03, 0x02, 0x01,  // version, byte order
      5,   0,    0,   0,   12,   0,    0,    0,     // layout
      15,  0,    0,   0,   0,    0,    0,    0,     // flags
      16,  0,    0,   0,   0,    0,    0,    0,     // buckets
      42,  0,    0,   0,   0,    0,    0,    0,     // hash seed
      0,   0x10, 0,   0,   0,    0,    0,    0,    64,   0,    0, 0, 0, 0, 0, 0,  // log
      0,   0x20, 0,   0,   0,    0,    0,    0,    0x80, 0x20, 0, 0, 0, 0, 0, 0,  // table, size
      0,   0,    0,   0,   0,    0,    0,    0,                                   // reserved
      0,   0,    0,   0,   0,    0,    0,    0,  // checksum, see below
  };
  for (const std::size_t copy : {std::size_t{0}, kCopyB}) {
    EXPECT_EQ(std::memcmp(image_.bytes().data() + copy, golden, 88), 0) << copy;
    std::uint64_t checksum;
    std::memcpy(&checksum, image_.bytes().data() + copy + 88, 8);
    EXPECT_EQ(checksum, hash_bytes(std::as_bytes(std::span(golden)).first(88)));
    EXPECT_EQ(checksum, 8822879778836883671u);
  }
  // All that is neither header nor table is zero when no operation runs, but for the second words
  // of log entries, which a cleared record leaves as they were.
  for (std::size_t i = 96; i < kLog; ++i)
    if (i < kCopyB || i >= kCopyB + 96) {
      ASSERT_EQ(image_.bytes()[i], std::byte{0}) << i;
    }
}

TEST_F(Format, WordsAreAsDocumented) {
  // 60 keys in 80 slots: own, spilled and secondary ones, and no eviction, whose choice of a victim
  // is no part of the format.
  ImageRegion region(image_.bytes());
  Filter filter = Filter::open(region);
  for (std::uint64_t key = 24; key < 60; ++key)
    ASSERT_EQ(filter.insert(key), InsertResult::inserted);
  const Word golden[16] = {
      0x04BAC46A5C000000, 0x0D32000000000000, 0x2A08E33A163F766A, 0x064E279623978760,
      0x01255BF3D7150000, 0x01B85B78EE4E7014, 0x0FF751F5A84B701F, 0x03ACB9871D018000,
      0x006BCE01C3800D1E, 0x0857380CAE204803, 0x02723F33D4A26000, 0x0B18000000000000,
      0x0DA4D34000000000, 0x27E1DD922AEEE56B, 0x1E97C7EA6F000F91, 0x0F072FC000000000};
  for (std::size_t b = 0; b < 16; ++b) {
    Word word;
    std::memcpy(&word, image_.bytes().data() + kTable + 8 * b, 8);
    EXPECT_EQ(word, golden[b]) << b << ": 0x" << std::hex << word;
  }
}

TEST_F(Format, RefusesOtherFiles) {
  set(0, std::uint64_t{0});
  set(kCopyB, std::uint64_t{0});
  EXPECT_THAT(refusal(), HasSubstr("magic"));
  Image zeros(Bytes{image_.bytes().size()});
  EXPECT_THAT(refusal(zeros.bytes()), HasSubstr("header is empty"));
}

TEST_F(Format, RefusesOtherVersions) {
  set_header(8, std::uint32_t{2});
  EXPECT_THAT(refusal(), HasSubstr("version is 2"));
}

TEST_F(Format, RefusesTheOtherByteOrder) {
  set_header(12, std::uint32_t{0x04030201});
  EXPECT_THAT(refusal(), HasSubstr("byte order"));
}

TEST_F(Format, RefusesADamagedHeader) {
  for (std::size_t i = 0; i < 96; ++i) {
    const Image saved = image_;
    image_.bytes()[i] ^= std::byte{0x10};
    image_.bytes()[kCopyB + i] ^= std::byte{0x10};
    EXPECT_NE(refusal(), "it opened") << "byte " << i;
    image_ = saved;
  }
}

TEST_F(Format, RefusesFieldsThatCannotBe) {
  const auto refuses = [&](std::size_t offset, auto value) {
    const Image saved = image_;
    set_header(offset, value);
    const std::string message = refusal();
    image_ = saved;
    return message;
  };
  EXPECT_THAT(refuses(16, std::uint32_t{8}), HasSubstr("layout 8x12"));
  EXPECT_THAT(refuses(20, std::uint32_t{13}), HasSubstr("layout 5x13"));
  EXPECT_THAT(refuses(24, std::uint32_t{31}), HasSubstr("flags"));
  EXPECT_THAT(refuses(32, std::uint64_t{0}), HasSubstr("bucket count"));
  EXPECT_THAT(refuses(32, std::uint64_t{12}), HasSubstr("bucket count"));
  EXPECT_THAT(refuses(32, ~std::uint64_t{7}), HasSubstr("bucket count"));
  EXPECT_NE(refuses(32, std::uint64_t{8}), "it opened");   // size says otherwise
  EXPECT_NE(refuses(48, std::uint64_t{0}), "it opened");   // log over the header
  EXPECT_NE(refuses(56, std::uint64_t{65}), "it opened");  // log over the table
  EXPECT_NE(refuses(64, std::uint64_t{4096}), "it opened");
  EXPECT_NE(refuses(72, std::uint64_t{1} << 40), "it opened");
}

TEST_F(Format, RefusesTruncatedFiles) {
  const std::size_t size = image_.bytes().size();
  for (const std::size_t left : {std::size_t{0}, std::size_t{64}, std::size_t{4096},
                                 std::size_t{kTable}, size - 64, size - 8})
    EXPECT_NE(refusal(image_.bytes().first(left)), "it opened") << left;
  EXPECT_THAT(refusal(image_.bytes().first(size - 64)), HasSubstr("truncated"));
}

TEST_F(Format, OpensWhenTheFileIsLonger) {
  Image longer(Bytes{image_.bytes().size() + 4096});
  std::ranges::copy(image_.view(), longer.bytes().begin());
  ImageRegion region(longer.bytes());
  const Filter filter = Filter::open(region);
  EXPECT_EQ(filter.size(), 24u);
}

TEST_F(Format, EitherHeaderCopyWillDoAndIsRepaired) {
  const Image whole = image_;
  for (const std::size_t copy : {std::size_t{0}, kCopyB}) {
    for (const std::size_t byte : {0u, 8u, 33u, 88u, 95u}) {
      image_.bytes()[copy + byte] ^= std::byte{1};
      const Image damaged = image_;
      {
        ImageRegion region(image_.bytes(), false);
        const Filter filter = Filter::open(region);
        EXPECT_FALSE(filter.recovery().header_repaired);
        EXPECT_EQ(filter.size(), 24u);
      }
      EXPECT_TRUE(std::ranges::equal(image_.view(), damaged.view())) << "read-only, but changed";
      {
        ImageRegion region(image_.bytes());
        const Filter filter = Filter::open(region);
        EXPECT_TRUE(filter.recovery().header_repaired);
        for (std::uint64_t key = 0; key < 24; ++key) EXPECT_TRUE(filter.contains(key));
      }
      EXPECT_TRUE(std::ranges::equal(image_.view(), whole.view()));
    }
  }
}

TEST_F(Format, RefusesALogRecordOutsideTheTable) {
  set(kLog + 8, Word{7} << 36 | 1);
  set(kLog, Word{1} << 63 | Word{1} << 20);
  EXPECT_NE(refusal(), "it opened");
  set(kLog, Word{1} << 63 | Word{5} << 32);  // slot 5 of 5
  EXPECT_NE(refusal(), "it opened");
  set(kLog, Word{1} << 63 | 3);
  set(kLog + 8, Word{7} << 36 | 16);
  EXPECT_NE(refusal(), "it opened");
}

TEST_F(Format, UndoesALoggedMove) {
  // Key by key: a copy of a resident in a free slot, and the record that says so.
  for (const trials::Resident& r :
       trials::decode({reinterpret_cast<const Word*>(image_.bytes().data() + kTable), 16},
                      info(Layout::k5x12))) {
    Image saved = image_;
    ImageRegion region(image_.bytes());
    std::size_t to = 16;
    for (std::size_t b = 0; b < 16; ++b) {
      Word word;
      std::memcpy(&word, image_.bytes().data() + kTable + 8 * b, 8);
      if ((word >> 12 & 0xFFF) == 0) {
        set(kTable + 8 * b, word | Word{r.fingerprint} << 12);
        to = b;
        break;
      }
    }
    if (to == 16) break;
    set(kLog + 8, Word{r.fingerprint} << 36 | Word{1} << 32 | to);
    set(kLog, Word{1} << 63 | Word{r.slot} << 32 | r.bucket);
    const Filter filter = Filter::open(region);
    EXPECT_EQ(filter.recovery().moves_undone, 1u);
    EXPECT_EQ(filter.size(), 24u);
    EXPECT_TRUE(std::ranges::equal(image_.view().subspan(kTable), saved.view().subspan(kTable)));
    image_ = saved;
  }
}

}  // namespace
}  // namespace weir::anifilter
