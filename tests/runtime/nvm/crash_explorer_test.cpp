// SPDX-License-Identifier: Apache-2.0
// Seeded bugs in small persistent structures must be found, and the right versions must pass.
#include "weir/runtime/crash_explorer.hpp"

#include <fstream>
#include <functional>
#include <stdexcept>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "weir/runtime/error.hpp"

#include "support/temporary_directory.hpp"

namespace weir {
namespace {

using namespace weir::literals;
using testing::HasSubstr;

enum Fault : unsigned {
  kNone,
  kNoFence,            // payload and count may persist in either order
  kNoPayloadFlush,     // the payload never has to persist
  kCountFirst,         // published before it is there
  kEarlyAcknowledge,   // returns before it is durable
  kUnlockBeforeFlush,  // another thread builds on what is not durable yet
};

/// A log of numbers in persistent memory. Line 0: count; line 1: lock; then payload, a line each
/// (or, if `packed`, words 1 to 7 of the count's line).
class ToyLog {
 public:
  ToyLog(RecordedRegion& region, bool packed)
      : access_(region), words_(reinterpret_cast<Word*>(region.bytes().data())), packed_(packed) {}

  static Word value_of(std::size_t i) { return 100 + i; }

  static std::size_t payload(std::size_t i, bool packed) {
    return packed ? 1 + i : (2 + i) * kWordsPerLine;
  }

  void append(RecordedRegion& region, std::size_t operation) const {
    region.recorder()->begin(operation);
    while (!access_.cas(lock(), 0, 1)) access_.pause();
    const Word i = access_.load(count());
    Word* p = words_ + payload(i, packed_);
    const bool count_first = access_.fault(kCountFirst);
    if (count_first) access_.store(count(), i + 1);
    access_.store(p, value_of(i));
    if (!packed_ && !access_.fault(kNoFence) && !access_.fault(kUnlockBeforeFlush)) {
      if (!access_.fault(kNoPayloadFlush)) access_.flush(p);
      access_.fence();
    }
    if (!count_first) access_.store(count(), i + 1);
    if (access_.fault(kUnlockBeforeFlush)) access_.store(lock(), 0);
    if (access_.fault(kEarlyAcknowledge)) region.recorder()->acknowledge(operation);
    if (access_.fault(kNoFence) || access_.fault(kUnlockBeforeFlush)) access_.flush(p);
    access_.flush(count());
    access_.fence();
    if (!access_.fault(kUnlockBeforeFlush)) access_.store(lock(), 0);
    if (!access_.fault(kEarlyAcknowledge)) region.recorder()->acknowledge(operation);
  }

  /// "" or what the image shows that no run may leave.
  static std::string check(std::span<const std::byte> image, const CrashPoint& point, bool packed) {
    const Word* words = reinterpret_cast<const Word*>(image.data());
    const auto count_of = [&](OperationState state) {
      return static_cast<Word>(std::count(point.operations.begin(), point.operations.end(), state));
    };
    const Word acknowledged = count_of(OperationState::acknowledged);
    if (words[0] < acknowledged)
      return "lost: " + std::to_string(words[0]) + " of " + std::to_string(acknowledged);
    if (words[0] > acknowledged + count_of(OperationState::in_flight)) return "too many";
    for (std::size_t i = 0; i < words[0]; ++i)
      if (words[payload(i, packed)] != value_of(i)) return "payload " + std::to_string(i);
    return "";
  }

 private:
  Word* count() const { return words_; }
  Word* lock() const { return words_ + kWordsPerLine; }

