// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "weir/runtime/crash_explorer.hpp"
#include "weir/runtime/error.hpp"
#include "weir/runtime/rng.hpp"

#include "support/temporary_directory.hpp"

namespace weir {
namespace {

using namespace weir::literals;
using testing::HasSubstr;
using testing::StartsWith;

class CrashReplayFile : public testing::Test {
 protected:
  /// A replay file made by a failing check, as text.
  std::string make() {
    RecordedRegion region(128_B);
    const RecordingAccess access(region);
    region.recorder()->begin(0);
    access.store(reinterpret_cast<Word*>(region.bytes().data()), 0x4141414141414141);
    region.recorder()->acknowledge(1);
    CrashExplorer explorer({.replay_directory = directory.path()});
    const auto result =
        explorer.explore(region, [](std::span<std::byte> image, const CrashPoint& point) {
          return image[0] != std::byte{0} && point.event == 3 ? "wrong\nin two lines" : "";
        });
    std::ifstream in(result.replay, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  std::string write(const std::string& text) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
    return path;
  }

  /// The CorruptData message, "" if it loads.
  std::string refusal(const std::string& text) {
    write(text);
    try {
      load_crash_replay(path);
      return "";
    } catch (const CorruptData& error) {
      return error.what();
    }
  }

  // In memory: disks take milliseconds to replace a file, and there are thousands.
  test::TemporaryDirectory directory{"/dev/shm"};
  std::string path = directory / "replay";
};

TEST_F(CrashReplayFile, RoundTrip) {
  const CrashReplay replay = load_crash_replay(write(make()));
  EXPECT_THAT(replay.message, StartsWith("wrong\nin two lines\n"));
  EXPECT_EQ(replay.event, 3u);
  EXPECT_THAT(replay.operations,
              testing::ElementsAre(OperationState::in_flight, OperationState::acknowledged));
  ASSERT_EQ(replay.image.size(), 128u);
  EXPECT_EQ(replay.image[7], std::byte{0x41});
  EXPECT_EQ(replay.image[8], std::byte{0});
}

// A file that the first release wrote must stay readable.
TEST_F(CrashReplayFile, Version1StaysReadable) {
  const std::string text =
      "weir-crash-replay 1\nevent 3\noperations 2\nmessage 113\nimage 64\n"
      "checksum a26cf094382546a8\n\nia\nthe word was lost\n  power failure after event 3; stores "
      "kept: line 0 1/1; operations: 0 in flight, 1 acknowledged\nAAAAAAAA" +
      std::string(56, '\0');
  const CrashReplay replay = load_crash_replay(write(text));
  EXPECT_THAT(replay.message, StartsWith("the word was lost\n"));
  EXPECT_EQ(replay.image[0], std::byte{'A'});
}

TEST_F(CrashReplayFile, RefusesOtherFiles) {
  EXPECT_THROW(load_crash_replay(directory / "absent"), IoError);
  EXPECT_THROW(load_crash_replay(directory.path()), IoError);
  EXPECT_THAT(refusal(""), HasSubstr("expected 'weir-crash-replay 1'"));
  EXPECT_THAT(refusal("some text"), HasSubstr("byte 0 of 9"));
  EXPECT_THAT(refusal("weir-crash-replay 2\nevent 1\n"), HasSubstr("weir-crash-replay 1"));
  EXPECT_THAT(refusal("weir-crash-replay 1\nevent x\n"), HasSubstr("expected a number"));
  EXPECT_THAT(refusal("weir-crash-replay 1\nevent 99999999999999999999\n"),
              HasSubstr("expected a number"));
}

TEST_F(CrashReplayFile, RefusesEveryTruncation) {
  const std::string text = make();
  for (std::size_t size = 0; size < text.size(); ++size)
    ASSERT_NE(refusal(text.substr(0, size)), "") << size;
  EXPECT_NE(refusal(text + "x"), "");
}

TEST_F(CrashReplayFile, RefusesEveryFlippedByte) {
  const std::string text = make();
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::string damaged = text;
    damaged[i] = static_cast<char>(damaged[i] ^ 1);
    // The checksum covers all but its own digits, of which case does not matter.
    ASSERT_NE(refusal(damaged), "") << i;
  }
}

TEST_F(CrashReplayFile, RefusesSizesThatDoNotFitTheFile) {
  const std::string text = make();
  for (const std::string field : {"operations 2", "image 128"}) {
    for (const std::string value : {"0", "1000000", "18446744073709551615"}) {
      std::string damaged = text;
      const std::size_t at = damaged.find(field);
      const std::string name = field.substr(0, field.find(' ') + 1);
      damaged.replace(at, field.size(), name + value);
      EXPECT_NE(refusal(damaged), "") << name << value;
    }
  }
}

TEST_F(CrashReplayFile, SurvivesRandomDamage) {
  const std::string text = make();
  Rng rng(1);
  for (int round = 0; round < 2000; ++round) {
    std::string damaged = text;
    for (std::uint64_t edits = 1 + rng.below(8); edits > 0; --edits) {
      const std::size_t at = rng.below(damaged.size());
      switch (rng.below(3)) {
        case 0:
          damaged[at] = static_cast<char>(rng());
          break;
        case 1:
          damaged.erase(at, rng.below(20));
          break;
        default:
          damaged.insert(at, std::string(rng.below(20), static_cast<char>('0' + rng.below(10))));
      }
      if (damaged.empty()) break;
    }
    if (damaged == text) continue;
    ASSERT_NE(refusal(damaged), "") << round;
  }
}

}  // namespace
}  // namespace weir
