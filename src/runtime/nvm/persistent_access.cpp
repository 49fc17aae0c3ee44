// SPDX-License-Identifier: Apache-2.0
#include "weir/runtime/persistent_access.hpp"

#include <atomic>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <vector>

#include "weir/runtime/error.hpp"
#include "weir/runtime/hash.hpp"

namespace weir {

AccessCounts& AccessCounts::operator+=(const AccessCounts& other) {
  operations += other.operations;
  lines_read += other.lines_read;
  lines_written += other.lines_written;
  blocks += other.blocks;
  words_written += other.words_written;
  flushes += other.flushes;
  fences += other.fences;
  return *this;
}

AccessCounts operator-(AccessCounts a, const AccessCounts& b) {
  a.operations -= b.operations;
  a.lines_read -= b.lines_read;
  a.lines_written -= b.lines_written;
  a.blocks -= b.blocks;
  a.words_written -= b.words_written;
  a.flushes -= b.flushes;
  a.fences -= b.fences;
  return a;
}

namespace {

enum Touch : std::uint64_t { kRead = 1, kWritten = 2, kBlock = 4 };

/// What the current operation has touched: a set of (number, kind) that is emptied in O(1).
class TouchSet {
 public:
  /// True the first time in this operation.
  bool insert(std::uint64_t number, Touch kind) {
    if (2 * (used_ + 1) > entries_.size()) grow();
    const std::uint64_t key = number << 3 | kind;
    std::size_t i = position(key);
    for (; entries_[i].generation == generation_; i = (i + 1) & (entries_.size() - 1))
      if (entries_[i].key == key) return false;
    entries_[i] = {key, generation_};
    ++used_;
    return true;
  }

  void clear() {
    ++generation_;
    used_ = 0;
  }

 private:
  struct Entry {
    std::uint64_t key = 0;
    std::uint64_t generation = 0;  // 0: never used
  };

  std::size_t position(std::uint64_t key) const { return mix64(key) & (entries_.size() - 1); }

  void grow() {
    std::vector<Entry> old(entries_.size() * 2);
    old.swap(entries_);
    for (const Entry& entry : old) {
      if (entry.generation != generation_) continue;
      std::size_t i = position(entry.key);
      while (entries_[i].generation == generation_) i = (i + 1) & (entries_.size() - 1);
      entries_[i] = entry;
    }
  }

  std::vector<Entry> entries_ = std::vector<Entry>(256);
  std::uint64_t generation_ = 1;
  std::size_t used_ = 0;
};

}  // namespace

struct AccessCounter::Slot {
  AccessCounts counts;
  TouchSet touched;
  unsigned depth = 0;  // of nested scopes; the outermost is the operation

  bool first(std::uint64_t number, Touch kind) {
    return depth == 0 || touched.insert(number, kind);
  }
  void touch(const void* p, Touch kind) {
    const auto address = reinterpret_cast<std::uintptr_t>(p);
    if (first(address / kLineBytes, kind))
      ++(kind == kRead ? counts.lines_read : counts.lines_written);
    if (first(address / kBlockBytes, kBlock)) ++counts.blocks;
  }
};

struct AccessCounter::State {
  // Distinguishes counters in the threads' caches; an address could be used again.
  const std::uint64_t id = [] {
    static std::atomic<std::uint64_t> next{1};
    return next.fetch_add(1, std::memory_order_relaxed);
  }();
  mutable std::mutex mutex;
  // Guarded by mutex. The slot of a thread that ended stays, since its counts do; a later thread
  // with its id goes on in it.
  std::unordered_map<std::thread::id, std::unique_ptr<Slot>> slots;
};

AccessCounter::AccessCounter() : state_(std::make_unique<State>()) {}
AccessCounter::~AccessCounter() = default;

AccessCounter::Slot& AccessCounter::slot() {
  thread_local std::uint64_t cached_id = 0;
  thread_local Slot* cached = nullptr;
  if (cached_id != state_->id) {
    std::lock_guard lock(state_->mutex);
    auto& slot = state_->slots[std::this_thread::get_id()];
    if (!slot) slot = std::make_unique<Slot>();
    cached = slot.get();
    cached_id = state_->id;
  }
  return *cached;
}

AccessCounts AccessCounter::total() const {
  std::lock_guard lock(state_->mutex);
  AccessCounts sum;
  for (const auto& [thread, slot] : state_->slots) sum += slot->counts;
  return sum;
}

void AccessCounter::reset() {
  std::lock_guard lock(state_->mutex);
  for (auto& [thread, slot] : state_->slots) slot->counts = {};
}

void AccessCounter::on_load(const void* p) { slot().touch(p, kRead); }

void AccessCounter::on_store(const void* p) {
  Slot& mine = slot();
  ++mine.counts.words_written;
  mine.touch(p, kWritten);
}

void AccessCounter::on_flush() { ++slot().counts.flushes; }
void AccessCounter::on_fence() { ++slot().counts.fences; }

void AccessCounter::on_begin() {
  Slot& mine = slot();
  if (mine.depth++ == 0) {
    ++mine.counts.operations;
    mine.touched.clear();
  }
}

void AccessCounter::on_end() {
  Slot& mine = slot();
  if (mine.depth > 0) --mine.depth;
}

namespace detail {

AccessCounter* require_counter(PersistentRegion& region) {
  WEIR_EXPECTS(region.counter() != nullptr,
               "CountingAccess over region '" + region.name() +
                   "', which has no counter; use make_counting_region()");
  return region.counter();
}

CrashRecorder* require_recorder(PersistentRegion& region) {
  WEIR_EXPECTS(region.recorder() != nullptr, "RecordingAccess over region '" + region.name() +
                                                 "', which has no recorder; use a RecordedRegion");
  return region.recorder();
}

}  // namespace detail
}  // namespace weir
