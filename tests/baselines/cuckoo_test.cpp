// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "weir/runtime/cpu.hpp"
#include "weir/runtime/rng.hpp"

#include "baselines/cuckoo_filter.hpp"

namespace weir::bench::cuckoo {
namespace {

std::uint64_t key(std::uint64_t i) { return splitmix64(i); }
std::uint64_t absent_key(std::uint64_t i) { return splitmix64(i + (std::uint64_t{1} << 40)); }

template <class Filter>
class Cuckoo : public testing::Test {
 protected:
  static constexpr std::uint64_t kBuckets = 1 << 12;
  static constexpr std::uint64_t kKeys = kBuckets * kSlots * 95 / 100;

  Filter& make(unsigned max_kicks = 10'000) {
    region_ = make_memory_region(Filter::region_size(kBuckets), FlushInstruction::none, false);
    filter_ = std::make_unique<Filter>(*region_, Settings{kBuckets, max_kicks, 1});
    return *filter_;
  }

  std::unique_ptr<PersistentRegion> region_;
  std::unique_ptr<Filter> filter_;
};

using Filters =
    testing::Types<PublishedCuckoo<FlushFreeAccess>, PublishedCuckoo<NativeAccess>, PackedCuckoo,
                   CrashSafeCuckoo<FlushFreeAccess>, LookaheadCuckoo<FlushFreeAccess>>;
struct FilterNames {
  template <class T>
  static std::string GetName(int i) {
    constexpr const char* kNames[] = {"published",   "published_native", "packed",
                                      "interleaved", "crash_safe",       "lookahead"};
    return kNames[i];
  }
};
TYPED_TEST_SUITE(Cuckoo, Filters, FilterNames);

TYPED_TEST(Cuckoo, FindsEveryKeyItHolds) {
  auto& filter = this->make();
  for (std::uint64_t i = 0; i < this->kKeys; ++i) {
    ASSERT_TRUE(filter.insert(key(i))) << i;
    if (i % 4096 != 0) continue;
    for (std::uint64_t j = 0; j <= i; ++j) ASSERT_TRUE(filter.contains(key(j)));
  }
  for (std::uint64_t i = 0; i < this->kKeys; ++i) ASSERT_TRUE(filter.contains(key(i))) << i;
  EXPECT_EQ(filter.size(), this->kKeys);
}

TYPED_TEST(Cuckoo, BatchesFindEveryKeyAndAgreeWithSingleLookups) {
  auto& filter = this->make();
  std::vector<std::uint64_t> keys;
  for (std::uint64_t i = 0; i < this->kKeys; ++i) keys.push_back(key(i));
  // Lengths around the block size, then all the rest.
  std::size_t done = 0;
  for (const std::size_t length : {0, 1, 31, 32, 33, 63, 64, 65, 127, 128, 1000}) {
    ASSERT_EQ(filter.insert(std::span(keys).subspan(done, length)), length);
    done += length;
  }
  ASSERT_EQ(filter.insert(std::span(keys).subspan(done)), keys.size() - done);

  for (const Isa isa : {Isa::baseline, detected_isa()}) {
    const ScopedIsa scope(isa);
    TypeParam reader(*this->region_, Settings{this->kBuckets, 10'000, 1});
    const std::unique_ptr<bool[]> results(new bool[keys.size()]);
    for (const std::size_t length : {0, 1, 31, 32, 33, 64, 65, 96, 1000, 4096}) {
      EXPECT_EQ(reader.contains(std::span(keys).first(length), std::span(results.get(), length)),
                length);
      std::vector<std::uint64_t> others;
      for (std::uint64_t i = 0; i < length; ++i) others.push_back(absent_key(i));
      std::size_t expected = 0;
      for (const std::uint64_t other : others) expected += reader.contains(other);
      EXPECT_EQ(reader.contains(others, std::span(results.get(), length)), expected);
      for (std::size_t i = 0; i < length; ++i)
        ASSERT_EQ(results[i], reader.contains(others[i])) << i;
    }
  }
}

TYPED_TEST(Cuckoo, LosesNothingWhenItIsFull) {
  auto& filter = this->make(500);
  std::uint64_t inserted = 0;
  while (inserted < filter.slots() && filter.insert(key(inserted))) ++inserted;
  EXPECT_LT(inserted, filter.slots());
  EXPECT_GT(filter.load_factor(), 0.94);
  EXPECT_EQ(filter.size(), inserted);
  std::vector<std::uint64_t> keys;
  for (std::uint64_t i = 0; i < inserted; ++i) {
    ASSERT_TRUE(filter.contains(key(i))) << i;
    keys.push_back(key(i));
  }
  const std::unique_ptr<bool[]> results(new bool[keys.size()]);
  EXPECT_EQ(filter.contains(keys, std::span(results.get(), keys.size())), inserted);
}

TYPED_TEST(Cuckoo, BatchesLoseNothingWhenItIsFull) {
  auto& filter = this->make(500);
  std::vector<std::uint64_t> keys;
  for (std::uint64_t i = 0; i < filter.slots(); ++i) keys.push_back(key(i));
  const std::size_t inserted = filter.insert(keys);
  EXPECT_LT(inserted, filter.slots());
  EXPECT_GT(filter.load_factor(), 0.94);
  keys.resize(inserted);
  const std::unique_ptr<bool[]> results(new bool[keys.size()]);
  EXPECT_EQ(filter.contains(keys, std::span(results.get(), keys.size())), inserted);
  for (const std::uint64_t k : keys) ASSERT_TRUE(filter.contains(k));
}

TYPED_TEST(Cuckoo, GoesOnWithATableThatIsThere) {
  auto& filter = this->make();
  const std::uint64_t half = this->kKeys / 2;
  for (std::uint64_t i = 0; i < half; ++i) ASSERT_TRUE(filter.insert(key(i)));
  TypeParam other(*this->region_, {this->kBuckets, 10'000, 1, true});
  EXPECT_EQ(other.size(), half);
  for (std::uint64_t i = half; i < this->kKeys; ++i) ASSERT_TRUE(other.insert(key(i)));
  for (std::uint64_t i = 0; i < this->kKeys; ++i) ASSERT_TRUE(other.contains(key(i)));
}

TYPED_TEST(Cuckoo, IsWrongAboutOtherKeysAsOftenAsTheorySays) {
  auto& filter = this->make();
  for (std::uint64_t i = 0; i < this->kKeys; ++i) filter.insert(key(i));
  constexpr std::uint64_t kLookups = 4'000'000;
  std::vector<std::uint64_t> keys(1000);
  const std::unique_ptr<bool[]> results(new bool[keys.size()]);
  std::uint64_t found = 0;
  for (std::uint64_t i = 0; i < kLookups; i += keys.size()) {
    for (std::size_t j = 0; j < keys.size(); ++j) keys[j] = absent_key(i + j);
    found += filter.contains(keys, std::span(results.get(), keys.size()));
  }
  // Both buckets hold load x 4 tags each.
  const double compared = 2 * filter.load_factor() * kSlots;
  const double theory = 1 - std::pow(1 - 1.0 / kTagMask, compared);
  EXPECT_NEAR(static_cast<double>(found) / kLookups / theory, 1, 0.05);
}

TEST(CuckooFilter, RefusesSizesThatThePublishedHashCannotUse) {
  const auto region = make_memory_region(Bytes{1 << 20}, FlushInstruction::none, false);
  using Filter = PublishedCuckoo<FlushFreeAccess>;
  EXPECT_THROW(Filter(*region, {.buckets = 1000}), InvalidArgument);
  EXPECT_THROW(Filter(*region, {.buckets = 0}), InvalidArgument);
  EXPECT_THROW(Filter(*region, {.buckets = 1 << 20}), InvalidArgument);
}

}  // namespace
}  // namespace weir::bench::cuckoo
