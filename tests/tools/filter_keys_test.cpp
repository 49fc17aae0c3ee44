// SPDX-License-Identifier: Apache-2.0
#include "tool_test.hpp"

namespace weir::tool {
namespace {

using ::testing::HasSubstr;

class FilterKeys : public ToolTest {
 protected:
  FilterKeys() { ok("weir filter create a -c 10k -q"); }
  [[nodiscard]] std::uint64_t size() const { return json("weir filter stats a --json")["size"]; }
};

TEST_F(FilterKeys, AddsAndFindsLines) {
  write("words", "alpha\nbeta\n\nlast without newline");
  const auto added = json("weir filter add a words --json");
  EXPECT_EQ(added["read"], 4);  // an empty line is a key as well
  EXPECT_EQ(added["added"], 4);
  EXPECT_EQ(added["size"], 4);
  EXPECT_EQ(added["interrupted"], false);
  EXPECT_EQ(ok("weir filter query a words"), "alpha\nbeta\n\nlast without newline\n");
  EXPECT_EQ(ok("printf 'nobody\\nbeta\\n' | weir filter query a"), "beta\n");
  EXPECT_EQ(ok("weir filter query a -k beta --key alpha"), "beta\nalpha\n");
}

TEST_F(FilterKeys, ReadsManyFilesAndStandardInput) {
  write("one", "1\n");
  write("two", "2");
  EXPECT_EQ(json("echo 3 | weir filter add a one - two --key 0 --json")["added"], 4);
  EXPECT_EQ(ok("seq 0 4 | weir filter query a"), "0\n1\n2\n3\n");
}

TEST_F(FilterKeys, NullDelimitedKeysMayHoldNewlines) {
  EXPECT_EQ(json("printf 'a\\nb\\0c' | weir filter add a -z --json")["added"], 2);
  EXPECT_EQ(ok("printf 'c\\0b\\0a\\nb\\0' | weir filter query a --null"),
            std::string("c\0a\nb\0", 6));
}

TEST_F(FilterKeys, NumbersAreTheSameKeysInEveryNotation) {
  ok("printf '1\\n0x10\\n 18446744073709551615 \\r\\n' | weir filter add a --keys u64");
  EXPECT_EQ(ok("printf '0x1\\n16\\n2\\n0xFFFFFFFFFFFFFFFF\\n' | weir filter query a --keys u64"),
            "0x1\n16\n0xFFFFFFFFFFFFFFFF\n");
  write_keys("binary", {1, 16, 2, UINT64_MAX});
  EXPECT_EQ(ok("weir filter query a binary --keys binary -c"), "3\n");
  EXPECT_EQ(ok("weir filter query a binary --keys binary | od -An -v -tx8 -w8"),
            " 0000000000000001\n 0000000000000010\n ffffffffffffffff\n");
}

TEST_F(FilterKeys, BinaryKeysMayArriveInPieces) {
  std::vector<std::uint64_t> keys;
  for (std::uint64_t i = 0; i < 5000; ++i) keys.push_back(i * 0x9E3779B97F4A7C15u);
  write_keys("keys", keys);
  ok("(head -c 13 keys; sleep 0.05; tail -c +14 keys) | weir filter add a --keys binary");
  EXPECT_EQ(ok("weir filter query a keys --keys binary --count"), "5000\n");
  EXPECT_EQ(ok("weir filter query a keys --keys binary | cmp - keys"), "");
}

TEST_F(FilterKeys, MalformedKeysStopWithTheirLine) {
  write("good", "1\n");
  write("bad", "2\n3\nfour\n5\n");
  const auto result = shell("weir filter add a good bad --keys u64");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("weir: bad, line 3: 'four'; allowed is a decimal number"));
  EXPECT_THAT(result.err, HasSubstr("added 3 keys"));
  EXPECT_EQ(size(), 3u);

