// SPDX-License-Identifier: Apache-2.0
#include "support/figures.hpp"

#include <array>
#include <cmath>

#include <gtest/gtest.h>

#include "weir/runtime/error.hpp"

namespace weir::bench {
namespace {

constexpr std::array kBars{
    at_least("speed", "insert_ratio", 6, 10),
    at_most("counts", "lines", 2.3, 2.2),
    within("counts", "fpr_over_theory", 0.97, 1.03),
    at_least("crash", "crash_states_*", 10'000),
    at_least("crash", "kill_rounds", 200).in_full(2000),
    at_least("speed", "insert_ratio_27", 7, 12).full_only(),
    at_least("speed", "lookup_ratio_27", std::nullopt, 1.0).full_only(),
    reported("speed", "mops"),
};

TEST(Bar, JudgesMustAndReachInItsDirection) {
  EXPECT_EQ(judge(kBars[0], 5.9, false), Met::no);
  EXPECT_EQ(judge(kBars[0], 6.0, false), Met::must);
  EXPECT_EQ(judge(kBars[0], 10.0, false), Met::reach);
  EXPECT_EQ(judge(kBars[1], 2.31, false), Met::no);
  EXPECT_EQ(judge(kBars[1], 2.3, false), Met::must);
  EXPECT_EQ(judge(kBars[1], 2.2, false), Met::reach);
}

TEST(Bar, JudgesARangeAtBothEnds) {
  EXPECT_EQ(judge(kBars[2], 0.96, false), Met::no);
  EXPECT_EQ(judge(kBars[2], 0.97, false), Met::must);
  EXPECT_EQ(judge(kBars[2], 1.03, false), Met::must);
  EXPECT_EQ(judge(kBars[2], 1.04, false), Met::no);
}

TEST(Bar, AsksMoreOfAFullRunWhereItSaysSo) {
  EXPECT_EQ(judge(kBars[4], 200, false), Met::must);
  EXPECT_EQ(judge(kBars[4], 200, true), Met::no);
  EXPECT_EQ(judge(kBars[4], 2000, true), Met::must);
}

TEST(Bar, WithAnAimAloneIsMetOnlyByTheAim) {
  EXPECT_EQ(judge(kBars[6], 0.99, true), Met::no);
  EXPECT_EQ(judge(kBars[6], 1.0, true), Met::reach);
  EXPECT_EQ(judge(kBars[7], 1.0, true), Met::not_asked);
}

TEST(Figures, KeepsWhatIsMissingApartFromWhatIsMet) {
  Figures figures(kBars, {});
  figures.add({.name = "insert_ratio", .value = 7});
  figures.add({.name = "crash_states_erase", .value = 12'000, .unit = ""});
  figures.skip("lines", "no time");
  EXPECT_EQ(figures.missing(),
            (std::vector<std::string>{"lines", "fpr_over_theory", "kill_rounds", "mops"}));
  ASSERT_EQ(figures.skipped().size(), 1u);
  EXPECT_EQ(figures.skipped()[0].reason, "no time");
  EXPECT_TRUE(figures.wrong_results().empty());
}

TEST(Figures, AFullRunMissesItsOwnFiguresToo) {
  Figures figures(kBars, {.full = true});
  EXPECT_EQ(figures.missing().size(), kBars.size());
}

TEST(Figures, OnlyChoosesFiguresAndTopics) {
  Figures one(kBars, {.only = "^lines$"});
  EXPECT_TRUE(one.wants_topic("counts"));
  EXPECT_FALSE(one.wants_topic("speed"));
  one.enter_topic("counts");
  EXPECT_TRUE(one.wants("lines"));
  EXPECT_FALSE(one.wants("fpr_over_theory"));
  one.add({.name = "fpr_over_theory", .value = 1});
  EXPECT_TRUE(one.figures().empty());
  EXPECT_EQ(one.missing(), std::vector<std::string>{"lines"});

  Figures topic(kBars, {.only = "^counts$"});
  topic.enter_topic("counts");
  EXPECT_TRUE(topic.wants("fpr_over_theory"));
  EXPECT_TRUE(topic.wants("any other figure of it"));
  EXPECT_EQ(topic.missing().size(), 2u);
}

TEST(Figures, RefusesABrokenPattern) {
  EXPECT_THROW(Figures(kBars, {.only = "["}), InvalidArgument);
}

TEST(Figures, TakesNotANumberAndDoublesAsWrong) {
  Figures figures(kBars, {});
  figures.add({.name = "mops", .value = std::nan("")});
  figures.add({.name = "lines", .value = 2});
  figures.add({.name = "lines", .value = 2});
  EXPECT_EQ(figures.figures().size(), 1u);
  EXPECT_EQ(figures.wrong_results().size(), 2u);
}

TEST(Figures, FillsInSeedAndSpread) {
  Figures figures(kBars, {.seed = 7});
  figures.add(Figure{.name = "mops"}.over(spread_of({3, 1, 2})));
  const Figure* figure = figures.find("mops");
  ASSERT_NE(figure, nullptr);
  EXPECT_EQ(figure->value, 2);
  EXPECT_EQ(figure->min, 1);
  EXPECT_EQ(figure->max, 3);
  EXPECT_EQ(figure->samples, 3u);
  EXPECT_EQ(figure->seed, 7u);
}

}  // namespace
}  // namespace weir::bench
