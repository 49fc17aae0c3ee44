// SPDX-License-Identifier: Apache-2.0
// The rival is honest when it costs what the published algorithm costs: lines and words of an
// independent simulation at 2^20 slots and 500 kicks, within 5 %.
#include <cstdint>

#include <gtest/gtest.h>

#include "weir/runtime/rng.hpp"

#include "baselines/cuckoo_filter.hpp"

namespace weir::bench::cuckoo {
namespace {

constexpr std::uint64_t kBuckets = std::uint64_t{1} << 18;

struct PerOperation {
  double lines;
  double words;
};

PerOperation per_operation(const AccessCounts& counts) {
  const auto operations = static_cast<double>(counts.operations);
  return {static_cast<double>(counts.lines_read) / operations,
          static_cast<double>(counts.words_written) / operations};
}

template <class Filter>
struct Counted {
  Counted()
      : region(make_counting_region(Filter::region_size(kBuckets))), filter(*region, {kBuckets}) {}

  void fill_to(double load) {
    while (filter.load_factor() < load) ASSERT_TRUE(filter.insert(splitmix64(next++)));
  }
  template <class Body>
  PerOperation count(Body&& body) {
    region->counter()->reset();
    body();
    return per_operation(region->counter()->total());
  }

  std::unique_ptr<PersistentRegion> region;
  Filter filter;
  std::uint64_t next = 0;
};

void expect_within_5_percent(double value, double expected) {
  EXPECT_NEAR(value / expected, 1, 0.05) << value << " for " << expected;
}

TEST(CuckooCosts, ArePublishedOnes) {
  Counted<PublishedCuckoo<CountingAccess>> counted;
  counted.fill_to(0.925);
  const auto insert = counted.count([&] { counted.fill_to(0.95); });
  expect_within_5_percent(insert.lines, 17.1);
  expect_within_5_percent(insert.words, 16.4);

  constexpr std::uint64_t kLookups = 400'000;
  const auto negative = counted.count([&] {
    for (std::uint64_t i = 0; i < kLookups; ++i)
      (void)counted.filter.contains(splitmix64(i + (std::uint64_t{1} << 40)));
  });
  expect_within_5_percent(negative.lines, 2.00);
  EXPECT_EQ(negative.words, 0);
  const auto positive = counted.count([&] {
    for (std::uint64_t i = 0; i < kLookups; ++i)
      ASSERT_TRUE(counted.filter.contains(splitmix64(i * 2)));
  });
  expect_within_5_percent(positive.lines, 1.43);
}

TEST(CuckooCosts, OfTheCrashSafeWalkAreTheSame) {
  Counted<CrashSafeCuckoo<CountingAccess>> counted;
  counted.fill_to(0.925);
  const auto insert = counted.count([&] { counted.fill_to(0.95); });
  expect_within_5_percent(insert.lines, 17.1);
  expect_within_5_percent(insert.words, 16.4);
}

TEST(CuckooCosts, OfTheLookaheadVariantAreFarLower) {
  Counted<LookaheadCuckoo<CountingAccess>> counted;
  counted.fill_to(0.925);
  const auto insert = counted.count([&] { counted.fill_to(0.95); });
  EXPECT_LT(insert.lines, 6);
  EXPECT_LT(insert.words, 3);
}

TEST(CuckooCosts, EveryStoreIsFlushedAndFenced) {
  Counted<PublishedCuckoo<CountingAccess>> counted;
  counted.region->counter()->reset();
  counted.fill_to(0.9);
  const AccessCounts counts = counted.region->counter()->total();
  EXPECT_EQ(counts.flushes, counts.words_written);
  EXPECT_EQ(counts.fences, counts.words_written);
}

}  // namespace
}  // namespace weir::bench::cuckoo