  RecordingAccess access_;
  Word* words_;
  bool packed_;
};

struct Run {
  Fault fault = kNone;
  FlushInstruction flush = FlushInstruction::clwb;
  bool packed = false;
  std::size_t threads = 1;
  std::uint64_t seed = 1;
};

/// Two appends by each thread, then every crash of it.
CrashResult explore(const Run& run, const CrashExplorerOptions& options = {}) {
  RecordedRegion region(1_KiB, run.flush);
  const ToyLog log(region, run.packed);
  region.recorder()->set_fault(run.fault);
  std::vector<std::function<void()>> bodies;
  for (std::size_t t = 0; t < run.threads; ++t)
    bodies.emplace_back([&, t] {
      log.append(region, 2 * t);
      log.append(region, 2 * t + 1);
    });
  if (run.threads == 1)
    bodies[0]();
  else
    run_interleaved(region, bodies, run.seed);
  return CrashExplorer(options).explore(region,
                                        [&](std::span<std::byte> image, const CrashPoint& point) {
                                          return ToyLog::check(image, point, run.packed);
                                        });
}

TEST(CrashExplorer, RightLogPasses) {
  const CrashResult result = explore({});
  EXPECT_EQ(result.failures, 0u) << result.first_failure;
  EXPECT_GT(result.states, 10u);
  EXPECT_GT(result.points, 10u);
  EXPECT_TRUE(result.first_failure.empty());
  EXPECT_TRUE(result.replay.empty());
}

TEST(CrashExplorer, SeededBugsAreFound) {
  for (const Fault fault : {kNoFence, kNoPayloadFlush, kCountFirst, kEarlyAcknowledge})
    EXPECT_EQ(explore({.fault = fault}).failures, 1u) << fault;
}

// One line persists in the order of its stores: neither a second flush nor a fence is needed.
TEST(CrashExplorer, OneLineLogPassesWithOneFlush) {
  const CrashResult result = explore({.packed = true});
  EXPECT_EQ(result.failures, 0u) << result.first_failure;
}

TEST(CrashExplorer, WrongOrderWithinALineIsFound) {
  EXPECT_EQ(explore({.fault = kCountFirst, .packed = true}).failures, 1u);
}

TEST(CrashExplorer, PersistentCachesForgiveMissingFlushesButNotWrongOrder) {
  constexpr auto kEadr = FlushInstruction::none;
  for (const Fault fault : {kNone, kNoFence, kNoPayloadFlush, kEarlyAcknowledge})
    EXPECT_EQ(explore({.fault = fault, .flush = kEadr}).failures, 0u) << fault;
  EXPECT_EQ(explore({.fault = kCountFirst, .flush = kEadr}).failures, 1u);
}

TEST(CrashExplorer, ConcurrentLogPassesInEveryInterleaving) {
  CrashResult sum;
  for (std::uint64_t seed = 0; seed < 20; ++seed) sum += explore({.threads = 2, .seed = seed});
  EXPECT_EQ(sum.failures, 0u) << sum.first_failure;
  EXPECT_GT(sum.states, 500u);
}

TEST(CrashExplorer, BuildingOnWhatIsNotDurableIsFoundInSomeInterleaving) {
  CrashResult sum;
  for (std::uint64_t seed = 0; seed < 20; ++seed)
    sum += explore({.fault = kUnlockBeforeFlush, .threads = 2, .seed = seed});
  EXPECT_GT(sum.failures, 0u);
}

TEST(CrashExplorer, SamplingFindsTheBugToo) {
  EXPECT_EQ(explore({.fault = kNoFence}, {.exhaustive_limit = 1, .samples = 16}).failures, 1u);
  EXPECT_EQ(explore({}, {.exhaustive_limit = 1, .samples = 16}).failures, 0u);
}

TEST(CrashExplorer, CountsFailuresUpToTheirLimit) {
  EXPECT_EQ(explore({.fault = kNoFence}, {.max_failures = 2}).failures, 2u);
  EXPECT_GT(explore({.fault = kNoFence}, {.max_failures = 0}).failures, 2u);
}

TEST(CrashExplorer, FailureTellsWhereAndWhatWasKept) {
  const CrashResult result = explore({.fault = kNoFence});
  // Events: begin, lock, payload, count, ...: the first wrong image has the count alone.
  EXPECT_THAT(result.first_failure, HasSubstr("payload 0\n"));
  EXPECT_THAT(result.first_failure, HasSubstr("after event 4"));
  EXPECT_THAT(result.first_failure, HasSubstr("line 2 0/1"));
  EXPECT_THAT(result.first_failure, HasSubstr("line 0 1/1"));
  EXPECT_THAT(result.first_failure, HasSubstr("0 in flight"));
}

TEST(CrashExplorer, FailureWritesAReplayFile) {
  const test::TemporaryDirectory directory;
  const CrashResult result =
      explore({.fault = kNoFence}, {.replay_directory = directory / "made" / "when needed"});
  ASSERT_FALSE(result.replay.empty()) << result.first_failure;
  CrashReplay replay = load_crash_replay(result.replay);
  EXPECT_EQ(replay.message, result.first_failure);
  EXPECT_EQ(replay.event, 4u);
  EXPECT_EQ(replay.operations.at(0), OperationState::in_flight);
  EXPECT_EQ(replay.operations.at(1), OperationState::not_begun);
  EXPECT_EQ(replay.image.size(), 1024u);
  // What the file is for: the check fails again.
  EXPECT_EQ(ToyLog::check(replay.image, {replay.event, replay.operations}, false), "payload 0");
}

TEST(CrashExplorer, FailureIsReportedAlsoWhenItsFileCannotBeWritten) {
  const test::TemporaryDirectory directory;
  std::ofstream(directory / "file") << "in the way";
  const CrashResult result = explore({.fault = kNoFence}, {.replay_directory = directory / "file"});
  EXPECT_EQ(result.failures, 1u);
  EXPECT_TRUE(result.replay.empty());
  EXPECT_THAT(result.first_failure, HasSubstr("no replay file"));
}

TEST(CrashExplorer, ExceptionOfTheCheckIsAFailure) {
  RecordedRegion region(64_B);
  CrashExplorer explorer;
  const auto throws = explorer.explore(region, [](auto, const auto&) -> std::string {
    throw std::runtime_error("recovery gave up");
  });
  EXPECT_EQ(throws.failures, 1u);
  EXPECT_THAT(throws.first_failure, HasSubstr("recovery gave up"));
  EXPECT_EQ(explorer.explore(region, [](auto, const auto&) -> std::string { throw 1; }).failures,
            1u);
}

TEST(CrashExplorer, CheckMayWriteToItsCopy) {
  RecordedRegion region(4_KiB);
  const RecordingAccess access(region);
  Word* words = reinterpret_cast<Word*>(region.bytes().data());
  for (std::size_t line = 0; line < 5; ++line) access.store(words + line * kWordsPerLine, 7);
  CrashExplorer explorer;
  const auto result = explorer.explore(region, [](std::span<std::byte> image, const CrashPoint&) {
    std::string wrong;
    for (const std::byte byte : image)
      if (byte != std::byte{0} && byte != std::byte{7}) wrong = "not as recorded";
    std::fill(image.begin(), image.end(), std::byte{0xEE});
    return wrong;
  });
  EXPECT_EQ(result.failures, 0u) << result.first_failure;
  EXPECT_EQ(result.images, 32u);
  EXPECT_EQ(words[0], 7u);  // and not to the region
}

TEST(CrashExplorer, RefusesToRunWithoutACheck) {
  RecordedRegion region(64_B);
  EXPECT_THROW(CrashExplorer().explore(region, nullptr), InvalidArgument);
}

TEST(CrashExplorer, SumsKeepTheFirstFailure) {
  CrashResult sum;
  sum += {.points = 1, .sampled_points = 2, .states = 3, .images = 4};
  sum += {.states = 1, .failures = 1, .first_failure = "first", .replay = "a"};
  sum += {.states = 1, .failures = 2, .first_failure = "second", .replay = "b"};
  EXPECT_EQ(sum.points, 1u);
  EXPECT_EQ(sum.sampled_points, 2u);
  EXPECT_EQ(sum.states, 5u);
  EXPECT_EQ(sum.images, 4u);
  EXPECT_EQ(sum.failures, 3u);
  EXPECT_EQ(sum.first_failure, "first");
  EXPECT_EQ(sum.replay, "a");
}

TEST(CrashRecorder, RefusesAccessesOutsideItsRegion) {
  RecordedRegion region(100_B);
  const RecordingAccess access(region);
  Word outside = 0;
  auto* bytes = region.bytes().data();
  const auto at = [&](std::size_t offset) {
    return static_cast<Word*>(static_cast<void*>(bytes + offset));
  };
  EXPECT_THROW(access.store(&outside, 1), InvalidArgument);
  EXPECT_THROW(access.load(&outside), InvalidArgument);
  EXPECT_THROW(access.flush(&outside), InvalidArgument);
  EXPECT_THROW(access.store(at(96), 1), InvalidArgument);  // reaches past the end
  EXPECT_NO_THROW(access.store(at(88), 1));
  EXPECT_NO_THROW(access.flush(bytes + 99));
  EXPECT_THROW(region.recorder()->begin(1 << 20), InvalidArgument);
  EXPECT_THROW(region.recorder()->acknowledge(~std::size_t{0}), InvalidArgument);
}

TEST(CrashRecorder, FaultsAreSeededOneAtATime) {
  RecordedRegion region(64_B);
  const RecordingAccess access(region);
  EXPECT_FALSE(access.fault(0));
  EXPECT_FALSE(access.fault(1));
  region.recorder()->set_fault(2);
  EXPECT_FALSE(access.fault(1));
  EXPECT_TRUE(access.fault(2));
  region.recorder()->set_fault(0);
  EXPECT_FALSE(access.fault(0));
  EXPECT_FALSE(access.fault(2));
}

TEST(CrashRecorder, RegionFromAnImageStartsWithItDurable) {
  std::vector<std::byte> image(300, std::byte{5});
  RecordedRegion region(image);
  EXPECT_TRUE(std::equal(image.begin(), image.end(), region.bytes().begin(), region.bytes().end()));
  EXPECT_TRUE(std::equal(image.begin(), image.end(), region.recorder()->base().begin()));
  const auto result = CrashExplorer().explore(region, [](auto, const auto&) { return ""; });
  EXPECT_EQ(result.states, 1u);
}

}  // namespace
}  // namespace weir
