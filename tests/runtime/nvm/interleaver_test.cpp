// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <functional>
#include <stdexcept>
#include <thread>
#include <tuple>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "weir/runtime/crash_explorer.hpp"
#include "weir/runtime/error.hpp"

namespace weir {
namespace {

using namespace weir::literals;
using testing::Each;
using testing::ElementsAre;
using Bodies = std::vector<std::function<void()>>;

class RunInterleaved : public testing::Test {
 protected:
  Word* word(std::size_t index) { return reinterpret_cast<Word*>(region.bytes().data()) + index; }

  /// Each of `threads` bodies stores 1, 2, ... `stores` to its own word.
  Bodies writers(std::size_t threads, Word stores) {
    Bodies bodies;
    for (std::size_t t = 0; t < threads; ++t)
      bodies.emplace_back([this, t, stores] {
        for (Word i = 1; i <= stores; ++i) access.store(word(t), i);
      });
    return bodies;
  }

  std::vector<int> threads_in_order() {
    std::vector<int> threads;
    for (const CrashEvent& event : region.recorder()->events()) threads.push_back(event.thread);
    return threads;
  }

  RecordedRegion region{4_KiB};
  RecordingAccess access{region};
};

TEST_F(RunInterleaved, SameSeedSameInterleaving) {
  const auto order = [&](std::uint64_t seed) {
    region.recorder()->restart();
    run_interleaved(region, writers(3, 20), seed);
    return threads_in_order();
  };
  const auto first = order(1);
  EXPECT_EQ(first.size(), 60u);
  for (int repeat = 0; repeat < 5; ++repeat) EXPECT_EQ(order(1), first);
  EXPECT_NE(order(2), first);
}

TEST_F(RunInterleaved, BodiesRecordUnderTheirIndex) {
  run_interleaved(region, writers(4, 10), 1);
  for (const CrashEvent& event : region.recorder()->events())
    EXPECT_EQ(event.index, event.thread);  // body t stores to word t
}

TEST_F(RunInterleaved, OneBodyRunsAtATime) {
  int running = 0;  // no atomic: a second body at the same time is a data race
  std::size_t switches = 0, last = 0;
  Bodies bodies;
  for (std::size_t t = 0; t < 3; ++t)
    bodies.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i) {
        access.load(word(0));
        ASSERT_EQ(++running, 1);
        if (last != t) ++switches;
        last = t;
        --running;
      }
    });
  run_interleaved(region, bodies, 7);
  EXPECT_GT(switches, 10u);
}

TEST_F(RunInterleaved, WithoutSwitchesBodiesRunOneAfterTheOther) {
  run_interleaved(region, writers(2, 3), 1, 0.0);
  const auto order = threads_in_order();
  EXPECT_TRUE(order == std::vector<int>({0, 0, 0, 1, 1, 1}) ||
              order == std::vector<int>({1, 1, 1, 0, 0, 0}));
}

TEST_F(RunInterleaved, AlwaysSwitchingAlternates) {
  run_interleaved(region, writers(2, 3), 1, 1.0);
  const auto order = threads_in_order();
  ASSERT_EQ(order.size(), 6u);
  for (std::size_t i = 1; i < order.size() - 1; ++i) EXPECT_NE(order[i], order[i - 1]);
}

TEST_F(RunInterleaved, PauseLetsTheOthersGoOn) {
  // Body 0 waits for body 1, whoever starts, although accesses do not switch.
  const Bodies bodies = {[&] {
                           while (access.load(word(0)) == 0) access.pause();
                           access.store(word(1), 1);
                         },
                         [&] { access.store(word(0), 1); }};
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    run_interleaved(region, bodies, seed, 0.0);
    EXPECT_EQ(*word(1), 1u);
    *word(0) = *word(1) = 0;
  }
}

TEST_F(RunInterleaved, SpinLockExcludes) {
  int inside = 0;
  Bodies bodies;
  for (int t = 0; t < 3; ++t)
    bodies.emplace_back([&] {
      for (int i = 0; i < 10; ++i) {
        while (!access.cas(word(0), 0, 1)) access.pause();
        ASSERT_EQ(++inside, 1);
        access.store(word(8), access.load(word(8)) + 1);
        --inside;
        access.store(word(0), 0);
      }
    });
  run_interleaved(region, bodies, 3);
  EXPECT_EQ(*word(8), 30u);
}

