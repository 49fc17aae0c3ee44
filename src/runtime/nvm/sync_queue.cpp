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

void SyncQueues::add(PersistentRegion& region, const void* p) {
  const auto bytes = region.bytes();
  const auto offset =
      reinterpret_cast<std::uintptr_t>(p) - reinterpret_cast<std::uintptr_t>(bytes.data());
  WEIR_EXPECTS(offset < bytes.size(), "flush: the address is not part of region " + region.name() +
                                          "; flush only its bytes");
  const std::size_t page = offset / kPageBytes * kPageBytes;
  std::lock_guard lock(mutex_);
  auto& pages = pages_[std::this_thread::get_id()];
  if (pages.empty() || pages.back() != page) pages.push_back(page);
}

void SyncQueues::sync(PersistentRegion& region) {
  std::vector<std::size_t> pages;
  {
    std::lock_guard lock(mutex_);
    const auto it = pages_.find(std::this_thread::get_id());
    if (it == pages_.end()) return;
    pages = std::move(it->second);
    pages_.erase(it);
  }
  std::sort(pages.begin(), pages.end());
  pages.erase(std::unique(pages.begin(), pages.end()), pages.end());
  const auto bytes = region.bytes();
  try {
    for (std::size_t i = 0; i < pages.size();) {
      const std::size_t begin = pages[i];
      std::size_t end = begin + kPageBytes;
      for (++i; i < pages.size() && pages[i] == end; ++i) end += kPageBytes;
      region.sync(bytes.subspan(begin, std::min(end, bytes.size()) - begin));
    }
  } catch (...) {
    // Not durable, so they stay queued: a second fence must not return as if they were.
    std::lock_guard lock(mutex_);
    auto& queue = pages_[std::this_thread::get_id()];
    queue.insert(queue.end(), pages.begin(), pages.end());
    throw;
  }
}

void queue_for_sync(PersistentRegion& region, const void* p) { sync_queues(region).add(region, p); }

void sync_queued(PersistentRegion& region) { sync_queues(region).sync(region); }

}  // namespace weir::detail