  for (const auto& [input, message] :
       std::vector<std::pair<std::string, std::string>>{{"1\n\n", "line 2: an empty line"},
                                                        {"-1", "line 1: '-1'"},
                                                        {"18446744073709551616", "below 2^64"},
                                                        {"0xG", "line 1: '0xG'"},
                                                        {"\x01\x1b[2J", "'\\x01\\x1b[2J'"}}) {
    write("input", input);
    const auto refused = shell("weir filter query a input --keys u64");
    EXPECT_EQ(refused.exit_code, 2) << input;
    EXPECT_THAT(refused.err, HasSubstr(message));
  }
  const auto argument = shell("weir filter query a -k 1 -k x --keys u64");
  EXPECT_EQ(argument.exit_code, 2);
  EXPECT_THAT(argument.err, HasSubstr("--key 2: 'x'"));
}

TEST_F(FilterKeys, SkipBadCountsThem) {
  write("keys", "1\nx\n2\n\n3");
  const auto added = json("weir filter add a keys --keys u64 --skip-bad --json");
  EXPECT_EQ(added["added"], 3);
  EXPECT_EQ(added["malformed"], 2);
  EXPECT_THAT(shell("weir filter query a keys --keys u64 --skip-bad").err,
              HasSubstr("skipped 2 malformed keys"));
}

TEST_F(FilterKeys, BinaryInputThatEndsInsideAKeyIsMalformed) {
  write("keys", "12345678abc");
  const auto result = shell("weir filter add a keys --keys binary");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("3 bytes after 1 key; allowed are multiples of 8"));
  EXPECT_EQ(size(), 1u);
  EXPECT_EQ(json("weir filter add a keys --keys binary --skip-bad --json")["malformed"], 1);
}

TEST_F(FilterKeys, AbsurdlyLongLinesAreMalformedAndTheNextOneIsFine) {
  write("keys", "before\n" + std::string((1 << 20) - 1, 'x') + "\n" + std::string(3 << 20, 'y') +
                    "\nafter\n" + std::string(3 << 20, 'z'));
  const auto stopped = shell("weir filter add a keys");
  EXPECT_EQ(stopped.exit_code, 2);
  EXPECT_THAT(stopped.err, HasSubstr("keys, line 3: a key longer than 1048576 bytes"));
  ok("weir filter create a -c 100 --force");
  const auto added = json("weir filter add a keys --skip-bad --json");
  EXPECT_EQ(added["added"], 3);
  EXPECT_EQ(added["malformed"], 2);
  ok("weir filter query a -k after");
}

TEST_F(FilterKeys, InputThatIsNotThereStopsBeforeAnythingIsAdded) {
  write("keys", "1\n");
  const auto result = shell("weir filter add a keys absent");
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.err, HasSubstr("absent"));
  EXPECT_EQ(shell("weir filter add a keys .").exit_code, 2);  // a folder
  EXPECT_EQ(shell("weir filter add a -k x --keys binary").exit_code, 2);
  EXPECT_EQ(size(), 0u);
  const auto no_filter = shell("weir filter add absent keys");
  EXPECT_EQ(no_filter.exit_code, 3);
  EXPECT_THAT(no_filter.err, HasSubstr("weir filter create absent --capacity N"));
}

TEST_F(FilterKeys, QuerySelectsLikeGrep) {
  write("keys", "1\n2\n3\n");
  ok("weir filter add a -k 1 -k 3 -q");
  EXPECT_EQ(ok("weir filter query a keys --invert"), "2\n");
  EXPECT_EQ(ok("weir filter query a keys --count"), "2\n");
  EXPECT_EQ(ok("weir filter query a keys --count --invert"), "1\n");
  EXPECT_EQ(ok("weir filter query a keys --quiet"), "");
  EXPECT_EQ(shell("weir filter query a -k 2").exit_code, 1);
  EXPECT_EQ(shell("weir filter query a -k 1 --invert").exit_code, 1);
  EXPECT_EQ(shell("weir filter query a -k 2 --count").out, "0\n");
  EXPECT_EQ(shell("weir filter query a </dev/null").exit_code, 1);
  EXPECT_EQ(shell("weir filter query a keys --count --json").exit_code, 2);
  const auto summary = json("weir filter query a keys --json");
  EXPECT_EQ(summary["present"], 2);
  EXPECT_EQ(summary["absent"], 1);
  EXPECT_GT(summary["expected_fpr"], 0.0);
}

TEST_F(FilterKeys, QuietQueryStopsAtTheFirstMatch) {
  ok("weir filter add a -k y -q");
  ok("yes | weir filter query a --quiet");  // would not end otherwise
}

TEST_F(FilterKeys, QueryAnswersBeforeItsInputEnds) {
  ok("weir filter add a -k 1 -q");
  // The second key is sent only when the answer to the first has come back.
  EXPECT_EQ(ok("mkfifo in out; weir filter query a <in >out & exec 3>in 4<out\n"
               "echo 1 >&3; read -r -t 20 answer <&4; echo 2 >&3; exec 3>&-; wait; echo $answer"),
            "1\n");
}

