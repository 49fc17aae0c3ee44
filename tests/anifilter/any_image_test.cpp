// SPDX-License-Identifier: Apache-2.0
// What the fuzz target does at length, for a few thousand damaged images.
#include "anifilter/any_image.hpp"

#include <algorithm>
#include <cstring>

#include <gtest/gtest.h>

#include "weir/runtime/hash.hpp"

namespace weir::anifilter {
namespace {

using trials::Image;

constexpr std::size_t kCopies[] = {0, 2048};

void mend_checksums(std::span<std::byte> image) {
  for (const std::size_t copy : kCopies) {
    const std::uint64_t checksum = hash_bytes(image.subspan(copy, 88));
    std::memcpy(image.data() + copy + 88, &checksum, 8);
  }
}

TEST(AnyImage, IsRefusedOrUsable) {
  std::uint64_t opened = 0;
  std::uint64_t refused = 0;
  for (std::uint64_t seed = 0; seed < 600; ++seed) {
    Rng rng(seed);
    trials::TableRange range;
    range.consistency = rng.below(2) == 0 ? Consistency::strict : Consistency::relaxed;
    range.most_buckets = 16;
    range.most_load = 0.95;
    Image image = trials::make_table(rng, range).image;
    const std::span<std::byte> bytes = image.bytes();
    const auto damage = [&](std::size_t begin, std::size_t length, std::uint64_t times) {
      for (std::uint64_t i = 0; i < times; ++i)
        bytes[begin + rng.below(length)] = static_cast<std::byte>(rng());
    };
    switch (rng.below(4)) {
      case 0: {  // one field of the header, well signed
        const std::size_t byte = rng.below(88);
        const auto value = static_cast<std::byte>(rng());
        for (const std::size_t copy : kCopies) bytes[copy + byte] = value;
        mend_checksums(bytes);
        break;
      }
      case 1:  // the log
        damage(4096, 128, 1 + rng.below(40));
        break;
      case 2:  // the table
        damage(8192, bytes.size() - 8192, 1 + rng.below(200));
        break;
      default:  // all of it
        damage(0, bytes.size(), 1 + rng.below(3000));
        if (rng.below(2) == 0) mend_checksums(bytes);
    }
    (test::use_any_image(bytes, rng.below(4) != 0) ? opened : refused) += 1;
  }
  EXPECT_GT(opened, 150u);
  EXPECT_GT(refused, 60u);
}

}  // namespace
}  // namespace weir::anifilter
