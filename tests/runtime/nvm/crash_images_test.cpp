// SPDX-License-Identifier: Apache-2.0
// Which images the explorer tries: every expected set is enumerated by hand from the rules of Px86.
#include <algorithm>
#include <cstring>
#include <functional>
#include <set>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "weir/runtime/crash_explorer.hpp"
#include "weir/runtime/error.hpp"

namespace weir {
namespace {

using namespace weir::literals;
using testing::UnorderedElementsAre;

// The words that the tests store to: a0 and a1 share line 0, b0 is in line 1, c0 in line 2.
constexpr std::size_t a0 = 0, a1 = 1, b0 = 8, c0 = 16;
constexpr std::size_t kWords[] = {a0, a1, b0, c0};

/// Values of a0, a1, b0, c0.
using Image = std::vector<Word>;

class CrashImages : public testing::Test {
 protected:
  explicit CrashImages(FlushInstruction flush = FlushInstruction::clwb) : region(4_KiB, flush) {}

  Word* word(std::size_t index) { return reinterpret_cast<Word*>(region.bytes().data()) + index; }
  void store(std::size_t index, Word value) { access.store(word(index), value); }
  void flush(std::size_t index) { access.flush(word(index)); }
  void fence() { access.fence(); }

  static Image read(std::span<const std::byte> bytes) {
    Image image;
    for (const std::size_t index : kWords) {
      Word value;
      std::memcpy(&value, bytes.data() + index * sizeof(Word), sizeof value);
      image.push_back(value);
    }
    return image;
  }

  /// All images that were tried when `event` events had become visible.
  std::set<Image> images_after(std::size_t event) {
    // A point tries only what earlier points have not, so the expected set is that of the whole
    // log when nothing was durable in between; operation 0 makes the last point start anew.
    std::set<Image> images;
    CrashExplorer explorer;
    result = explorer.explore(region, [&](std::span<std::byte> bytes, const CrashPoint& point) {
      if (point.event == event) images.insert(read(bytes));
      return "";
    });
    return images;
  }

  /// The images that may be left now: acknowledges an operation, since after that all are tried.
  std::set<Image> images_now() {
    region.recorder()->acknowledge(next_operation++);
    return images_after(region.recorder()->events().size());
  }

