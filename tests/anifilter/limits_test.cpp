// SPDX-License-Identifier: Apache-2.0
// The edges of a filter: full, too many copies, nothing there.
#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "weir/anifilter/filter.hpp"
#include "weir/runtime/error.hpp"
#include "weir/runtime/rng.hpp"

namespace weir::anifilter {
namespace {

class Limits : public testing::TestWithParam<std::tuple<Layout, Consistency>> {
 protected:
  Filter make(std::uint64_t buckets) {
    Options options;
    options.layout = std::get<0>(GetParam());
    options.consistency = std::get<1>(GetParam());
    options.buckets = buckets;
    return Filter::create(make_memory_region(Filter::region_size(options)), options);
  }
  static std::vector<Word> words_of(const Filter& filter) {
    return {filter.words().begin(), filter.words().end()};
  }
};

TEST_P(Limits, FullChangesNothingAndIsNotFinal) {
  Filter filter = make(128);
  std::uint64_t key = 0;
  while (filter.insert(key) == InsertResult::inserted) ++key;
  const std::vector<Word> before = words_of(filter);
  const std::uint64_t size = filter.size();
  std::uint64_t refused = 0;
  for (std::uint64_t other = 1'000'000; other < 1'000'050; ++other) {
    const std::vector<Word> now = words_of(filter);
    if (filter.insert(other) != InsertResult::full) continue;
    ++refused;
    EXPECT_EQ(words_of(filter), now);
  }
  EXPECT_GT(refused, 0u);
  EXPECT_GE(filter.size(), size);
  for (std::uint64_t k = 0; k < key; ++k) ASSERT_TRUE(filter.contains(k));
  for (std::uint64_t k = 0; k < key / 2; ++k) ASSERT_TRUE(filter.erase(k));
  EXPECT_EQ(filter.insert(key), InsertResult::inserted);
  EXPECT_TRUE(filter.verify().ok());
}

TEST_P(Limits, AKeyFitsInAsOftenAsItsBucketsHold) {
  Filter filter = make(64);
  const unsigned slots = info(filter.options().layout).slots;
  for (unsigned i = 0; i < 2 * (slots + 1); ++i)
    ASSERT_EQ(filter.insert(std::uint64_t{7}), InsertResult::inserted) << i;
  const std::vector<Word> before = words_of(filter);
  EXPECT_EQ(filter.insert(std::uint64_t{7}), InsertResult::too_many_copies);
  const std::uint64_t keys[] = {7, 7};
  InsertResult results[2];
  EXPECT_EQ(filter.insert(keys, results), 0u);
  EXPECT_EQ(results[1], InsertResult::too_many_copies);
  EXPECT_EQ(words_of(filter), before);
  EXPECT_EQ(filter.size(), 2 * (slots + 1));
  for (unsigned i = 0; i < 2 * (slots + 1); ++i) {
    EXPECT_TRUE(filter.contains(std::uint64_t{7}));
    EXPECT_TRUE(filter.erase(std::uint64_t{7}));
  }
  EXPECT_FALSE(filter.contains(std::uint64_t{7}));
  EXPECT_FALSE(filter.erase(std::uint64_t{7}));
  EXPECT_EQ(filter.size(), 0u);
}

TEST_P(Limits, ErasingWhatIsNotThereIsFalseAndChangesNothing) {
  Filter filter = make(64);
  EXPECT_FALSE(filter.erase(std::uint64_t{1}));
  for (std::uint64_t key = 0; key < 100; ++key)
    ASSERT_EQ(filter.insert(key), InsertResult::inserted);
  const std::vector<Word> before = words_of(filter);
  for (std::uint64_t key = 1000; key < 3000; ++key)
    if (!filter.contains(key)) {
      EXPECT_FALSE(filter.erase(key));
    }
  EXPECT_EQ(words_of(filter), before);
  EXPECT_EQ(filter.size(), 100u);
}

TEST_P(Limits, EmptyBatchesAndOnesOfAnyLengthWork) {
  Filter filter = make(512);
  EXPECT_EQ(filter.insert(std::span<const std::uint64_t>{}, {}), 0u);
  EXPECT_EQ(filter.contains(std::span<const std::uint64_t>{}, {}), 0u);
  EXPECT_EQ(filter.erase(std::span<const std::uint64_t>{}, {}), 0u);
  Rng rng(3);
  for (const std::size_t n : {1, 2, 31, 32, 33, 63, 64, 65, 127, 129, 257}) {
    std::vector<std::uint64_t> keys(n);
    std::ranges::generate(keys, [&] { return rng(); });
    std::vector<InsertResult> inserted(n);
    const auto flags = std::make_unique<bool[]>(n);
    EXPECT_EQ(filter.insert(keys, inserted), n);
    EXPECT_EQ(filter.size(), n);
    EXPECT_EQ(filter.contains(keys, {flags.get(), n}), n);
    EXPECT_EQ(filter.erase(keys, {flags.get(), n}), n);
    EXPECT_EQ(filter.size(), 0u);
  }
}

TEST_P(Limits, SpansMustBeAsLong) {
  Filter filter = make(64);
  const std::uint64_t keys[] = {1, 2, 3};
  InsertResult inserted[2];
  bool flags[4];
  EXPECT_THROW(static_cast<void>(filter.insert(keys, inserted)), InvalidArgument);
  EXPECT_THROW(static_cast<void>(filter.contains(keys, flags)), InvalidArgument);
  EXPECT_THROW(static_cast<void>(filter.erase(keys, flags)), InvalidArgument);
  EXPECT_EQ(filter.size(), 0u);
}

INSTANTIATE_TEST_SUITE_P(
    Every, Limits,
    testing::Combine(testing::Values(Layout::k7x8, Layout::k6x10, Layout::k5x12, Layout::k4x15,
                                     Layout::k3x20),
                     testing::Values(Consistency::relaxed, Consistency::strict)),
    [](const auto& param) {
      return std::string("Of") + std::string(anifilter::info(std::get<0>(param.param)).name) +
             (std::get<1>(param.param) == Consistency::strict ? "Strict" : "Relaxed");
    });

}  // namespace
}  // namespace weir::anifilter
