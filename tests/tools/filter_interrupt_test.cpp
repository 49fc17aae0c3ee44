// SPDX-License-Identifier: Apache-2.0
#include "tool_test.hpp"

namespace weir::tool {
namespace {

using ::testing::HasSubstr;

/// Starts `weir filter $verb a`, feeds it through a pipe that stays open, signals it.
class FilterInterrupt : public ToolTest {
 protected:
  FilterInterrupt() { ok("weir filter create a -c 100k -q; seq 1 1000 >one; seq 1001 1500 >two"); }

  /// The second write fits into the pipe only when the program has read the first, and is read only
  /// when the first was dealt with.
  [[nodiscard]] std::string script(const std::string& verb, const std::string& signal) const {
    return "set -m; mkfifo keys; weir filter " + verb +
           " a --json <keys >report & pid=$!; exec 3>keys\n"
           "cat one >&3; sleep 0.1; cat two >&3; sleep 0.1\n"
           "kill -" +
           signal + " $pid; wait $pid; code=$?; cat report; exit $code";
  }
};

TEST_F(FilterInterrupt, AddKeepsWhatItSaysItAdded) {
  for (const auto* signal : {"INT", "TERM"}) {
    ok("rm -f keys; weir filter create a -c 100k --force -q");
    const auto result = shell(script("add", signal));
    EXPECT_EQ(result.exit_code, 130) << signal << result.err;
    EXPECT_THAT(result.err, HasSubstr("interrupted after standard input, line "));
    EXPECT_THAT(result.err, HasSubstr("(safe from a process crash)"));
    const auto report = nlohmann::json::parse(result.out);
    EXPECT_EQ(report["interrupted"], true);
    const auto added = report["added"].get<std::uint64_t>();
    EXPECT_GE(added, 1000u);
    EXPECT_EQ(json("weir filter stats a --json")["size"], added);
    EXPECT_EQ(ok("cat one two | head -n " + std::to_string(added) + " | weir filter query a -c"),
              std::to_string(added) + "\n");
    ok("weir filter verify a");
  }
}

TEST_F(FilterInterrupt, RemoveToo) {
  ok("weir filter add a one two -q");
  const auto result = shell(script("remove", "TERM"));
  EXPECT_EQ(result.exit_code, 130) << result.err;
  const auto removed = nlohmann::json::parse(result.out)["removed"].get<std::uint64_t>();
  EXPECT_EQ(json("weir filter stats a --json")["size"], 1500 - removed);
}

TEST_F(FilterInterrupt, BeforeTheFirstKey) {
  const auto result = shell(
      "set -m; mkfifo keys; weir filter add a <keys & pid=$!; exec 3>keys; sleep 0.2\n"
      "kill -INT $pid; wait $pid");
  EXPECT_EQ(result.exit_code, 130);
  EXPECT_THAT(result.err, HasSubstr("interrupted after no key: added 0 keys"));
}

TEST_F(FilterInterrupt, AnIgnoredInterruptStaysIgnored) {
  const auto result = shell(
      "trap '' INT; mkfifo keys; weir filter add a <keys & pid=$!; exec 3>keys; sleep 0.2\n"
      "kill -INT $pid; cat one >&3; exec 3>&-; wait $pid");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(json("weir filter stats a --json")["size"], 1000);
}

TEST_F(FilterInterrupt, KilledAddLosesNothingThatItReported) {
  const auto result = shell(
      "mkfifo keys; weir filter add a <keys & pid=$!; exec 3>keys; cat one >&3; sleep 0.2\n"
      "kill -KILL $pid; wait $pid");
  EXPECT_EQ(result.exit_code, 137);
  EXPECT_EQ(ok("weir filter query a one -c"), "1000\n");
  ok("weir filter verify a");
}

}  // namespace
}  // namespace weir::tool
