// SPDX-License-Identifier: Apache-2.0
// The one thin layer through which persistent words are touched. A structure is a template over one
// of these policies, so that the same code runs natively, counted, or recorded for crash
// exploration.
//
// Facts it rests on (Intel SDM; Raad et al., "Persistency semantics of the Intel-x86 architecture",
// POPL'20): an aligned 8-byte store is failure-atomic; stores to one 64-byte line persist in
// program order; different lines persist in any order until a flush of the line and a fence after
// it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>

#include <immintrin.h>

#include "weir/runtime/persistent_region.hpp"

namespace weir {

using Word = std::uint64_t;                      ///< the failure-atomic unit
inline constexpr std::size_t kLineBytes = 64;    ///< the unit of flushing
inline constexpr std::size_t kBlockBytes = 256;  ///< the unit of 3D-XPoint media
inline constexpr std::size_t kWordsPerLine = kLineBytes / sizeof(Word);

/// Flush and fence are compiled out: for flush instruction `none` (eADR, or durability that does
/// not depend on caches). Stores become durable in the order in which they become visible.
class FlushFreeAccess {
 public:
  static constexpr bool kFlushes = false;  ///< flush and fence do something
  static constexpr bool kDirect = true;    ///< words may also be read by vector loads
  explicit FlushFreeAccess(PersistentRegion&) {}

  Word load(const Word* p) const { return __atomic_load_n(p, __ATOMIC_ACQUIRE); }
  void store(Word* p, Word value) const { __atomic_store_n(p, value, __ATOMIC_RELEASE); }
  bool cas(Word* p, Word expected, Word desired) const {
    return __atomic_compare_exchange_n(p, &expected, desired, false, __ATOMIC_ACQ_REL,
                                       __ATOMIC_ACQUIRE);
  }
  void flush(const void*) const {}
  void fence() const {}
  void prefetch(const void* p) const { __builtin_prefetch(p); }
  void prefetch_write(const void* p) const { __builtin_prefetch(p, 1); }
  void pause() const { _mm_pause(); }
  void begin_operation() const {}
  void end_operation() const {}
  /// True only in a recording run that asked for this seeded fault (to test that it is caught).
  static constexpr bool fault(unsigned) { return false; }
};

/// The region's flush instruction, chosen at run time by a well-predicted branch.
class NativeAccess : public FlushFreeAccess {
 public:
  static constexpr bool kFlushes = true;
  explicit NativeAccess(PersistentRegion& region)
      : FlushFreeAccess(region), instruction_(region.flush_instruction()), region_(&region) {}

  void flush(const void* p) const;
  void fence() const;

 private:
  FlushInstruction instruction_;
  PersistentRegion* region_;
};

/// Events of one run, or of one thread of it.
struct AccessCounts {
  std::uint64_t operations = 0;     ///< outermost begin_operation() calls
  std::uint64_t lines_read = 0;     ///< distinct lines loaded or prefetched, summed per operation
  std::uint64_t lines_written = 0;  ///< distinct lines stored to, summed per operation
  std::uint64_t blocks = 0;         ///< distinct 256-byte blocks touched, summed per operation
  std::uint64_t words_written = 0;  ///< stores and successful compare-and-swaps
  std::uint64_t flushes = 0;
  std::uint64_t fences = 0;

  AccessCounts& operator+=(const AccessCounts& other);
  friend AccessCounts operator-(AccessCounts a, const AccessCounts& b);
};

/// Where CountingAccess counts: one slot a thread, no atomics on the way. total() and reset() must
/// not run while another thread counts.
class AccessCounter {
 public:
  AccessCounter();
  ~AccessCounter();
  [[nodiscard]] AccessCounts total() const;
  void reset();

  // Called by CountingAccess.
  void on_load(const void* p);
  void on_store(const void* p);
  void on_flush();
  void on_fence();
  void on_begin();
  void on_end();

