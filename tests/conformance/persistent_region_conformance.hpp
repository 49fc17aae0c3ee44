// SPDX-License-Identifier: Apache-2.0
// What every PersistentRegion must do. For a new kind of region, describe it in a struct
//
//   struct MyRegionCase {
//     static std::string skip();   // "" or why this machine cannot run it
//     std::unique_ptr<PersistentRegion> create(Bytes size);
//     std::unique_ptr<PersistentRegion> open(bool writable);  // what create() made; files only
//   };
//
// and instantiate: INSTANTIATE_TYPED_TEST_SUITE_P(MyRegion, PersistentRegionConformance,
// MyRegionCase); if it outlives the process, PersistentFileConformance too.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "weir/runtime/crash_explorer.hpp"
#include "weir/runtime/error.hpp"
#include "weir/runtime/persistent_access.hpp"
#include "weir/runtime/persistent_region.hpp"

namespace weir::test {

template <class Case>
class PersistentRegionConformance : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string reason = Case::skip(); !reason.empty()) GTEST_SKIP() << reason;
  }

  /// A store that every policy agrees on: through the region's own access, then durable.
  static void put(PersistentRegion& region, std::size_t index, Word value) {
    Word* p = reinterpret_cast<Word*>(region.bytes().data()) + index;
    const auto write = [&](const auto& access) {
      access.store(p, value);
      access.flush(p);
      access.fence();
    };
    if (region.recorder() != nullptr)
      write(RecordingAccess(region));
    else if (region.counter() != nullptr)
      write(CountingAccess(region));
    else
      write(NativeAccess(region));
  }

  static Word get(PersistentRegion& region, std::size_t index) {
    return reinterpret_cast<const Word*>(region.bytes().data())[index];
  }

  Case region_case;
};

TYPED_TEST_SUITE_P(PersistentRegionConformance);

TYPED_TEST_P(PersistentRegionConformance, HasExactlyTheSizeAskedFor) {
  for (const std::uint64_t size : {1ul, 8ul, 4096ul, 4097ul, 100'000ul, (2ul << 20) + 8}) {
    TypeParam fresh;
    EXPECT_EQ(fresh.create(Bytes{size})->bytes().size(), size);
  }
}

TYPED_TEST_P(PersistentRegionConformance, RefusesZeroBytes) {
  EXPECT_THROW(this->region_case.create(Bytes{0}), InvalidArgument);
}

TYPED_TEST_P(PersistentRegionConformance, StartsZeroedAndAligned) {
  const auto region = this->region_case.create(Bytes{1 << 20});
  const auto bytes = region->bytes();
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(bytes.data()) % kBlockBytes, 0u);
  EXPECT_TRUE(
      std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte{}; }));
}

TYPED_TEST_P(PersistentRegionConformance, KeepsItsBytesAtOnePlace) {
  const auto region = this->region_case.create(Bytes{1 << 16});
  const auto bytes = region->bytes();
  this->put(*region, 0, 1);
  this->put(*region, (1 << 13) - 1, 2);
  EXPECT_EQ(region->bytes().data(), bytes.data());
  EXPECT_EQ(this->get(*region, 0), 1u);
  EXPECT_EQ(this->get(*region, (1 << 13) - 1), 2u);
}

TYPED_TEST_P(PersistentRegionConformance, PromisesWhatItsFlushInstructionCanKeep) {
  const auto region = this->region_case.create(Bytes{4096});
  EXPECT_FALSE(region->name().empty());
  EXPECT_TRUE(region->writable());
  // Durability by msync and flush by msync go together.
  EXPECT_EQ(region->durability() == Durability::power_fail_msync,
            region->flush_instruction() == FlushInstruction::msync);
}

TYPED_TEST_P(PersistentRegionConformance, SyncAcceptsAnyPartOfTheRegion) {
  const auto region = this->region_case.create(Bytes{3 * 4096 + 5});
  const auto bytes = region->bytes();
  for (const std::size_t offset :
       {std::size_t{0}, std::size_t{1}, std::size_t{4095}, bytes.size() - 1})
    EXPECT_NO_THROW(region->sync(bytes.subspan(offset)));
  EXPECT_NO_THROW(region->sync(bytes.first(1)));
}

TYPED_TEST_P(PersistentRegionConformance, PublishTwiceIsPublishOnce) {
  const auto region = this->region_case.create(Bytes{4096});
  EXPECT_NO_THROW(region->publish());
  EXPECT_NO_THROW(region->publish());
}

TYPED_TEST_P(PersistentRegionConformance, ThreadsUseItTogether) {
  constexpr std::size_t kThreads = 4, kWords = 64;
  const auto region = this->region_case.create(Bytes{kThreads * kWords * sizeof(Word)});
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      for (std::size_t i = 0; i < kWords; ++i) this->put(*region, t * kWords + i, t * kWords + i);
    });
  for (auto& thread : threads) thread.join();
  for (std::size_t i = 0; i < kThreads * kWords; ++i) ASSERT_EQ(this->get(*region, i), i);
}

template <class Case>
class PersistentFileConformance : public PersistentRegionConformance<Case> {};

TYPED_TEST_SUITE_P(PersistentFileConformance);

TYPED_TEST_P(PersistentFileConformance, OpenFindsWhatWasStored) {
  auto region = this->region_case.create(Bytes{10'000});
  this->put(*region, 3, 33);
  this->put(*region, 1000, 44);
  region->publish();
  const Durability durability = region->durability();
  region.reset();
  for (const bool writable : {true, false}) {
    region = this->region_case.open(writable);
    EXPECT_EQ(region->bytes().size(), 10'000u);
    EXPECT_EQ(region->writable(), writable);
    if (writable) {
      EXPECT_EQ(region->durability(), durability);
    }
    EXPECT_EQ(this->get(*region, 3), 33u);
    EXPECT_EQ(this->get(*region, 1000), 44u);
    EXPECT_EQ(this->get(*region, 4), 0u);
    region.reset();
  }
}

TYPED_TEST_P(PersistentFileConformance, OneWriterOrManyReaders) {
  auto region = this->region_case.create(Bytes{4096});
  region->publish();
  std::unique_ptr<PersistentRegion> other;
  try {
    other = this->region_case.open(true);
    FAIL() << "two writers";
  } catch (const Busy&) {
  }
  EXPECT_THROW(this->region_case.open(false), Busy);
  region.reset();
  region = this->region_case.open(false);
  other = this->region_case.open(false);
  EXPECT_THROW(this->region_case.open(true), Busy);
  region.reset();
  other.reset();
  EXPECT_NE(this->region_case.open(true), nullptr);
}

REGISTER_TYPED_TEST_SUITE_P(PersistentRegionConformance, HasExactlyTheSizeAskedFor,
                            RefusesZeroBytes, StartsZeroedAndAligned, KeepsItsBytesAtOnePlace,
                            PromisesWhatItsFlushInstructionCanKeep, SyncAcceptsAnyPartOfTheRegion,
                            PublishTwiceIsPublishOnce, ThreadsUseItTogether);
REGISTER_TYPED_TEST_SUITE_P(PersistentFileConformance, OpenFindsWhatWasStored,
                            OneWriterOrManyReaders);

}  // namespace weir::test