  RecordedRegion region;
  RecordingAccess access{region};
  std::size_t next_operation = 0;
  CrashResult result;
};

TEST_F(CrashImages, WithoutStoresOnlyTheBase) {
  EXPECT_THAT(images_now(), UnorderedElementsAre(Image{0, 0, 0, 0}));
}

TEST_F(CrashImages, OneLineGivesItsPrefixes) {
  store(a0, 1);
  store(a1, 2);
  store(a0, 3);
  EXPECT_THAT(images_now(), UnorderedElementsAre(Image{0, 0, 0, 0}, Image{1, 0, 0, 0},
                                                 Image{1, 2, 0, 0}, Image{3, 2, 0, 0}));
}

TEST_F(CrashImages, LinesAreIndependent) {
  store(a0, 1);
  store(a1, 2);
  store(b0, 3);
  EXPECT_THAT(images_now(),
              UnorderedElementsAre(Image{0, 0, 0, 0}, Image{1, 0, 0, 0}, Image{1, 2, 0, 0},
                                   Image{0, 0, 3, 0}, Image{1, 0, 3, 0}, Image{1, 2, 3, 0}));
}

TEST_F(CrashImages, FlushAloneGuaranteesNothing) {
  store(a0, 1);
  flush(a0);
  EXPECT_THAT(images_now(), UnorderedElementsAre(Image{0, 0, 0, 0}, Image{1, 0, 0, 0}));
}

TEST_F(CrashImages, FenceAloneGuaranteesNothing) {
  store(a0, 1);
  fence();
  EXPECT_THAT(images_now(), UnorderedElementsAre(Image{0, 0, 0, 0}, Image{1, 0, 0, 0}));
}

TEST_F(CrashImages, FlushAndFenceMakeTheLineDurable) {
  store(a0, 1);
  store(b0, 2);
  flush(a1);  // any address of the line
  fence();
  EXPECT_THAT(images_now(), UnorderedElementsAre(Image{1, 0, 0, 0}, Image{1, 0, 2, 0}));
}

TEST_F(CrashImages, FlushCapturesTheLineAtThatMoment) {
  store(a0, 1);
  flush(a0);
  store(a1, 2);
  fence();
  EXPECT_THAT(images_now(), UnorderedElementsAre(Image{1, 0, 0, 0}, Image{1, 2, 0, 0}));
}

TEST_F(CrashImages, SecondFlushOfALineCapturesMore) {
  store(a0, 1);
  flush(a0);
  store(a1, 2);
  flush(a0);
  store(a0, 3);
  fence();
  EXPECT_THAT(images_now(), UnorderedElementsAre(Image{1, 2, 0, 0}, Image{3, 2, 0, 0}));
}

TEST_F(CrashImages, FlushBeforeTheStoreDoesNotHelp) {
  flush(a0);
  store(a0, 1);
  fence();
  EXPECT_THAT(images_now(), UnorderedElementsAre(Image{0, 0, 0, 0}, Image{1, 0, 0, 0}));
}

TEST_F(CrashImages, DurableStoresStayWhenTheLineIsDirtyAgain) {
  store(a0, 1);
  flush(a0);
  fence();
  store(a0, 2);
  store(c0, 5);
  EXPECT_THAT(images_now(), UnorderedElementsAre(Image{1, 0, 0, 0}, Image{2, 0, 0, 0},
                                                 Image{1, 0, 0, 5}, Image{2, 0, 0, 5}));
}

TEST_F(CrashImages, AnOldCaptureDoesNotCountForNewStores) {
  store(a0, 1);
  flush(a0);
  std::thread([&] {  // makes the same store durable first
    flush(a0);
    fence();
  })
      .join();
  store(a0, 2);
  fence();  // completes the first flush, which captured 1
  EXPECT_THAT(images_now(), UnorderedElementsAre(Image{1, 0, 0, 0}, Image{2, 0, 0, 0}));
}

TEST_F(CrashImages, OtherValuesBackAndForthKeepTheirOrder) {
  store(a0, 1);
  store(b0, 1);
  store(a0, 0);  // the line is as it was, by another way
  EXPECT_THAT(images_now(), UnorderedElementsAre(Image{0, 0, 0, 0}, Image{1, 0, 0, 0},
                                                 Image{0, 0, 1, 0}, Image{1, 0, 1, 0}));
}

TEST_F(CrashImages, EveryPointIsTried) {
  store(a0, 1);
  store(b0, 2);
  EXPECT_THAT(images_after(0), UnorderedElementsAre(Image{0, 0, 0, 0}));
  EXPECT_THAT(images_after(1), UnorderedElementsAre(Image{1, 0, 0, 0}));
  EXPECT_THAT(images_after(2), UnorderedElementsAre(Image{0, 0, 2, 0}, Image{1, 0, 2, 0}));
  EXPECT_EQ(result.points, 3u);  // before the first event and after each
  EXPECT_EQ(result.states, 4u);
  EXPECT_EQ(result.images, 4u);
  EXPECT_EQ(result.sampled_points, 0u);
}

TEST_F(CrashImages, FailedCompareAndSwapIsNoStore) {
  EXPECT_FALSE(access.cas(word(a0), 7, 1));
  EXPECT_TRUE(access.cas(word(a0), 0, 2));
  EXPECT_THAT(images_now(), UnorderedElementsAre(Image{0, 0, 0, 0}, Image{2, 0, 0, 0}));
}

TEST_F(CrashImages, FlushAndFenceOfAnotherThreadMakeItDurable) {
  store(a0, 1);
  std::thread([&] {
    flush(a0);
    fence();
  }).join();
  EXPECT_THAT(images_now(), UnorderedElementsAre(Image{1, 0, 0, 0}));
}

TEST_F(CrashImages, FenceOfAnotherThreadDoesNotCompleteMyFlush) {
  store(a0, 1);
  flush(a0);
  std::thread([&] { fence(); }).join();
  EXPECT_THAT(images_now(), UnorderedElementsAre(Image{0, 0, 0, 0}, Image{1, 0, 0, 0}));
}

TEST_F(CrashImages, FenceOfALaterThreadWithTheSameNumberDoesNotCompleteTheFlush) {
  const std::function<void()> flushes[] = {[&] {
    store(a0, 1);
    flush(a0);
  }};
  const std::function<void()> fences[] = {[&] { fence(); }};
  run_interleaved(region, flushes, 1);
  run_interleaved(region, fences, 1);
  EXPECT_THAT(images_now(), UnorderedElementsAre(Image{0, 0, 0, 0}, Image{1, 0, 0, 0}));
}

TEST_F(CrashImages, RestartTakesTheImageAsDurable) {
  store(a0, 1);
  *word(b0) = 2;  // also what was prepared without the access layer
  region.recorder()->restart();
  EXPECT_TRUE(region.recorder()->events().empty());
  store(c0, 3);
  EXPECT_THAT(images_now(), UnorderedElementsAre(Image{1, 0, 2, 0}, Image{1, 0, 2, 3}));
}

TEST_F(CrashImages, OperationsSeparateStates) {
  region.recorder()->begin(0);
  store(a0, 1);
  flush(a0);
  fence();
  region.recorder()->acknowledge(0);
  std::multiset<std::pair<OperationState, Word>> seen;
  CrashExplorer explorer;
  result = explorer.explore(region, [&](std::span<std::byte> bytes, const CrashPoint& point) {
    seen.emplace(point.operations[0], read(bytes)[0]);
    return "";
  });
  using enum OperationState;
  EXPECT_THAT(seen, UnorderedElementsAre(std::pair(not_begun, 0u), std::pair(in_flight, 0u),
                                         std::pair(in_flight, 1u), std::pair(acknowledged, 1u)));
  EXPECT_EQ(result.states, 4u);
  EXPECT_EQ(result.images, 2u);
}

TEST_F(CrashImages, ManyLinesAreSampledWithNoneAllAndEachAlone) {
  constexpr std::size_t kLines = 40;
  for (std::size_t line = 0; line < kLines; ++line) store(line * kWordsPerLine, line + 1);
  region.recorder()->acknowledge(0);
  std::set<std::set<std::size_t>> kept;  // by image, the lines that are there
  CrashExplorer explorer({.exhaustive_limit = 64, .samples = 300});
  result = explorer.explore(region, [&](std::span<std::byte> bytes, const CrashPoint&) {
    std::set<std::size_t> lines;
    for (std::size_t line = 0; line < kLines; ++line)
      if (bytes[line * kLineBytes] != std::byte{0}) lines.insert(line);
    kept.insert(lines);
    return "";
  });
  EXPECT_GT(result.sampled_points, 30u);
  EXPECT_EQ(result.images, kept.size());
  EXPECT_GT(result.images, 2000u);
  std::set<std::size_t> all;
  for (std::size_t line = 0; line < kLines; ++line) all.insert(line);
  EXPECT_TRUE(kept.contains({}));
  EXPECT_TRUE(kept.contains(all));
  for (std::size_t line = 0; line < kLines; ++line) {
    EXPECT_TRUE(kept.contains({line})) << line;
    auto others = all;
    others.erase(line);
    EXPECT_TRUE(kept.contains(others)) << line;
  }
}

TEST_F(CrashImages, SameSeedSameSamples) {
  for (std::size_t line = 0; line < 30; ++line) store(line * kWordsPerLine, line + 1);
  const auto images = [&](std::uint64_t seed) {
    std::vector<std::size_t> hashes;
    CrashExplorer explorer({.exhaustive_limit = 16, .samples = 100, .seed = seed});
    explorer.explore(region, [&](std::span<std::byte> bytes, const CrashPoint&) {
      hashes.push_back(std::hash<std::string_view>{}(
          {reinterpret_cast<const char*>(bytes.data()), bytes.size()}));
      return "";
    });
    return hashes;
  };
  EXPECT_EQ(images(1), images(1));
  EXPECT_NE(images(1), images(2));
}

TEST_F(CrashImages, StorePastTheAccessLayerIsReported) {
  store(a0, 1);
  *word(b0) = 2;
  CrashExplorer explorer;
  EXPECT_THROW(explorer.explore(region, [](auto, const auto&) { return ""; }), InvalidArgument);
}

class CrashImagesEadr : public CrashImages {
 protected:
  CrashImagesEadr() : CrashImages(FlushInstruction::none) {}
};

TEST_F(CrashImagesEadr, StoresPersistInTheirOrder) {
  store(a0, 1);
  store(b0, 2);
  flush(b0);
  fence();
  store(a1, 3);
  EXPECT_THAT(images_after(0), UnorderedElementsAre(Image{0, 0, 0, 0}));
  EXPECT_THAT(images_after(1), UnorderedElementsAre(Image{1, 0, 0, 0}));
  EXPECT_THAT(images_after(2), UnorderedElementsAre(Image{1, 0, 2, 0}));
  EXPECT_THAT(images_after(5), UnorderedElementsAre(Image{1, 3, 2, 0}));
  EXPECT_EQ(result.images, 4u);
  EXPECT_THAT(images_now(), UnorderedElementsAre(Image{1, 3, 2, 0}));
}

}  // namespace
}  // namespace weir
