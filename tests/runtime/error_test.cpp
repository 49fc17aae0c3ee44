// SPDX-License-Identifier: Apache-2.0
#include "weir/runtime/error.hpp"

#include <cerrno>
#include <string>
#include <type_traits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string message_of(int error) {
  try {
    weir::throw_system_error("cannot open", "/pools/a", error);
  } catch (const weir::Error& e) {
    return e.what();
  }
}

TEST(Error, EveryKindIsAnError) {
  static_assert(std::is_base_of_v<std::runtime_error, weir::Error>);
  static_assert(std::is_base_of_v<weir::Error, weir::InvalidArgument>);
  static_assert(std::is_base_of_v<weir::Error, weir::CorruptData>);
  static_assert(std::is_base_of_v<weir::Error, weir::Busy>);
  static_assert(std::is_base_of_v<weir::Error, weir::Unsupported>);
  static_assert(std::is_base_of_v<weir::IoError, weir::OutOfSpace>);
}

TEST(Error, SystemErrorNamesActionPathAndReason) {
  EXPECT_THAT(message_of(EACCES), AllOf(HasSubstr("cannot open"), HasSubstr("/pools/a"),
                                        HasSubstr("Permission denied")));
}

TEST(Error, FullMediumIsOutOfSpace) {
  EXPECT_THROW(weir::throw_system_error("cannot grow", "p", ENOSPC), weir::OutOfSpace);
  EXPECT_THROW(weir::throw_system_error("cannot grow", "p", EDQUOT), weir::OutOfSpace);
  EXPECT_THAT(message_of(ENOSPC), HasSubstr("free some space"));
}

TEST(Error, OtherRefusalsAreNotOutOfSpace) {
  try {
    weir::throw_system_error("cannot open", "p", ENOENT);
    FAIL() << "did not throw";
  } catch (const weir::OutOfSpace&) {
    FAIL() << "ENOENT is not a lack of space";
  } catch (const weir::IoError&) {
  }
}

TEST(Expects, ThrowsOnlyWhenFalseAndBuildsTheMessageOnlyThen) {
  int built = 0;
  const auto message = [&] {
    ++built;
    return std::string("capacity is 0; allowed are 1 to 100");
  };
  WEIR_EXPECTS(1 + 1 == 2, message());
  EXPECT_EQ(built, 0);
  try {
    WEIR_EXPECTS(1 + 1 == 3, message());
    FAIL() << "did not throw";
  } catch (const weir::InvalidArgument& e) {
    EXPECT_STREQ(e.what(), "capacity is 0; allowed are 1 to 100");
  }
}

}  // namespace
