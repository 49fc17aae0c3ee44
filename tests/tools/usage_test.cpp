// SPDX-License-Identifier: Apache-2.0
#include "tool_test.hpp"

namespace weir::tool {
namespace {

using ::testing::HasSubstr;
using Usage = ToolTest;

TEST_F(Usage, EveryCommandHasHelpWithUsageAndExitCodes) {
  for (const auto* command : {"create", "add", "query", "remove", "stats", "verify"}) {
    const std::string help = ok(std::string("weir filter ") + command + " --help");
    EXPECT_THAT(help, HasSubstr(std::string("Usage: weir filter ") + command + " FILTER"));
    EXPECT_THAT(help, HasSubstr("Exit codes: 0 "));
    for (std::size_t begin = 0; begin < help.size();) {
      const std::size_t end = help.find('\n', begin);
      ASSERT_NE(end, std::string::npos) << "the help does not end with a newline";
      EXPECT_LE(end - begin, 100u) << help.substr(begin, end - begin);
      begin = end + 1;
    }
  }
  EXPECT_THAT(ok("weir --help"), HasSubstr("filter "));
  EXPECT_THAT(ok("weir filter --help"), HasSubstr("weir filter create words.weir"));
}

TEST_F(Usage, ShowsItsVersion) {
  EXPECT_THAT(ok("weir --version"), ::testing::StartsWith("weir 0."));
}

TEST_F(Usage, WithoutACommandShowsHelpAndFails) {
  for (const auto* command : {"weir", "weir filter"}) {
    const auto result = shell(command);
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_EQ(result.out, "");
    EXPECT_THAT(result.err, HasSubstr("Usage: " + std::string(command) + " COMMAND"));
  }
}

TEST_F(Usage, SuggestsTheNearestName) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"weir filtr create a", "unknown command 'filtr'; did you mean 'filter'?\nSee 'weir --help'"},
      {"weir filter qeury a",
       "unknown command 'qeury'; did you mean 'query'?\nSee 'weir filter --help'"},
      {"weir filter create a --capcity 3",
       "unknown option '--capcity'; did you mean '--capacity'?\nSee 'weir filter create --help'"},
      {"weir filter create a --capcity=3", "did you mean '--capacity'?"},
      {"weir filter stats a b", "unknown argument 'b'\nSee 'weir filter stats --help'"},
      {"weir --versoin", "did you mean '--version'?"},
      {"weir filter frobnicate", "unknown command 'frobnicate'\n"},
      {"weir filter create a -c 1 --layout 5x13",
       "allowed are 7x8, 6x10, 5x12, 4x15 and 3x20 (did you mean 5x12?)"},
      {"weir filter create a -c 1 --consistency stric", "(did you mean strict?)"},
      {"weir filter add a --keys bin", "allowed are lines, u64 and binary (did you mean"},
      {"weir filter add a --durability power-fail", "(did you mean power_fail?)"}};
  for (const auto& [command, message] : cases) {
    const auto result = shell(command);
    EXPECT_EQ(result.exit_code, 2) << command;
    EXPECT_THAT(result.err, HasSubstr(message)) << command;
  }
}

TEST_F(Usage, NamesWhatIsMissing) {
  EXPECT_THAT(shell("weir filter stats").err, HasSubstr("FILTER is required"));
  EXPECT_EQ(shell("weir filter stats").exit_code, 2);
  EXPECT_EQ(shell("weir filter create a -c").exit_code, 2);
}

TEST_F(Usage, FilesMayHaveTheNamesOfCommands) {
  ok("weir filter create stats -c 10 -q");
  write("query", "k\n");
  ok("weir filter add stats query");
  EXPECT_EQ(json("weir filter stats stats --json")["size"], 1);
}

TEST_F(Usage, FailuresAreAlsoJson) {
  const auto error = json("weir filter stats absent.weir --json", 3)["error"];
  EXPECT_EQ(error["kind"], "io");
  EXPECT_EQ(error["exit_code"], 3);
  EXPECT_THAT(error["message"].get<std::string>(), HasSubstr("there is no file absent.weir"));
}

TEST_F(Usage, ReportsOutputThatCannotBeWritten) {
  ok("weir filter create a -c 10 -q");
  for (const auto* command :
       {"weir filter stats a >/dev/full", "weir filter stats a --json >/dev/full",
        "echo x | weir filter query a -v >/dev/full"}) {
    const auto result = shell(command);
    EXPECT_EQ(result.exit_code, 3) << command;
    EXPECT_THAT(result.err, HasSubstr("weir: cannot write")) << command;
  }
}

}  // namespace
}  // namespace weir::tool
