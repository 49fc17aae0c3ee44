// SPDX-License-Identifier: Apache-2.0
// libFuzzer target: whatever the bytes of a file, Filter::open() refuses them with CorruptData or
// gives a filter that can be used.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "weir/runtime/hash.hpp"

#include "anifilter/any_image.hpp"

namespace {

constexpr std::size_t kHeader = 96;
constexpr std::size_t kCopyB = 2048;
constexpr std::size_t kLog = 4096;
constexpr std::size_t kLogBytes = 128;
constexpr std::size_t kTable = 8192;
constexpr std::size_t kMostWords = 64;

}  // namespace

// Input: a byte of choices, the header, two log records, bucket words. The gaps of a file are left
// out, so that a mutation hits something.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1 + kHeader + kLogBytes) return 0;
  const std::uint8_t choices = data[0];
  const std::size_t words = std::min((size - 1 - kHeader - kLogBytes) / 8, kMostWords);
  weir::anifilter::trials::Image image(weir::Bytes{kTable + 8 * words});
  std::byte* const bytes = image.bytes().data();
  std::memcpy(bytes, data + 1, kHeader);
  std::memcpy(bytes + kLog, data + 1 + kHeader, kLogBytes);
  std::memcpy(bytes + kTable, data + 1 + kHeader + kLogBytes, 8 * words);
  if ((choices & 1) != 0) {  // a size that fits
    const std::uint64_t buckets = words / 8 * 8;
    const std::uint64_t total = kTable + 8 * buckets;
    std::memcpy(bytes + 32, &buckets, 8);
    std::memcpy(bytes + 72, &total, 8);
  }
  if ((choices & 2) != 0) {  // no mutation finds the right checksum
    const std::uint64_t checksum = weir::hash_bytes(image.bytes().first(kHeader - 8));
    std::memcpy(bytes + kHeader - 8, &checksum, 8);
  }
  if ((choices & 4) != 0) std::memcpy(bytes + kCopyB, bytes, kHeader);
  weir::anifilter::test::use_any_image(image.bytes(), (choices & 8) == 0);
  return 0;
}
