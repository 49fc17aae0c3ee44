// SPDX-License-Identifier: Apache-2.0
#include "weir/runtime/persistent_access.hpp"

#include <algorithm>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "weir/runtime/cpu.hpp"
#include "weir/runtime/error.hpp"

namespace weir {
namespace {

using namespace weir::literals;
using testing::ElementsAre;
using testing::Pair;

// --- counting: every figure is counted by hand from the sequence above it
// --------------------------

class CountingAccessTest : public testing::Test {
 protected:
  Word* word(std::size_t line, std::size_t index = 0) {
    return reinterpret_cast<Word*>(region->bytes().data()) + line * kWordsPerLine + index;
  }
  AccessCounts total() const { return region->counter()->total(); }
  static void expect(const AccessCounts& counts, const std::vector<std::uint64_t>& expected) {
    EXPECT_EQ((std::vector<std::uint64_t>{counts.operations, counts.lines_read,
                                          counts.lines_written, counts.blocks, counts.words_written,
                                          counts.flushes, counts.fences}),
              expected);
  }

  std::unique_ptr<PersistentRegion> region = make_counting_region(64_KiB);
  CountingAccess access{*region};
};

TEST_F(CountingAccessTest, CountsDistinctLinesOfOneOperation) {
  {
    OperationScope scope(access);
    access.prefetch(word(0));
    access.load(word(0, 1));   // line 0 once
    access.load(word(3));      // line 3, same 256-byte block
    access.load(word(4));      // line 4, second block
    access.store(word(4), 1);  // line 4 also written
    access.store(word(4, 7), 2);
    access.flush(word(4));
    access.fence();
  }
  expect(total(), {1, 3, 1, 2, 2, 1, 1});
}

TEST_F(CountingAccessTest, OperationsShareNothing) {
  for (int i = 0; i < 3; ++i) {
    OperationScope scope(access);
    access.load(word(0));
    access.store(word(0), 1);
  }
  expect(total(), {3, 3, 3, 3, 3, 0, 0});
}

TEST_F(CountingAccessTest, InnerScopesBelongToTheOuterOperation) {
  {
    OperationScope batch(access);
    for (int i = 0; i < 3; ++i) {
      OperationScope scope(access);
      access.load(word(0));
    }
  }
  expect(total(), {1, 1, 0, 1, 0, 0, 0});
}

TEST_F(CountingAccessTest, CompareAndSwapReadsAndWritesIfItSwaps) {
  {
    OperationScope scope(access);
    EXPECT_FALSE(access.cas(word(0), 5, 6));
    EXPECT_TRUE(access.cas(word(8), 0, 6));
  }
  expect(total(), {1, 2, 1, 2, 1, 0, 0});
  EXPECT_EQ(access.load(word(8)), 6u);
}

TEST_F(CountingAccessTest, AccessesOutsideOperationsShareNothing) {
  access.load(word(0));
  access.load(word(0));
  access.store(word(0), 1);
  expect(total(), {0, 2, 1, 3, 1, 0, 0});
}

TEST_F(CountingAccessTest, ManyLinesInOneOperation) {
  {
    OperationScope scope(access);
    for (int round = 0; round < 2; ++round)
      for (std::size_t line = 0; line < 1024; ++line) access.load(word(line));
  }
  expect(total(), {1, 1024, 0, 256, 0, 0, 0});
}

TEST_F(CountingAccessTest, ThreadsAreSummedAlsoAfterTheyEnd) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t)
    threads.emplace_back([&] {
      const CountingAccess mine(*region);
      for (int i = 0; i < 100; ++i) {
        OperationScope scope(mine);
        mine.load(word(0));
        mine.fence();
      }
    });
  for (auto& thread : threads) thread.join();
  expect(total(), {300, 300, 0, 300, 0, 0, 300});
}

TEST_F(CountingAccessTest, DifferenceAndReset) {
  access.flush(word(0));
  const AccessCounts before = total();
  access.fence();
  expect(total() - before, {0, 0, 0, 0, 0, 0, 1});
  AccessCounts twice = total();
  twice += twice;
  expect(twice, {0, 0, 0, 0, 0, 2, 2});
  region->counter()->reset();
  expect(total(), {0, 0, 0, 0, 0, 0, 0});
}

TEST_F(CountingAccessTest, CountersDoNotMix) {
  const auto other = make_counting_region(4_KiB);
  const CountingAccess second(*other);
  access.fence();
  second.fence();
  second.fence();
  access.fence();
  access.fence();
  expect(total(), {0, 0, 0, 0, 0, 0, 3});
  expect(other->counter()->total(), {0, 0, 0, 0, 0, 0, 2});
}