 private:
  struct Slot;
  Slot& slot();
  struct State;
  std::unique_ptr<State> state_;
};

namespace detail {
AccessCounter* require_counter(PersistentRegion& region);   // throws InvalidArgument if it has none
CrashRecorder* require_recorder(PersistentRegion& region);  // likewise
}  // namespace detail

/// Counts into the region's AccessCounter. Reads and writes are those of the algorithm, so the
/// figures do not depend on caches. An access outside begin/end_operation shares its lines and
/// blocks with no other; `operations` does not count it.
class CountingAccess : public FlushFreeAccess {
 public:
  static constexpr bool kFlushes = true;
  static constexpr bool kDirect = false;
  explicit CountingAccess(PersistentRegion& region)
      : FlushFreeAccess(region), counter_(detail::require_counter(region)) {}

  Word load(const Word* p) const { return counter_->on_load(p), FlushFreeAccess::load(p); }
  void store(Word* p, Word value) const {
    counter_->on_store(p);
    FlushFreeAccess::store(p, value);
  }
  bool cas(Word* p, Word expected, Word desired) const {
    counter_->on_load(p);
    const bool swapped = FlushFreeAccess::cas(p, expected, desired);
    if (swapped) counter_->on_store(p);
    return swapped;
  }
  void flush(const void*) const { counter_->on_flush(); }
  void fence() const { counter_->on_fence(); }
  void prefetch(const void* p) const { counter_->on_load(p); }
  void prefetch_write(const void* p) const { counter_->on_load(p); }
  void begin_operation() const { counter_->on_begin(); }
  void end_operation() const { counter_->on_end(); }

 private:
  AccessCounter* counter_;
};

/// Records into the region's CrashRecorder (crash_explorer.hpp); every access is also a point where
/// run_interleaved may switch threads.
class RecordingAccess : public FlushFreeAccess {
 public:
  static constexpr bool kFlushes = true;
  static constexpr bool kDirect = false;
  explicit RecordingAccess(PersistentRegion& region)
      : FlushFreeAccess(region), recorder_(detail::require_recorder(region)) {}

  Word load(const Word* p) const;
  void store(Word* p, Word value) const;
  bool cas(Word* p, Word expected, Word desired) const;
  void flush(const void* p) const;
  void fence() const;
  void prefetch(const void*) const {}
  void prefetch_write(const void*) const {}
  void pause() const;
  [[nodiscard]] bool fault(unsigned id) const;

 private:
  CrashRecorder* recorder_;
};

/// Brackets one operation (or a batch) for the counting policy; free for the others.
template <class Access>
class OperationScope {
 public:
  explicit OperationScope(const Access& access) : access_(access) { access_.begin_operation(); }
  ~OperationScope() { access_.end_operation(); }
  OperationScope(const OperationScope&) = delete;
  OperationScope& operator=(const OperationScope&) = delete;

 private:
  const Access& access_;
};

namespace detail {
void queue_for_sync(PersistentRegion& region, const void* p);  // remembers the page, this thread
void sync_queued(PersistentRegion& region);                    // msync of what was remembered
}  // namespace detail

inline void NativeAccess::flush(const void* p) const {
  switch (instruction_) {
    case FlushInstruction::clwb:
      // clwb (%rax), spelled in bytes: no -mclwb, so that one build runs everywhere. CPUID was
      // asked.
      asm volatile(".byte 0x66, 0x0f, 0xae, 0x30" : : "a"(p) : "memory");
      break;
    case FlushInstruction::clflushopt:
      asm volatile(".byte 0x66, 0x0f, 0xae, 0x38" : : "a"(p) : "memory");
      break;
    case FlushInstruction::clflush:
      _mm_clflush(p);
      break;
    case FlushInstruction::msync:
      detail::queue_for_sync(*region_, p);
      break;
    case FlushInstruction::none:
      break;
  }
}

inline void NativeAccess::fence() const {
  if (instruction_ == FlushInstruction::msync)
    detail::sync_queued(*region_);
  else if (instruction_ != FlushInstruction::none)
    _mm_sfence();
}

}  // namespace weir