TEST_F(RunInterleaved, WaitingForNobodyIsAnErrorNotAHang) {
  const Bodies bodies = {[&] {
                           while (access.load(word(0)) == 0) access.pause();
                         },
                         [&] { access.store(word(1), 1); },
                         [&] {
                           while (access.load(word(2)) == 0) access.pause();
                         }};
  EXPECT_THROW(run_interleaved(region, bodies, 1), Error);
}

TEST_F(RunInterleaved, ExceptionIsRethrownAfterAllHaveEnded) {
  Bodies bodies = writers(3, 10);
  bodies[1] = [&] {
    access.store(word(20), 1);
    throw std::runtime_error("body 1");
  };
  EXPECT_THROW(run_interleaved(region, bodies, 1), std::runtime_error);
  EXPECT_EQ(*word(0), 10u);
  EXPECT_EQ(*word(2), 10u);
  EXPECT_NO_THROW(run_interleaved(region, writers(3, 1), 1));
}

TEST_F(RunInterleaved, NothingToRun) {
  run_interleaved(region, {}, 1);
  run_interleaved(region, Bodies{[] {}}, 1);
  EXPECT_TRUE(region.recorder()->events().empty());
}

TEST_F(RunInterleaved, RefusesBadArguments) {
  EXPECT_THROW(run_interleaved(region, writers(1, 1), 1, 1.5), InvalidArgument);
  EXPECT_THROW(run_interleaved(region, writers(1, 1), 1, -0.1), InvalidArgument);
  const Bodies nested = {[&] { run_interleaved(region, writers(1, 1), 1); }};
  EXPECT_THROW(run_interleaved(region, nested, 1), InvalidArgument);
}

TEST_F(RunInterleaved, OtherRegionsAreNoBusinessOfTheBodies) {
  RecordedRegion other(4_KiB);
  const RecordingAccess other_access(other);
  Word* p = reinterpret_cast<Word*>(other.bytes().data());
  Bodies bodies;
  for (int t = 0; t < 2; ++t)
    bodies.emplace_back([&] {
      for (Word i = 1; i <= 5; ++i) other_access.store(p, i);
      other_access.pause();
      access.store(word(0), 1);
    });
  run_interleaved(region, bodies, 1, 1.0);
  EXPECT_EQ(other.recorder()->events().size(), 10u);
  EXPECT_EQ(region.recorder()->events().size(), 2u);
}

TEST_F(RunInterleaved, ThreadsBeforeAndAfterKeepNumbersOfTheirOwn) {
  access.store(word(9), 1);
  run_interleaved(region, writers(2, 1), 1, 0.0);
  access.store(word(9), 2);
  auto order = threads_in_order();
  ASSERT_EQ(order.size(), 4u);
  EXPECT_EQ(order.front(), 0);
  EXPECT_EQ(order.back(), 0);
  EXPECT_THAT(std::vector<int>(order.begin() + 1, order.end() - 1),
              testing::UnorderedElementsAre(1, 2));
}

TEST(CrashRecorderConcurrency, FreeThreadsAreRecordedInTheOrderOfTheirStores) {
  RecordedRegion region(4_KiB);
  const RecordingAccess access(region);
  Word* words = reinterpret_cast<Word*>(region.bytes().data());
  constexpr std::size_t kThreads = 4;
  constexpr Word kIncrements = 200;
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      region.recorder()->begin(t);
      for (Word i = 0; i < kIncrements;) {
        const Word old = access.load(words);
        if (access.cas(words, old, old + 1)) ++i;
        access.pause();
      }
      access.flush(words);
      access.fence();
      region.recorder()->acknowledge(t);
    });
  for (auto& thread : threads) thread.join();
  Word last = 0;
  for (const CrashEvent& event : region.recorder()->events()) {
    EXPECT_LT(event.thread, kThreads);
    if (event.kind != CrashEvent::Kind::store) continue;
    EXPECT_EQ(event.value, last + 1);
    last = event.value;
  }
  EXPECT_EQ(last, kThreads * kIncrements);
  // Each thread's increments are durable when it is done.
  const auto result = CrashExplorer().explore(
      region, [](std::span<std::byte> image, const CrashPoint& point) -> std::string {
        Word done = 0;
        for (const auto state : point.operations)
          if (state == OperationState::acknowledged) done += kIncrements;
        return *reinterpret_cast<const Word*>(image.data()) < done ? "lost" : "";
      });
  EXPECT_EQ(result.failures, 0u) << result.first_failure;
}

}  // namespace
}  // namespace weir
