// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <list>
#include <set>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "weir/runtime/error.hpp"
#include "weir/runtime/rng.hpp"

#include "anifilter/mooncake_trace.hpp"
#include "anifilter/trials_mooncake.hpp"

namespace weir::anifilter::trials {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<MooncakeRequest> read(const std::string& text) {
  std::istringstream in(text);
  return read_mooncake_trace(in, "trace");
}

std::string refusal(const std::string& text) {
  try {
    static_cast<void>(read(text));
  } catch (const CorruptData& error) {
    return error.what();
  }
  return "it was read";
}

const std::string kGood =
    R"({"timestamp": 27, "input_length": 600, "output_length": 8, "hash_ids": [3, 1, 4]})";

TEST(MooncakeTrace, IsReadLineByLine) {
  const auto requests = read(kGood + "\r\n\n  \n" + R"({"hash_ids":[],"output_length":0,)" +
                             R"("more":{"a":[1,"x\"}",null]},"input_length":1,"timestamp":0})");
  ASSERT_EQ(requests.size(), 2u);
  EXPECT_EQ(requests[0].timestamp, 27u);
  EXPECT_EQ(requests[0].input_length, 600u);
  EXPECT_EQ(requests[0].output_length, 8u);
  EXPECT_THAT(requests[0].blocks, ElementsAre(3, 1, 4));
  EXPECT_TRUE(requests[1].blocks.empty());
  EXPECT_TRUE(read("").empty());
}

TEST(MooncakeTrace, MalformedLinesAreErrorsWithTheirNumber) {
  for (
      const char* line : {
          "nonsense",
          "[1, 2]",
          "{}",
          R"({"timestamp": 27, "input_length": 600, "output_length": 8})",
          R"({"timestamp": 27, "input_length": 600, "output_length": 8, "hash_ids": 3})",
          R"({"timestamp": 27, "input_length": 600, "output_length": 8, "hash_ids": [3, -1]})",
          R"({"timestamp": 27, "input_length": 600, "output_length": 8, "hash_ids": [3, 1.5]})",
          R"({"timestamp": 27, "input_length": 600, "output_length": 8, "hash_ids": [3,]})",
          R"({"timestamp": 27, "input_length": 600, "output_length": 8, "hash_ids": [3)",
          R"({"timestamp": 27, "input_length": 600, "output_length": 8, "hash_ids": [3]} x)",
          R"({"timestamp": 27, "timestamp": 2, "input_length": 6, "output_length": 8, "hash_ids": []})",
          R"({"timestamp": 99999999999999999999, "input_length": 6, "output_length": 8, "hash_ids": []})",
          R"({"timestamp": "27", "input_length": 600, "output_length": 8, "hash_ids": [3]})",
          R"({"timestamp)",
      })
    EXPECT_THAT(refusal(kGood + "\n" + line + "\n" + kGood), HasSubstr("trace, line 2, ")) << line;
  std::string deep = R"({"x": )";
  for (int i = 0; i < 100'000; ++i) deep += '[';
  EXPECT_THAT(refusal(deep), HasSubstr("nested too deeply"));
}

TEST(MooncakeTrace, CutAnywhereIsRefused) {
  for (std::size_t length = 1; length < kGood.size(); ++length)
    EXPECT_THAT(refusal(kGood.substr(0, length)), HasSubstr("line 1")) << length;
}

TEST(MooncakeTrace, AbsentIsAnErrorThatSaysWhere) {
  EXPECT_THROW(static_cast<void>(read_mooncake_trace("/nowhere/trace.jsonl")), IoError);
  try {
    static_cast<void>(find_mooncake_trace("/nowhere"));
    FAIL();
  } catch (const IoError& error) {
    EXPECT_THAT(error.what(), HasSubstr("/nowhere/mooncake/synthetic_trace.jsonl"));
  }
}

TEST(MooncakeTrace, TheShippedOneIsThePublishedOne) {
  const auto requests = read_mooncake_trace(find_mooncake_trace());
  std::uint64_t blocks = 0;
  std::set<std::uint64_t> distinct;
  for (const MooncakeRequest& request : requests) {
    blocks += request.blocks.size();
    distinct.insert(request.blocks.begin(), request.blocks.end());
  }
  EXPECT_EQ(requests.size(), 3993u);
  EXPECT_EQ(blocks, 121'877u);
  EXPECT_EQ(distinct.size(), 43'924u);
}

std::vector<MooncakeRequest> made_up_trace(std::uint64_t requests, std::uint64_t blocks) {
  Rng rng(5);
  std::vector<MooncakeRequest> trace(requests);
  for (MooncakeRequest& request : trace)
    for (std::uint64_t i = 0; i < 1 + rng.below(12); ++i)
      request.blocks.push_back(rng.below(2) == 0 ? rng.below(blocks) : rng.below(blocks / 8));
  return trace;
}

TEST(BlockStream, FollowsAnLruCacheThroughTheEpochs) {
  const auto trace = made_up_trace(300, 500);
  constexpr std::size_t kCache = 60;
  const BlockStream stream(trace, kCache);

  std::list<std::uint64_t> cache;  // of keys, most recent first
  std::uint64_t position = 0;
  for (std::uint64_t epoch = 0; epoch < 4; ++epoch) {
    if (epoch == 1) {
      EXPECT_EQ(position, stream.steady());
    }
    for (const MooncakeRequest& request : trace)
      for (const std::uint64_t block : request.blocks) {
        const std::uint64_t key = splitmix64(epoch << 32 | block);
        const auto at = std::ranges::find(cache, key);
        ASSERT_EQ(stream.key(position), key);
        if (at != cache.end()) {
          ASSERT_EQ(stream.at(position++).ask, BlockStream::Ask::hit);
          cache.splice(cache.begin(), cache, at);
          continue;
        }
        ASSERT_EQ(stream.at(position++).ask, BlockStream::Ask::miss);
        if (cache.size() == kCache) {
          ASSERT_EQ(stream.at(position).ask, BlockStream::Ask::erase);
          ASSERT_EQ(stream.key(position++), cache.back());
          cache.pop_back();
        }
        ASSERT_EQ(stream.at(position).ask, BlockStream::Ask::insert);
        ASSERT_EQ(stream.key(position++), key);
        cache.push_front(key);
      }
  }
}

TEST(BlockStream, NeedsMoreBlocksThanTheCacheHas) {
  const auto trace = made_up_trace(20, 50);
  EXPECT_THROW(static_cast<void>(BlockStream(trace, 50)), InvalidArgument);
  EXPECT_THROW(static_cast<void>(BlockStream(trace, 0)), InvalidArgument);
}

TEST(MooncakeTrial, LosesNothingWhenKilled) {
  const auto trace = made_up_trace(400, 1000);
  MooncakeOptions options;
  options.cache_blocks = 200;
  options.operations = 200'000;
  options.kills = 4;
  const BlockStream stream(trace, options.cache_blocks);
  const MooncakeResult result = run_mooncake_trial(stream, options);
  EXPECT_EQ(result.problem, "");
  EXPECT_EQ(result.kills, 4u);
  EXPECT_GE(result.operations, options.operations);
  EXPECT_EQ(result.false_negatives, 0u);
  EXPECT_EQ(result.lost_after_kill, 0u);
  EXPECT_GT(result.keys_checked, 0u);
  EXPECT_GT(result.load_when_steady, 0.8);  // 48 buckets are the nearest that fit
}

}  // namespace
}  // namespace weir::anifilter::trials
