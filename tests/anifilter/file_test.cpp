// SPDX-License-Identifier: Apache-2.0
// Filters in files: who may open them, and what happens when that fails.
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "weir/anifilter/filter.hpp"
#include "weir/runtime/error.hpp"
#include "weir/runtime/rng.hpp"

#include "support/temporary_directory.hpp"

namespace weir::anifilter {
namespace {

using testing::HasSubstr;

Options small_options() {
  Options options;
  options.buckets = 64;
  return options;
}

std::string contents(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

template <class E, class Body>
std::string message(Body&& body) {
  try {
    body();
  } catch (const E& error) {
    return error.what();
  }
  return "nothing was thrown";
}

class FilterFile : public testing::Test {
 protected:
  Filter make() { return Filter::create(path_, small_options()); }
  static OpenOptions reading() {
    OpenOptions options;
    options.region.writable = false;
    return options;
  }
  test::TemporaryDirectory directory_;
  std::filesystem::path path_ = directory_ / "a.weir";
};

TEST_F(FilterFile, KeepsItsKeys) {
  {
    Filter filter = make();
    for (std::uint64_t key = 0; key < 200; ++key)
      ASSERT_EQ(filter.insert(key), InsertResult::inserted);
    ASSERT_EQ(filter.insert(std::string_view("a string")), InsertResult::inserted);
    ASSERT_TRUE(filter.erase(std::uint64_t{7}));
    filter.close();
  }
  const Filter filter = Filter::open(path_);
  EXPECT_EQ(filter.size(), 200u);
  EXPECT_TRUE(filter.contains(std::string_view("a string")));
  for (std::uint64_t key = 0; key < 200; ++key)
    if (key != 7) {
      EXPECT_TRUE(filter.contains(key)) << key;
    }
}

TEST_F(FilterFile, HasOneWriter) {
  const Filter filter = make();
  EXPECT_THROW(static_cast<void>(Filter::open(path_)), Busy);
  EXPECT_THROW(static_cast<void>(Filter::open(path_, reading())), Busy);
}

TEST_F(FilterFile, HasManyReadersAndThenNoWriter) {
  make().close();
  const Filter one = Filter::open(path_, reading());
  const Filter two = Filter::open(path_, reading());
  EXPECT_EQ(one.size(), two.size());
  EXPECT_THROW(static_cast<void>(Filter::open(path_)), Busy);
}

TEST_F(FilterFile, IsNotChangedByAReader) {
  {
    Filter filter = make();
    for (std::uint64_t key = 0; key < 300; ++key) static_cast<void>(filter.insert(key));
    filter.close();
  }
  const std::string before = contents(path_);
  Filter filter = Filter::open(path_, reading());
  EXPECT_TRUE(filter.contains(std::uint64_t{1}));
  EXPECT_TRUE(filter.verify().ok());
  EXPECT_THROW(static_cast<void>(filter.insert(std::uint64_t{1})), Unsupported);
  EXPECT_THROW(static_cast<void>(filter.erase(std::uint64_t{1})), Unsupported);
  const std::uint64_t keys[] = {1, 2};
  InsertResult inserted[2];
  bool erased[2];
  EXPECT_THROW(static_cast<void>(filter.insert(keys, inserted)), Unsupported);
  EXPECT_THROW(static_cast<void>(filter.erase(keys, erased)), Unsupported);
  filter.close();
  EXPECT_EQ(contents(path_), before);
}

TEST_F(FilterFile, IsNotMadeOverAnother) {
  make().close();
  const std::string before = contents(path_);
  EXPECT_THROW(static_cast<void>(make()), InvalidArgument);
  EXPECT_EQ(contents(path_), before);
}

TEST_F(FilterFile, OpenOrCreateDoesEither) {
  {
    Filter filter = Filter::open_or_create(path_, small_options());
    ASSERT_EQ(filter.insert(std::uint64_t{5}), InsertResult::inserted);
  }
  EXPECT_TRUE(Filter::open_or_create(path_, small_options()).contains(std::uint64_t{5}));
}

TEST_F(FilterFile, OpenOrCreateRefusesOtherOptions) {
  make().close();
  const auto refuses = [&](auto&& change) {
    Options options = small_options();
    change(options);
    return message<InvalidArgument>(
        [&] { static_cast<void>(Filter::open_or_create(path_, options)); });
  };
  EXPECT_THAT(refuses([](Options& o) { o.layout = Layout::k7x8; }), HasSubstr("layout"));
  EXPECT_THAT(refuses([](Options& o) { o.consistency = Consistency::strict; }),
              HasSubstr("consistency"));
  EXPECT_THAT(refuses([](Options& o) { o.hash_seed = 9; }), HasSubstr("seed"));
  EXPECT_THAT(refuses([](Options& o) { o.buckets = 72; }), HasSubstr("capacity"));
}

TEST_F(FilterFile, TruncatedIsRefused) {
  make().close();
  for (const std::uintmax_t size : {std::uintmax_t{8192 + 64 * 8 - 64}, std::uintmax_t{100}}) {
    std::filesystem::resize_file(path_, size);
    EXPECT_THROW(static_cast<void>(Filter::open(path_)), CorruptData) << size;
  }
  std::filesystem::resize_file(path_, 0);
  EXPECT_THROW(static_cast<void>(Filter::open(path_)), CorruptData);
}

TEST_F(FilterFile, AbsentIsAnIoError) {
  EXPECT_THROW(static_cast<void>(Filter::open(path_)), IoError);
  EXPECT_THROW(static_cast<void>(Filter::open(directory_.path())), Error);
}

TEST_F(FilterFile, NoSpaceLeavesNoFile) {
  Options options;
  options.buckets = 1 << 17;  // 1 MiB
  const auto before = std::signal(SIGXFSZ, SIG_IGN);
  rlimit old{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &old), 0);
  const rlimit low{65536, old.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &low), 0);
  const std::string error =
      message<OutOfSpace>([&] { static_cast<void>(Filter::create(path_, options)); });
  setrlimit(RLIMIT_FSIZE, &old);
  std::signal(SIGXFSZ, before);
  EXPECT_THAT(error, HasSubstr("a.weir"));
  EXPECT_FALSE(std::filesystem::exists(path_));
  static_cast<void>(make());  // and nothing is in the way later
}

TEST(FilterOptions, AbsurdOnesAreRefused) {
  const auto refuses = [](auto&& change) {
    Options options;
    options.capacity = 1000;
    change(options);
    return message<InvalidArgument>([&] { static_cast<void>(Filter::region_size(options)); });
  };
  EXPECT_THAT(refuses([](Options& o) { o.capacity = 0; }), HasSubstr("capacity is 0"));
  EXPECT_THAT(refuses([](Options& o) { o.capacity = ~std::uint64_t{0}; }), HasSubstr("capacity"));
  EXPECT_THAT(refuses([](Options& o) { o.capacity = std::uint64_t{1} << 40; }),
              HasSubstr("capacity"));
  EXPECT_THAT(refuses([](Options& o) { o.max_load = 0; }), HasSubstr("max_load"));
  EXPECT_THAT(refuses([](Options& o) { o.max_load = 1; }), HasSubstr("max_load"));
  EXPECT_THAT(refuses([](Options& o) { o.max_load = -0.5; }), HasSubstr("max_load"));
  EXPECT_THAT(refuses([](Options& o) { o.max_load = std::nan(""); }), HasSubstr("max_load"));
  EXPECT_THAT(refuses([](Options& o) { o.buckets = 8; }), HasSubstr("not both"));
  const auto buckets = [&](std::uint64_t n) {
    return refuses([n](Options& o) {
      o.capacity = 0;
      o.buckets = n;
    });
  };
  EXPECT_THAT(buckets(12), HasSubstr("multiple of 8"));
  EXPECT_THAT(buckets(std::uint64_t{1} << 32), HasSubstr("multiple of 8"));
}

TEST(FilterRegion, TooSmallIsRefused) {
  Options options;
  options.buckets = 64;
  EXPECT_THROW(static_cast<void>(Filter::create(make_memory_region(Bytes{8192}), options)),
               InvalidArgument);
}

}  // namespace
}  // namespace weir::anifilter
