// SPDX-License-Identifier: Apache-2.0
#include "support/results.hpp"

#include <array>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support/program.hpp"

namespace weir::bench {
namespace {

constexpr std::array kBars{
    at_least("speed", "insert_ratio", 6, 10),
    within("counts", "fpr_over_theory", 0.97, 1.03),
    reported("speed", "mops"),
};

class ResultsFile : public testing::Test {
 protected:
  ResultsFile() {
    folder_ = std::filesystem::path(testing::TempDir()) /
              testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::remove_all(folder_);
  }
  ~ResultsFile() override { std::filesystem::remove_all(folder_); }
  std::string path() const { return (folder_ / "deep" / "results.json").string(); }
  std::string content() const {
    std::ifstream file(path());
    return {std::istreambuf_iterator<char>(file), {}};
  }

  std::filesystem::path folder_;
};

std::string sample_results() {
  const RunOptions options{.seed = 3};
  Figures figures(kBars, options);
  figures.add({.name = "insert_ratio",
               .value = 7.9,
               .min = 7.1,
               .max = 8.4,
               .samples = 5,
               .baseline = "cuckoo 12-bit",
               .config = "5x12",
               .probe = 0.97});
  figures.skip("mops", "busy");
  return results_json("anifilter", figures, options, read_machine(), 12.34);
}

TEST(ResultsJson, FollowsTheContract) {
  EXPECT_EQ(contract_problems(sample_results()), std::vector<std::string>{});
}

TEST(ResultsJson, SaysWhatWasAskedAndWhatIsMissing) {
  const auto json = nlohmann::json::parse(sample_results());
  EXPECT_EQ(json["schema"], "weir-results-1");
  EXPECT_EQ(json["module"], "anifilter");
  EXPECT_GE(json["machine"]["cores"].get<int>(), 1);
  EXPECT_TRUE(json["machine"].contains("gpu"));
  const auto& figure = json["figures"][0];
  EXPECT_EQ(figure["kind"], "measured");
  EXPECT_EQ(figure["better"], "higher");
  EXPECT_EQ(figure["mode"], "quick");
  EXPECT_EQ(figure["seed"], 3);
  EXPECT_TRUE(figure["ceiling"].is_null());
  EXPECT_EQ(figure["probe"], 0.97);
  EXPECT_EQ(figure["must"], 6);
  EXPECT_EQ(figure["reach"], 10);
  EXPECT_EQ(figure["met"], "must");
  ASSERT_EQ(json["missing"].size(), 2u);
  EXPECT_EQ(json["missing"][0]["name"], "fpr_over_theory");
  EXPECT_EQ(json["missing"][0]["must"], (nlohmann::json{0.97, 1.03}));
  EXPECT_EQ(json["missing"][0]["reason"], "not measured");
  EXPECT_EQ(json["missing"][1]["reason"], "busy");
  EXPECT_EQ(json["skipped"][0]["reason"], "busy");
}

TEST(ResultsContract, RefusesWhatDoesNotFollowIt) {
  EXPECT_FALSE(contract_problems("{").empty());
  EXPECT_FALSE(contract_problems("[]").empty());
  const auto good = nlohmann::json::parse(sample_results());
  const auto broken = [&](auto change) {
    auto json = good;
    change(json);
    return !contract_problems(json.dump()).empty();
  };
  EXPECT_FALSE(broken([](auto&) {}));
  EXPECT_TRUE(broken([](auto& json) { json["schema"] = "weir-results-2"; }));
  EXPECT_TRUE(broken([](auto& json) { json.erase("commit"); }));
  EXPECT_TRUE(broken([](auto& json) { json["machine"].erase("cpu"); }));
  EXPECT_TRUE(broken([](auto& json) { json["figures"][0]["kind"] = "guessed"; }));
  EXPECT_TRUE(broken([](auto& json) { json["figures"][0].erase("config"); }));
  EXPECT_TRUE(broken([](auto& json) { json["figures"][0]["value"] = "7.9"; }));
  EXPECT_TRUE(broken([](auto& json) { json["figures"][0]["max"] = 1; }));
  EXPECT_TRUE(broken([](auto& json) { json["figures"][0]["samples"] = 0; }));
  EXPECT_TRUE(broken([](auto& json) { json["figures"].push_back(1); }));
}

TEST(ResultsTable, NamesEveryFigureMissingOrNot) {
  const RunOptions options;
  Figures figures(kBars, options);
  figures.add({.name = "insert_ratio", .value = 5});
  figures.skip("mops", "busy");
  const std::string table = results_table(figures, options);
  EXPECT_NE(table.find("insert_ratio     5.000 x"), std::string::npos) << table;
  EXPECT_NE(table.find(">= 6 (aim 10)"), std::string::npos) << table;
  EXPECT_NE(table.find("0.97 to 1.03"), std::string::npos) << table;
  EXPECT_NE(table.find("skipped: busy"), std::string::npos) << table;
}

// --- the program ---------------------------------------------------------------------------------

void run_poor(Figures& figures, const RunOptions&) {
  figures.add({.name = "insert_ratio", .value = 0.1});
}
void run_wrong(Figures& figures, const RunOptions&) { figures.check(1 + 1 == 3, "a lost key"); }
void run_throwing(Figures&, const RunOptions&) { throw std::runtime_error("out of luck"); }

constexpr Topic kPoor{"speed", "a poor figure", run_poor};
constexpr Topic kWrong{"counts", "a wrong result", run_wrong};
constexpr Topic kThrowing{"counts", "throws", run_throwing};

int run(std::vector<Topic> topics, std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "program");
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  const int code = run_figures("sample", "A sample program", topics, kBars,
                               static_cast<int>(arguments.size()), arguments.data());
  testing::internal::GetCapturedStdout();
  testing::internal::GetCapturedStderr();
  return code;
}

TEST_F(ResultsFile, IsWrittenAndAPoorFigureDoesNotFail) {
  EXPECT_EQ(run({kPoor}, {"--out", path().c_str()}), 0);
  EXPECT_EQ(contract_problems(content()), std::vector<std::string>{});
  EXPECT_EQ(nlohmann::json::parse(content())["figures"][0]["met"], "no");
}

TEST_F(ResultsFile, IsWrittenButAWrongResultFails) {
  EXPECT_EQ(run({kPoor, kWrong}, {"--out", path().c_str()}), 1);
  EXPECT_EQ(nlohmann::json::parse(content())["wrong"][0], "a lost key");
}

TEST_F(ResultsFile, IsWrittenWhenATopicThrows) {
  EXPECT_EQ(run({kThrowing, kPoor}, {"--out", path().c_str()}), 1);
  EXPECT_EQ(nlohmann::json::parse(content())["figures"].size(), 1u);
}

TEST_F(ResultsFile, IsNotWrittenForABadCommandLine) {
  EXPECT_EQ(run({kPoor}, {"--out", path().c_str(), "--only", "["}), 2);
  EXPECT_EQ(run({kPoor}, {"--out", path().c_str(), "--only", "nothing has this name"}), 2);
  EXPECT_EQ(run({kPoor}, {"--out", path().c_str(), "--unknown"}), 2);
  EXPECT_EQ(run({kPoor}, {"--list"}), 0);
  EXPECT_EQ(run({kPoor}, {"--help"}), 0);
  EXPECT_FALSE(std::filesystem::exists(path()));
}

TEST_F(ResultsFile, ThatCannotBeWrittenFails) {
  EXPECT_EQ(run({kPoor}, {"--out", "/proc/no/such/place.json"}), 1);
}

}  // namespace
}  // namespace weir::bench
