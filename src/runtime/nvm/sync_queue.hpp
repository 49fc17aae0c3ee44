// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <mutex>
#include <thread>
#include <unordered_map>

namespace weir {

class PersistentRegion;

namespace detail {

/// What each thread has flushed since its last fence: from its first page to its last. One msync
/// over that writes other dirty pages in between as well, which costs far less than to wait for the
/// disk once for every page. A mutex is enough: the msync costs a hundred times more.
class SyncQueues {
 public:
  /// Adds the page of `p` to what the calling thread has to sync.
  void add(PersistentRegion& region, const void* p);
  /// Calls region.sync() once, if the calling thread has flushed anything.
  void sync(PersistentRegion& region);

 private:
  struct Range {
    std::size_t begin;
    std::size_t end;
  };
  void widen(const Range& by);

  std::mutex mutex_;
  // Guarded by mutex_. Offsets from the region's start; an entry lives from a thread's first flush
  // to its next fence.
  std::unordered_map<std::thread::id, Range> ranges_;
};

}  // namespace detail
}  // namespace weir
