// SPDX-License-Identifier: Apache-2.0
#include "support/timing.hpp"

#include <vector>

#include <gtest/gtest.h>

#include "support/machine.hpp"

namespace weir::bench {
namespace {

TEST(Spread, IsTheMiddleAndTheEnds) {
  const Spread odd = spread_of({5, 1, 3});
  EXPECT_EQ(odd.median, 3);
  EXPECT_EQ(odd.min, 1);
  EXPECT_EQ(odd.max, 5);
  EXPECT_EQ(odd.samples, 3u);
  EXPECT_EQ(spread_of({4, 1, 3, 2}).median, 2.5);
  EXPECT_EQ(spread_of({}).samples, 0u);
}

TEST(Rounds, TakeTheRatioRoundByRound) {
  std::vector<char> order;
  double ours = 10;
  const std::vector<std::function<double()>> rivals{[&] { return order.push_back('a'), ours *= 2; },
                                                    [&] { return order.push_back('b'), 10.0; }};
  const Rounds rounds = run_rounds(3, rivals);
  EXPECT_EQ(order, (std::vector<char>{'a', 'b', 'a', 'b', 'a', 'b'}));
  const Spread ratio = rounds.ratio(0, 1);
  EXPECT_EQ(ratio.min, 2);
  EXPECT_EQ(ratio.median, 4);
  EXPECT_EQ(ratio.max, 8);
  EXPECT_EQ(ratio.samples, 3u);
  EXPECT_EQ(rounds.rate(1).median, 10);
}

TEST(CpuTimer, AddsUpPartsOnly) {
  CpuTimer timer;
  timer.start();
  double sink = 0;
  for (int i = 0; i < 1'000'000; ++i) sink = sink + i;
  timer.stop();
  EXPECT_GT(sink, 0);
  const double part = timer.seconds();
  EXPECT_GT(part, 0);
  for (int i = 0; i < 1'000'000; ++i) sink = sink + i;
  EXPECT_EQ(timer.seconds(), part);
}

TEST(RunProbed, AcceptsARunBetweenTwoGoodProbes) {
  Progress silent(nullptr);
  int runs = 0;
  const Probed result = run_probed(
      silent, [&] { ++runs; }, 10, 0.85, [] { return 0.9; });
  EXPECT_TRUE(result.ok);
  EXPECT_EQ(result.probe, 0.9);
  EXPECT_EQ(runs, 1);
}

TEST(RunProbed, RetriesWhenTheCoreIsTakenMeanwhile) {
  Progress silent(nullptr);
  std::vector<double> probes{0.5, 0.9, 0.5, 0.9, 0.95};
  std::size_t next = 0;
  int runs = 0;
  const Probed result = run_probed(
      silent, [&] { ++runs; }, 10, 0.85, [&] { return probes.at(next++); },
      std::chrono::milliseconds(0));
  EXPECT_TRUE(result.ok);
  EXPECT_EQ(result.tries, 3u);
  EXPECT_EQ(runs, 2);
  EXPECT_EQ(result.probe, 0.9);
}

TEST(RunProbed, GivesUpWithoutAGoodProbe) {
  Progress silent(nullptr);
  int runs = 0;
  const Probed result = run_probed(
      silent, [&] { ++runs; }, 2, 0.85, [] { return 0.6; }, std::chrono::milliseconds(0));
  EXPECT_FALSE(result.ok);
  EXPECT_EQ(result.tries, 2u);
  EXPECT_EQ(runs, 0);
}

TEST(Machine, IsDescribed) {
  const MachineInfo machine = read_machine();
  EXPECT_FALSE(machine.cpu.empty());
  EXPECT_GE(machine.cores, 1u);
  EXPECT_GT(machine.memory_gib, 0);
  EXPECT_FALSE(source_commit().empty());
  EXPECT_FALSE(build_info().compiler.empty());
  std::vector<char> memory(1 << 16, 'x');
  EXPECT_NE(page_description(memory.data()).find("pages"), std::string::npos);
  EXPECT_EQ(cache_description({.l2_bytes = 10, .l3_bytes = 100}, 101), "beyond L3");
}

}  // namespace
}  // namespace weir::bench
