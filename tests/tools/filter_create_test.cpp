// SPDX-License-Identifier: Apache-2.0
#include "tool_test.hpp"

namespace weir::tool {
namespace {

using ::testing::HasSubstr;
using FilterCreate = ToolTest;

TEST_F(FilterCreate, SaysWhatItMade) {
  const std::string out = ok("weir filter create a.weir --capacity 1k");
  EXPECT_THAT(out, HasSubstr("created a.weir: 1,080 slots of 12 bits"));
  EXPECT_THAT(out, HasSubstr("holds 1,026 keys at 95.0 % load"));
  EXPECT_EQ(ok("weir filter create b.weir --capacity 1k --quiet"), "");
}

TEST_F(FilterCreate, JsonHasWhatWasStored) {
  const auto made = json(
      "weir filter create a.weir --buckets 16 --layout 4x15 --consistency strict --seed 0xFF "
      "--json");
  EXPECT_EQ(made["layout"], "4x15");
  EXPECT_EQ(made["consistency"], "strict");
  EXPECT_EQ(made["hash_seed"], 255);
  EXPECT_EQ(made["buckets"], 16);
  EXPECT_EQ(made["slots"], 64);
  EXPECT_EQ(made["durability"], "process_crash");
  EXPECT_EQ(made["bytes"], std::filesystem::file_size(path("a.weir")));
  const auto stats = json("weir filter stats a.weir --json");
  for (const auto* field : {"layout", "consistency", "hash_seed", "buckets", "slots", "bytes"})
    EXPECT_EQ(stats[field], made[field]) << field;
}

TEST_F(FilterCreate, SizeIsAnUpperBoundThatIsUsed) {
  for (const std::uint64_t size : {8256u, 8319u, 8320u, 100'000u}) {
    const std::string name = std::to_string(size);
    const auto made = json("weir filter create " + name + " --json --size " + name);
    EXPECT_LE(made["bytes"], size);
    EXPECT_GT(made["bytes"].get<std::uint64_t>() + 64, size);
  }
  EXPECT_EQ(shell("weir filter create a --size 8255").exit_code, 2);
}

TEST_F(FilterCreate, MaxLoadLeavesRoom) {
  EXPECT_EQ(json("weir filter create a -c 760 --max-load 0.95 --json")["buckets"], 160);
  EXPECT_EQ(json("weir filter create b -c 760 --max-load 50% --json")["buckets"], 304);
}

TEST_F(FilterCreate, NeedsExactlyOneSize) {
  for (const auto* sizes :
       {"", "-c 10 --buckets 8", "-c 10 --size 1M", "-c 1 --size 1M --buckets 8"}) {
    const auto result = shell(std::string("weir filter create a ") + sizes);
    EXPECT_EQ(result.exit_code, 2) << sizes;
    EXPECT_THAT(result.err, HasSubstr("exactly one"));
    EXPECT_FALSE(std::filesystem::exists(path("a")));
  }
}

TEST_F(FilterCreate, RefusesBadValues) {
  for (const auto* options :
       {"-c 0", "-c 10x", "-c -5", "--buckets 12", "--buckets 4294967296", "-c 1e13",
        "-c 10 --max-load 2", "-c 10 --max-load x", "-c 10 --seed x", "-c 10 --seed -1"}) {
    const auto result = shell(std::string("weir filter create a ") + options);
    EXPECT_EQ(result.exit_code, 2) << options;
    EXPECT_THAT(result.err, ::testing::StartsWith("weir: ")) << options;
    EXPECT_FALSE(std::filesystem::exists(path("a")));
  }
}

TEST_F(FilterCreate, RandomSeedsDiffer) {
  const auto seed = [this](const std::string& name) {
    return json("weir filter create " + name + " -c 10 --seed random --json")["hash_seed"];
  };
  EXPECT_NE(seed("a"), seed("b"));
}

TEST_F(FilterCreate, RefusesToOverwrite) {
  write("thesis", "years of work");
  const auto result = shell("weir filter create thesis -c 10");
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.err, HasSubstr("thesis exists; --force replaces"));
  EXPECT_EQ(read("thesis"), "years of work");
}

TEST_F(FilterCreate, ForceReplacesOnlyFilters) {
  write("thesis", "years of work");
  EXPECT_EQ(shell("weir filter create thesis -c 10 --force").exit_code, 3);
  EXPECT_EQ(read("thesis"), "years of work");

  ok("weir filter create a -c 10 -q && weir filter add a -k old -q");
  const auto made = json("weir filter create a -c 1000 --force --json");
  EXPECT_EQ(made["replaced"], true);
  EXPECT_EQ(shell("weir filter query a -k old").exit_code, 1);
  EXPECT_EQ(json("weir filter stats a --json")["slots"], made["slots"]);
  EXPECT_FALSE(std::filesystem::exists(path("a.replacing")));
  EXPECT_EQ(json("weir filter create new -c 10 --force --json")["replaced"], false);
}

TEST_F(FilterCreate, ForceKeepsTheOldFilterWhenTheNewOneCannotBe) {
  ok("weir filter create a -c 10 -q && weir filter add a -k old -q");
  EXPECT_EQ(shell("weir filter create a -c 10 --force --durability power_fail").exit_code, 3);
  EXPECT_EQ(shell("weir filter create a -c 1e13 --force").exit_code, 2);
  ok("weir filter query a -k old");
}

TEST_F(FilterCreate, ForceReplacesWhatALinkPointsTo) {
  ok("weir filter create a -c 10 -q && ln -s a link && weir filter create link -c 1000 --force");
  EXPECT_TRUE(std::filesystem::is_symlink(path("link")));
  EXPECT_GT(json("weir filter stats a --json")["slots"], 1000);
}

TEST_F(FilterCreate, ForceRefusesAFilterThatIsInUse) {
  // Background jobs of a script: the writer holds the filter until its input ends.
  const auto result = shell(
      "weir filter create a -c 10 -q; mkfifo keys; weir filter add a keys -q & exec 3>keys\n"
      "until ! weir filter stats a -q 2>/dev/null; do sleep 0.01; done\n"
      "weir filter create a -c 10 --force; code=$?; exec 3>&-; wait; exit $code");
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.err, HasSubstr("in use"));
}

TEST_F(FilterCreate, SaysWhenTheMediumCannotDoIt) {
  const auto nowhere = shell("weir filter create absent/a -c 10");
  EXPECT_EQ(nowhere.exit_code, 3);
  EXPECT_THAT(nowhere.err, HasSubstr("absent"));
  const auto volatile_medium = shell("weir filter create a -c 10 --durability power_fail");
  EXPECT_EQ(volatile_medium.exit_code, 3);
  EXPECT_THAT(volatile_medium.err, HasSubstr("power_fail"));
  EXPECT_FALSE(std::filesystem::exists(path("a")));
}

}  // namespace
}  // namespace weir::tool