TEST_F(FilterKeys, RemoveReportsWhatItDoesNotFind) {
  ok("weir filter add a -k 1 -k 2 -k 2 -q");
  const auto result = shell("weir filter remove a -k 1 -k 2 -k nobody --rejects rest");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("not found: 1 key: 'nobody'"));
  EXPECT_THAT(result.err, HasSubstr("removed 2 keys"));
  EXPECT_EQ(read("rest"), "nobody\n");
  EXPECT_EQ(ok("printf '1\\n2\\n' | weir filter query a"), "2\n");  // was there twice
  const auto summary = json("seq 1000 1020 | weir filter remove a --json", 1);
  EXPECT_EQ(summary["not_found"], 21);
  EXPECT_EQ(summary["removed"], 0);
  EXPECT_THAT(shell("seq 1000 1020 | weir filter remove a").err,
              HasSubstr("'1004', ... (--rejects"));
  ok("weir filter remove a -k 2");
  EXPECT_EQ(size(), 0u);
}

TEST_F(FilterKeys, FullFilterCountsWhatDidNotFitAndSaysWhatToDo) {
  ok("weir filter create s --buckets 8 -q");  // 40 slots
  const auto result = shell("seq 5000 | weir filter add s --rejects rest");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("s is full (load "));
  EXPECT_THAT(result.err, HasSubstr("Make a larger filter (--capacity 5.25k)"));
  const auto stats = json("weir filter stats s --json");
  const auto added = stats["size"].get<std::uint64_t>();
  EXPECT_GE(added, 34u);
  EXPECT_LE(added, 40u);
  // Exactly the keys that are not in `rest` were added, and they are all there.
  EXPECT_EQ(ok("sort rest >sorted; seq 5000 | sort | comm -23 - sorted >added; wc -l <added"),
            std::to_string(added) + "\n");
  EXPECT_EQ(ok("weir filter query s added -c"), std::to_string(added) + "\n");
  const auto again = json("weir filter add s rest --json", 1);
  EXPECT_EQ(again["added"].get<std::uint64_t>() + again["no_room"].get<std::uint64_t>(),
            5000 - added);
}

TEST_F(FilterKeys, RejectsGoOnIntoTheNextFilter) {
  ok("weir filter create s --buckets 8 -q");
  ok("seq 1000 | weir filter add s --rejects - | weir filter add a");
  EXPECT_EQ(json("weir filter stats s --json")["size"].get<std::uint64_t>() + size(), 1000u);
}

TEST_F(FilterKeys, TooManyCopiesAreCountedAndOthersGoOn) {
  const auto result = json("(yes same | head -n 100; echo other) | weir filter add a --json", 1);
  EXPECT_EQ(result["no_room"], 0);
  EXPECT_EQ(result["added"].get<std::uint64_t>() + result["too_many_copies"].get<std::uint64_t>(),
            101u);
  EXPECT_LE(result["added"], 13);
  ok("weir filter query a -k other");
}

TEST_F(FilterKeys, RejectsNeverOverwriteAnInputOrTheFilter) {
  write("keys", "1\n");
  EXPECT_EQ(shell("weir filter add a keys --rejects keys").exit_code, 2);
  EXPECT_EQ(shell("weir filter add a keys --rejects ./a").exit_code, 2);
  EXPECT_EQ(shell("weir filter remove a keys --rejects absent/x").exit_code, 3);
  EXPECT_EQ(read("keys"), "1\n");
  EXPECT_EQ(size(), 0u);
}

TEST_F(FilterKeys, QuietPrintsNothing) {
  for (const auto* command : {"add", "query", "remove"}) {
    const auto result = shell("echo x | weir filter " + std::string(command) + " a --quiet");
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_EQ(result.out + result.err, "");
  }
  EXPECT_EQ(shell("echo x | weir filter remove a --quiet").err, "");
}

TEST_F(FilterKeys, MillionsOfKeysStreamThroughLittleMemory) {
#ifdef __SANITIZE_ADDRESS__
  const std::string limit;  // its shadow counts as data
#else
  const std::string limit = "ulimit -d 16000; ";  // KiB of heap; the text has 15 MB
#endif
  ok("weir filter create big -c 2M -q");
  EXPECT_EQ(json("seq 2000000 | (" + limit + "weir filter add big --threads 1 --json)")["added"],
            2'000'000);
  EXPECT_EQ(ok("seq 2000000 | weir filter query big -c"), "2000000\n");
}

}  // namespace
}  // namespace weir::tool
