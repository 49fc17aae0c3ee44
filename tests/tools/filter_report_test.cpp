// SPDX-License-Identifier: Apache-2.0
#include "tool_test.hpp"

namespace weir::tool {
namespace {

using ::testing::HasSubstr;

class FilterReport : public ToolTest {
 protected:
  FilterReport() { ok("weir filter create a -c 1000 -q; seq 1000 | weir filter add a -q"); }

  /// Overwrites bytes of the filter.
  void patch(std::size_t offset, const std::string& bytes) const {
    std::string file = read("a");
    file.replace(offset, bytes.size(), bytes);
    write("a", file);
  }
};

TEST_F(FilterReport, StatsForPeople) {
  const std::string out = ok("weir filter stats a");
  EXPECT_THAT(out, HasSubstr("1,000 in 1,080 slots, load 92.6 %"));
  EXPECT_THAT(out, HasSubstr("5x12: 5 slots of 12 bits in each of 216 buckets"));
  EXPECT_EQ(ok("weir filter stats a --quiet"), "");
}

TEST_F(FilterReport, StatsForPrograms) {
  const auto stats = json("weir filter stats a --json --threads 2");
  EXPECT_EQ(stats["command"], "stats");
  EXPECT_EQ(stats["size"], 1000);
  EXPECT_EQ(stats["buckets"], 216);
  EXPECT_NEAR(stats["load_factor"], 1000.0 / 1080, 1e-12);
  EXPECT_GT(stats["expected_fpr"], 0.0005);
  EXPECT_LT(stats["expected_fpr"], 0.0024);
  EXPECT_EQ(stats["spillable_buckets"], true);
  EXPECT_EQ(stats["open"]["header_repaired"], false);
}

TEST_F(FilterReport, SoundFilterVerifies) {
  EXPECT_EQ(ok("weir filter verify a"), "a: sound\n");
  const auto report = json("weir filter verify a --json");
  EXPECT_EQ(report["ok"], true);
  EXPECT_EQ(report["problem_count"], 0);
}

TEST_F(FilterReport, VerifyFindsDamageInTheTable) {
  std::string word = read("a").substr(8192, 8);
  word[7] = static_cast<char>(word[7] | 0x80);  // bit 63 is never set
  patch(8192, word);
  const auto result = shell("weir filter verify a");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.out, HasSubstr("a: 1 problem\n  bucket 0: "));
  const auto report = json("weir filter verify a --json", 1);
  EXPECT_EQ(report["ok"], false);
  EXPECT_EQ(report["problems"].size(), 1u);
}

TEST_F(FilterReport, OneBadHeaderCopyIsRepairedByAWriter) {
  patch(0, std::string(96, 'x'));
  ok("weir filter stats a");  // a reader uses the other copy and changes nothing
  EXPECT_EQ(read("a").substr(0, 8), "xxxxxxxx");
  ok("weir filter add a -k more");
  EXPECT_EQ(read("a").substr(0, 8), "WEIRANIF");
  ok("weir filter verify a");
}

TEST_F(FilterReport, FilesThatAreNoFilterAreRefused) {
  const std::string filter = read("a");
  const auto changed = [&filter](std::size_t offset, const std::string& bytes) {
    std::string file = filter;  // both copies of the header
    for (const std::size_t copy : {0u, 2048u}) file.replace(copy + offset, bytes.size(), bytes);
    return file;
  };
  const std::vector<std::pair<std::string, std::string>> cases{
      {"", "empty"},
      {"short", "too few"},
      {std::string(20'000, 'x'), "magic"},
      {std::string(20'000, '\0'), "empty"},
      {changed(0, "WEIRD"), "magic"},
      {changed(8, std::string("\x02\0\0\0", 4)), "version"},
      {changed(12, std::string("\x01\x02\x03\x04", 4)), "byte order"},
      {changed(32, std::string("\x08\0\0\0", 4)), "checksum"},
      {filter.substr(0, filter.size() - 64), "truncated"}};
  for (const auto& [bytes, reason] : cases) {
    write("b", bytes);
    for (const auto* command : {"stats b", "add b -k x", "query b -k x", "remove b -k x"}) {
      const auto result = shell("weir filter " + std::string(command));
      EXPECT_EQ(result.exit_code, 3) << command << ": " << reason;
      EXPECT_THAT(result.err, HasSubstr(reason)) << command;
    }
    const auto verified = shell("weir filter verify b");
    EXPECT_EQ(verified.exit_code, 1) << reason;
    EXPECT_THAT(verified.out, HasSubstr(reason));
    EXPECT_EQ(read("b"), bytes) << "a refused file was changed";
  }
  EXPECT_EQ(json("weir filter stats b --json", 3)["error"]["kind"], "corrupt");
}

TEST_F(FilterReport, AbsentAndBusyFiltersAreNoAnswer) {
  EXPECT_EQ(shell("weir filter stats absent").exit_code, 3);
  EXPECT_EQ(shell("weir filter verify absent").exit_code, 3);
  EXPECT_EQ(shell("weir filter verify .").exit_code, 3);
  const auto busy = shell(
      "mkfifo keys; weir filter add a keys -q & exec 3>keys\n"
      "until ! weir filter query a -k 1 -q 2>/dev/null; do sleep 0.01; done\n"
      "weir filter verify a; code=$?; exec 3>&-; wait; exit $code");
  EXPECT_EQ(busy.exit_code, 3);
  EXPECT_THAT(busy.err, HasSubstr("in use"));
}

TEST_F(FilterReport, ReadersShareAFilterThatCannotBeWritten) {
  ok("chmod 444 a; weir filter query a -k 1; weir filter stats a; weir filter verify a");
  ok("mkfifo keys; weir filter query a keys >found & exec 3>keys; echo 2 >&3; sleep 0.05\n"
     "weir filter query a -k 1; exec 3>&-; wait; grep -qx 2 found");
}

}  // namespace
}  // namespace weir::tool
