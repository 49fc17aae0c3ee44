// SPDX-License-Identifier: Apache-2.0
#include "weir/runtime/units.hpp"

#include <gtest/gtest.h>

namespace {

using weir::Bytes;
using weir::to_string;
using namespace weir::literals;

TEST(Bytes, AddsScalesAndCompares) {
  static_assert(1_KiB == 1024_B);
  static_assert(1_KiB + 1_B > 1_KiB);
  static_assert(2_MiB * 512 == 1_GiB);
  EXPECT_EQ(Bytes{}.value, 0u);
}

TEST(Bytes, PrintsTheLargestUnitThatFits) {
  EXPECT_EQ(to_string(0_B), "0 B");
  EXPECT_EQ(to_string(640_B), "640 B");
  EXPECT_EQ(to_string(1023_B), "1023 B");
  EXPECT_EQ(to_string(1_KiB), "1 KiB");
  EXPECT_EQ(to_string(1536_KiB), "1.5 MiB");
  EXPECT_EQ(to_string(3_GiB), "3 GiB");
  EXPECT_EQ(to_string(Bytes{1} * (1ull << 40)), "1 TiB");
}

TEST(Bytes, PrintingRoundsAndCarriesIntoTheNextUnit) {
  EXPECT_EQ(to_string(Bytes{1075}), "1 KiB");            // 1.0498
  EXPECT_EQ(to_string(Bytes{1076}), "1.1 KiB");          // 1.0508
  EXPECT_EQ(to_string(Bytes{(1u << 20) - 1}), "1 MiB");  // 1023.999 KiB
  EXPECT_EQ(to_string(Bytes{~0ull}), "16 EiB");
}

}  // namespace
