// SPDX-License-Identifier: Apache-2.0
#include "weir/text.hpp"

#include <gtest/gtest.h>

#include "weir/program.hpp"

namespace weir::tool {
namespace {

TEST(ToolText, ParsesCountsWithSuffixes) {
  EXPECT_EQ(parse_count("--n", "0"), 0u);
  EXPECT_EQ(parse_count("--n", "12"), 12u);
  EXPECT_EQ(parse_count("--n", "18446744073709551615"), UINT64_MAX);
  EXPECT_EQ(parse_count("--n", "10k"), 10'000u);
  EXPECT_EQ(parse_count("--n", "1.5M"), 1'500'000u);
  EXPECT_EQ(parse_count("--n", "1e9"), 1'000'000'000u);
  EXPECT_EQ(parse_count("--n", "2G"), 2'000'000'000u);
  EXPECT_EQ(parse_count("--n", "64Ki"), 65'536u);
  EXPECT_EQ(parse_count("--n", "1GiB"), 1u << 30);
  EXPECT_EQ(parse_count("--n", "3MB"), 3'000'000u);
  EXPECT_EQ(parse_count("--n", "0x10"), 16u);
}

TEST(ToolText, RefusesOtherCountsAndSaysWhatIsAllowed) {
  for (const auto* text : {"", "x", "-1", "1.5X", "10 M", "1e30", "nan", "inf", "0x",
                           "18446744073709551616T", "1Mii"}) {
    try {
      parse_count("--n", text);
      ADD_FAILURE() << text;
    } catch (const UsageError& error) {
      EXPECT_NE(std::string(error.what()).find("--n is '" + std::string(text) + "'; allowed"),
                std::string::npos);
    }
  }
}

TEST(ToolText, ParsesFractions) {
  EXPECT_DOUBLE_EQ(parse_fraction("--f", "0.95"), 0.95);
  EXPECT_DOUBLE_EQ(parse_fraction("--f", "95%"), 0.95);
  EXPECT_THROW(parse_fraction("--f", "95 percent"), UsageError);
  EXPECT_THROW(parse_fraction("--f", "-1"), UsageError);
}

TEST(ToolText, ParsesIntegers) {
  EXPECT_EQ(parse_integer("007"), 7u);
  EXPECT_EQ(parse_integer("0xFfFfFfFfFfFfFfFf"), UINT64_MAX);
  for (const auto* text :
       {"", "+1", "-1", "1.0", "1 ", "0x", "18446744073709551616", "0x10000000000000000"})
    EXPECT_EQ(parse_integer(text), std::nullopt) << text;
}

TEST(ToolText, WritesNumbersForPeople) {
  EXPECT_EQ(with_commas(0), "0");
  EXPECT_EQ(with_commas(999), "999");
  EXPECT_EQ(with_commas(1000), "1,000");
  EXPECT_EQ(with_commas(1234567), "1,234,567");
  EXPECT_EQ(short_count(999), "999");
  EXPECT_EQ(short_count(12'345'678), "12.3 M");
  EXPECT_EQ(short_count(999'999), "1.00 M");
  EXPECT_EQ(percent(0), "0.0 %");
  EXPECT_EQ(percent(0.00182), "0.182 %");
  EXPECT_EQ(percent(0.95), "95.0 %");
  EXPECT_EQ(keys(1), "1 key");
  EXPECT_EQ(keys(0), "0 keys");
}

TEST(ToolText, QuotesKeysForMessages) {
  EXPECT_EQ(in_quotes("abc"), "'abc'");
  EXPECT_EQ(in_quotes("a'b\\"), "'a\\'b\\\\'");
  EXPECT_EQ(in_quotes(std::string_view("\t\0\x7f", 3)), "'\\x09\\x00\\x7f'");
  EXPECT_EQ(in_quotes(std::string(1000, 'x')), "'" + std::string(60, 'x') + "'... (1000 bytes)");
}

TEST(ToolText, SuggestsTheNearestNameOnly) {
  const std::vector<std::string> names{"create", "add", "query", "remove"};
  EXPECT_EQ(nearest("craete", names), "create");
  EXPECT_EQ(nearest("qry", names), "query");
  EXPECT_EQ(nearest("ad", names), "add");
  EXPECT_EQ(nearest("re", names), "remove");
  EXPECT_EQ(nearest("frobnicate", names), "");
  EXPECT_EQ(nearest("x", {}), "");
}

}  // namespace
}  // namespace weir::tool
