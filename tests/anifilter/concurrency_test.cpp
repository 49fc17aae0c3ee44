// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "weir/anifilter/filter.hpp"
#include "weir/runtime/workers.hpp"

#include "anifilter/trials_concurrent.hpp"
#include "anifilter/trials_races.hpp"

namespace weir::anifilter {
namespace {

class FilterConcurrency : public testing::TestWithParam<std::tuple<Layout, Consistency>> {};

TEST_P(FilterConcurrency, LookupsMissNothingBesideEvictionsAndErases) {
  trials::ConcurrentOptions options;
  options.layout = std::get<0>(GetParam());
  options.consistency = std::get<1>(GetParam());
  options.operations = 60'000;
  options.buckets = 128;
  options.most_load = 0.95;
  const trials::ConcurrentResult result = run_concurrent_trial(options);
  EXPECT_EQ(result.problem, "");
  EXPECT_EQ(result.false_negatives, 0u);
  EXPECT_GT(result.moved_back, 0u) << "the trial did not try what it is for";
}

INSTANTIATE_TEST_SUITE_P(
    Every, FilterConcurrency,
    testing::Combine(testing::Values(Layout::k7x8, Layout::k5x12, Layout::k3x20),
                     testing::Values(Consistency::relaxed, Consistency::strict)),
    [](const auto& param) {
      return std::string("Of") + std::string(anifilter::info(std::get<0>(param.param)).name) +
             (std::get<1>(param.param) == Consistency::strict ? "Strict" : "Relaxed");
    });

// Without the version check of a lookup it takes some hundred runs to miss a key, with its reads in
// the wrong order some thousand.
TEST(FilterConcurrency, LookupsMissNothingAtAnyInterleavingWithAMove) {
  const trials::RaceResult result = trials::run_lookup_races(4000, 1);
  EXPECT_EQ(result.problem, "");
  EXPECT_EQ(result.false_negatives, 0u);
  EXPECT_GT(result.moves, 500u);
  EXPECT_GT(result.moves_to_prime, 100u);
}

TEST(FilterConcurrency, MoreThreadsThanLogRecords) {
  Options options;
  options.buckets = 256;
  options.consistency = Consistency::strict;
  Filter filter = Filter::create(make_memory_region(Filter::region_size(options)), options);
  constexpr std::uint64_t kThreads = 80;
  const std::uint64_t each = filter.slots() * 96 / 100 / kThreads;
  std::vector<std::thread> threads;
  std::atomic<std::uint64_t> inserted{0};
  std::atomic<std::uint64_t> arrived{0};
  for (std::uint64_t t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      // All at once, so that all are there at the same time.
      ++arrived;
      while (arrived < kThreads) std::this_thread::yield();
      for (std::uint64_t i = 0; i < each; ++i)
        inserted += filter.insert(t * each + i) == InsertResult::inserted;
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(inserted, kThreads * each);
  EXPECT_EQ(filter.size(), kThreads * each);
  for (std::uint64_t key = 0; key < kThreads * each; ++key) ASSERT_TRUE(filter.contains(key));
  const VerifyReport report = filter.verify();
  EXPECT_TRUE(report.ok()) << report.problems.front();
}

TEST(FilterConcurrency, TheSameKeyFromAllSides) {
  // One group of fingerprints: every thread inserts and erases it, nobody may erase another's.
  Options options;
  options.buckets = 8;
  Filter filter = Filter::create(make_memory_region(Filter::region_size(options)), options);
  Workers workers(4);
  workers.run([&](std::size_t) {
    for (int i = 0; i < 2000; ++i) {
      if (filter.insert(std::uint64_t{99}) != InsertResult::inserted) continue;
      EXPECT_TRUE(filter.erase(std::uint64_t{99}));
    }
  });
  EXPECT_EQ(filter.size(), 0u);
  EXPECT_FALSE(filter.contains(std::uint64_t{99}));
  EXPECT_TRUE(filter.verify().ok());
}

TEST(FilterConcurrency, SizeAndStatsBesideWriters) {
  Options options;
  options.buckets = 512;
  Filter filter = Filter::create(make_memory_region(Filter::region_size(options)), options);
  std::atomic<bool> done{false};
  std::thread reader([&] {
    while (!done) {
      EXPECT_LE(filter.size(), filter.slots());
      EXPECT_LE(filter.stats().size, filter.slots());
      EXPECT_LT(filter.expected_fpr(), 0.01);
    }
  });
  for (std::uint64_t key = 0; key < 2000; ++key) static_cast<void>(filter.insert(key));
  for (std::uint64_t key = 0; key < 1000; ++key) static_cast<void>(filter.erase(key));
  done = true;
  reader.join();
  EXPECT_EQ(filter.size(), 1000u);
}

}  // namespace
}  // namespace weir::anifilter
