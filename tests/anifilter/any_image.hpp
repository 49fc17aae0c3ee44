// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "weir/anifilter/filter.hpp"
#include "weir/runtime/error.hpp"

#include "anifilter/trials_table.hpp"

namespace weir::anifilter::test {

/// Whatever the bytes: open() refuses them with CorruptData, or the filter can be used without
/// undefined behaviour and without end (what it answers is another matter). True if it opened.
inline bool use_any_image(std::span<std::byte> image, bool writable) {
  trials::ImageRegion region(image, writable);
  try {
    Filter filter = Filter::open(region);
    static_cast<void>(filter.verify());
    static_cast<void>(filter.stats());
    std::uint64_t keys[12];
    bool found[12];
    InsertResult inserted[12];
    for (std::uint64_t i = 0; i < 12; ++i) keys[i] = i;
    static_cast<void>(filter.contains(keys, found));
    if (!writable) return true;
    for (int i = 0; i < 4; ++i) static_cast<void>(filter.insert(keys[i]));
    static_cast<void>(filter.insert(keys, inserted));
    for (const std::uint64_t key : keys) static_cast<void>(filter.contains(key));
    for (const std::uint64_t key : keys) static_cast<void>(filter.erase(key));
    static_cast<void>(filter.erase(keys, found));
    filter.close();
    return true;
  } catch (const CorruptData&) {
    return false;
  }
}

}  // namespace weir::anifilter::test
