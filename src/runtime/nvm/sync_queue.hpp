// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <vector>

namespace weir {

class PersistentRegion;

namespace detail {

/// The pages that each thread has flushed since its last fence. A mutex is enough: what follows is
/// an msync, which costs a hundred times more.
class SyncQueues {
 public:
  /// Remembers the page of `p` for the calling thread.
  void add(PersistentRegion& region, const void* p);
  /// Calls region.sync() once for every run of adjacent pages of the calling thread.
  void sync(PersistentRegion& region);

 private:
  std::mutex mutex_;
  // Guarded by mutex_. Offsets of pages from the region's start; an entry lives from a thread's
  // first flush to its next fence.
  std::unordered_map<std::thread::id, std::vector<std::size_t>> pages_;
};

}  // namespace detail
}  // namespace weir
