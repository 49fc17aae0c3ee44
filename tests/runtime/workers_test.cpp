// SPDX-License-Identifier: Apache-2.0
#include "weir/runtime/workers.hpp"

#include <atomic>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <sched.h>

#include "weir/runtime/error.hpp"

namespace {

using weir::Workers;

TEST(Workers, ZeroIsRefused) { EXPECT_THROW(Workers(0), weir::InvalidArgument); }

TEST(Workers, OneRunsOnTheCaller) {
  Workers workers(1);
  std::thread::id seen;
  workers.run([&](std::size_t) { seen = std::this_thread::get_id(); });
  EXPECT_EQ(seen, std::this_thread::get_id());
  EXPECT_EQ(workers.count(), 1u);
}

TEST(Workers, EachWorkerRunsOnceAndWorkerZeroIsTheCaller) {
  Workers workers(4);
  std::vector<std::thread::id> threads(4);
  std::vector<int> calls(4);  // one slot a worker: a second call of one would be a race
  workers.run([&](std::size_t worker) {
    threads[worker] = std::this_thread::get_id();
    ++calls[worker];
  });
  EXPECT_EQ(calls, std::vector<int>(4, 1));
  EXPECT_EQ(threads[0], std::this_thread::get_id());
  for (std::size_t i = 1; i < 4; ++i) EXPECT_NE(threads[i], threads[i - 1]);
}

TEST(Workers, ThreadsPersistAndSeeWritesOfEarlierRuns) {
  Workers workers(3);
  std::vector<std::thread::id> first(3), second(3);
  std::vector<std::size_t> values(3);
  workers.run([&](std::size_t worker) { first[worker] = std::this_thread::get_id(); });
  for (std::size_t round = 0; round < 2000; ++round) {
    workers.run([&](std::size_t worker) { values[(worker + round) % 3] += worker + 1; });
  }
  workers.run([&](std::size_t worker) { second[worker] = std::this_thread::get_id(); });
  EXPECT_EQ(first, second);
  EXPECT_EQ(std::accumulate(values.begin(), values.end(), std::size_t{0}), 2000u * 6);
}

TEST(Workers, RethrowsTheExceptionOfTheLowestWorkerAfterAllFinished) {
  Workers workers(4);
  std::atomic<int> finished = 0;
  try {
    workers.run([&](std::size_t worker) {
      ++finished;
      if (worker >= 2) throw std::runtime_error("worker " + std::to_string(worker));
    });
    FAIL() << "did not throw";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "worker 2");
  }
  EXPECT_EQ(finished, 4);
}

TEST(Workers, RunsAgainAfterAnException) {
  Workers workers(2);
  EXPECT_THROW(workers.run([](std::size_t) { throw std::logic_error("x"); }), std::logic_error);
  std::atomic<int> calls = 0;
  EXPECT_NO_THROW(workers.run([&](std::size_t) { ++calls; }));
  EXPECT_EQ(calls, 2);
}

TEST(Workers, NestedRunIsRefusedNotDeadlocked) {
  Workers workers(2);
  EXPECT_THROW(workers.run([&](std::size_t) { workers.run([](std::size_t) {}); }),
               weir::InvalidArgument);
}

TEST(Workers, RangesCoverEverythingOnceAndAreAlmostEqual) {
  for (const std::size_t count : {1, 2, 3, 7}) {
    Workers workers(count);
    for (const std::size_t n : {0, 1, 2, 6, 7, 8, 1000}) {
      std::vector<int> hits(n);
      std::vector<std::size_t> length(count);
      workers.for_ranges(n, [&](std::size_t begin, std::size_t end, std::size_t worker) {
        EXPECT_LT(begin, end);
        length[worker] = end - begin;
        for (std::size_t i = begin; i < end; ++i) ++hits[i];
      });
      EXPECT_EQ(hits, std::vector<int>(n, 1)) << n << " over " << count;
      for (const std::size_t l : length) {
        EXPECT_TRUE(l == n / count || l == n / count + 1) << l << " of " << n << " over " << count;
      }
    }
  }
}

TEST(Workers, RangesRethrow) {
  Workers workers(2);
  EXPECT_THROW(workers.for_ranges(
                   10, [](std::size_t, std::size_t, std::size_t) { throw std::logic_error("x"); }),
               std::logic_error);
}

TEST(Workers, StartsAndStopsWithoutWork) {
  for (int i = 0; i < 20; ++i) Workers workers(3);
}

TEST(HardwareThreads, CountsTheProcessorsOfThisProcess) {
  EXPECT_GE(weir::hardware_threads(), 1u);
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) {
    GTEST_SKIP() << "more processors than cpu_set_t holds";
  }
  EXPECT_EQ(weir::hardware_threads(), static_cast<std::size_t>(CPU_COUNT(&allowed)));
}

}  // namespace
