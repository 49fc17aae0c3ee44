// SPDX-License-Identifier: Apache-2.0
#include "sync_queue.hpp"

#include <algorithm>
#include <cstdint>

#include "weir/runtime/error.hpp"
#include "weir/runtime/persistent_access.hpp"

namespace weir::detail {
namespace {

// msync works on pages; a larger page only makes the ranges that sync() rounds a little longer.
constexpr std::size_t kPageBytes = 4096;

}  // namespace

void SyncQueues::widen(const Range& by) {
  const auto [it, is_first] = ranges_.try_emplace(std::this_thread::get_id(), by);
  it->second = {std::min(it->second.begin, by.begin), std::max(it->second.end, by.end)};
}

void SyncQueues::add(PersistentRegion& region, const void* p) {
  const auto bytes = region.bytes();
  const auto offset =
      reinterpret_cast<std::uintptr_t>(p) - reinterpret_cast<std::uintptr_t>(bytes.data());
  WEIR_EXPECTS(offset < bytes.size(), "flush: the address is not part of region " + region.name() +
                                          "; flush only its bytes");
  const std::size_t page = offset / kPageBytes * kPageBytes;
  std::lock_guard lock(mutex_);
  widen({page, std::min(page + kPageBytes, bytes.size())});
}

void SyncQueues::sync(PersistentRegion& region) {
  Range range;
  {
    std::lock_guard lock(mutex_);
    const auto it = ranges_.find(std::this_thread::get_id());
    if (it == ranges_.end()) return;
    range = it->second;
    ranges_.erase(it);
  }
  try {
    region.sync(region.bytes().subspan(range.begin, range.end - range.begin));
  } catch (...) {
    // Not durable, so it stays queued: a second fence must not return as if it were.
    std::lock_guard lock(mutex_);
    widen(range);
    throw;
  }
}

void queue_for_sync(PersistentRegion& region, const void* p) { sync_queues(region).add(region, p); }

void sync_queued(PersistentRegion& region) { sync_queues(region).sync(region); }

}  // namespace weir::detail