TEST(PersistentAccess, RefusesRegionsWithoutItsInstrument) {
  const auto memory = make_memory_region(4_KiB);
  EXPECT_THROW(CountingAccess{*memory}, InvalidArgument);
  EXPECT_THROW(RecordingAccess{*memory}, InvalidArgument);
}

// --- native
// ----------------------------------------------------------------------------------------

TEST(NativeAccess, EveryFlushInstructionOfTheProcessorRuns) {
  std::vector<FlushInstruction> instructions{FlushInstruction::none, FlushInstruction::clflush};
  if (cpu_features().clflushopt) instructions.push_back(FlushInstruction::clflushopt);
  if (cpu_features().clwb) instructions.push_back(FlushInstruction::clwb);
  for (const FlushInstruction instruction : instructions) {
    const auto region = make_memory_region(4_KiB, instruction);
    const NativeAccess access(*region);
    Word* p = reinterpret_cast<Word*>(region->bytes().data()) + 9;
    access.store(p, 5);
    access.flush(p);
    access.fence();
    EXPECT_TRUE(access.cas(p, 5, 6));
    EXPECT_FALSE(access.cas(p, 5, 7));
    EXPECT_EQ(access.load(p), 6u);
  }
}

/// What a user's own region looks like to a fence: remembers what was synced.
class SyncedRegion final : public PersistentRegion {
 public:
  explicit SyncedRegion(Bytes size) : memory_(make_memory_region(size)) {}
  std::span<std::byte> bytes() noexcept override { return memory_->bytes(); }
  Durability durability() const noexcept override { return Durability::power_fail_msync; }
  FlushInstruction flush_instruction() const noexcept override { return FlushInstruction::msync; }
  std::string name() const override { return "synced"; }
  void sync(std::span<const std::byte> range) override {
    if (failing) throw IoError("the disk is broken");
    synced.emplace_back(range.data() - bytes().data(), range.size());
  }

  std::vector<std::pair<std::ptrdiff_t, std::size_t>> synced;
  bool failing = false;

 private:
  std::unique_ptr<PersistentRegion> memory_;
};

class SyncQueue : public testing::Test {
 protected:
  void flush(std::size_t offset) { access.flush(region.bytes().data() + offset); }

  SyncedRegion region{Bytes{10 * 4096 + 100}};
  NativeAccess access{region};
};

TEST_F(SyncQueue, FenceSyncsOnceFromTheFirstPageToTheLast) {
  for (const std::size_t page : {5, 1, 2, 1, 1, 7, 6}) flush(page * 4096 + 64);
  EXPECT_TRUE(region.synced.empty());
  access.fence();
  EXPECT_THAT(region.synced, ElementsAre(Pair(4096, 7 * 4096)));
  access.fence();
  EXPECT_EQ(region.synced.size(), 1u);
}

TEST_F(SyncQueue, LastPageEndsWithTheRegion) {
  flush(10 * 4096 + 99);
  access.fence();
  EXPECT_THAT(region.synced, ElementsAre(Pair(10 * 4096, 100)));
}

TEST_F(SyncQueue, ThreadsSyncWhatTheyFlushed) {
  flush(0);
  std::thread([&] {
    flush(4096);
    access.fence();
  }).join();
  EXPECT_THAT(region.synced, ElementsAre(Pair(4096, 4096)));
  access.fence();
  EXPECT_THAT(region.synced, ElementsAre(Pair(4096, 4096), Pair(0, 4096)));
}

TEST_F(SyncQueue, FailedFenceIsRepeatedByTheNext) {
  flush(0);
  region.failing = true;
  EXPECT_THROW(access.fence(), IoError);
  region.failing = false;
  access.fence();
  EXPECT_THAT(region.synced, ElementsAre(Pair(0, 4096)));
}

TEST_F(SyncQueue, FlushOutsideTheRegionIsRefused) {
  Word outside = 0;
  EXPECT_THROW(access.flush(&outside), InvalidArgument);
}

TEST_F(SyncQueue, RegionsComeAndGo) {
  for (int i = 0; i < 100; ++i) {
    SyncedRegion shortlived(4_KiB);
    const NativeAccess mine(shortlived);
    mine.flush(shortlived.bytes().data());  // never fenced
  }
  SyncedRegion next(4_KiB);
  const NativeAccess mine(next);
  mine.fence();
  EXPECT_TRUE(next.synced.empty());
}

}  // namespace
}  // namespace weir
