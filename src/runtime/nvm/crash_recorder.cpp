// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <limits>

#include "weir/runtime/crash_explorer.hpp"
#include "weir/runtime/error.hpp"

#include "anonymous_memory.hpp"
#include "crash_recorder_state.hpp"

namespace weir {
namespace {

constexpr std::size_t kMaxOperations = std::size_t{1} << 20;

/// Unlike a std::thread::id, never used again after the thread's end.
std::uint64_t thread_token() {
  static std::atomic<std::uint64_t> next{0};
  thread_local const std::uint64_t token = next.fetch_add(1, std::memory_order_relaxed);
  return token;
}

void expect_small(std::size_t id) {
  WEIR_EXPECTS(id < kMaxOperations, "CrashRecorder: operation number " + std::to_string(id) +
                                        "; number them densely from 0, below 2^20");
}

}  // namespace

RecordingThread& recording_thread() {
  thread_local RecordingThread self;
  return self;
}

CrashRecorder::State::State(std::span<std::byte> bytes)
    : image(bytes), base(bytes.begin(), bytes.end()) {}

std::uint64_t CrashRecorder::State::word_of(const void* p) const {
  const auto offset =
      reinterpret_cast<std::uintptr_t>(p) - reinterpret_cast<std::uintptr_t>(image.data());
  WEIR_EXPECTS(
      offset < image.size() && image.size() - offset >= sizeof(Word) && offset % sizeof(Word) == 0,
      "RecordingAccess: not an aligned word of the recorded region (offset " +
          std::to_string(static_cast<std::int64_t>(offset)) + " of " +
          std::to_string(image.size()) + " bytes)");
  return offset / sizeof(Word);
}

std::uint16_t CrashRecorder::State::thread_number() {
  if (const RecordingThread* self = body()) return self->number;
  const auto [it, inserted] =
      numbers.try_emplace(thread_token(), static_cast<std::uint16_t>(next_number));
  if (inserted) {
    WEIR_EXPECTS(next_number <= std::numeric_limits<std::uint16_t>::max(),
                 "CrashRecorder: more than 65536 threads in one log; call restart() between runs");
    ++next_number;
  }
  return it->second;
}

void CrashRecorder::State::log(CrashEvent::Kind kind, std::uint64_t index, Word value) {
  events.push_back({kind, thread_number(), index, value});
}

const RecordingThread* CrashRecorder::State::body() const {
  const RecordingThread& self = recording_thread();
  return self.recorder == this ? &self : nullptr;
}

void CrashRecorder::State::before_access() const {
  if (const RecordingThread* self = body()) self->interleaver->before_access(self->body);
}

void CrashRecorder::State::made_progress() const {
  if (const RecordingThread* self = body()) self->interleaver->made_progress();
}

std::uint16_t CrashRecorder::State::begin_interleaving(std::size_t bodies) {
  std::lock_guard lock(mutex);
  WEIR_EXPECTS(!interleaving, "run_interleaved: this region is in another run_interleaved");
  WEIR_EXPECTS(next_number + bodies <= std::size_t{1} << 16,
               "CrashRecorder: more than 65536 threads in one log; call restart() between runs");
  interleaving = true;
  const auto first = static_cast<std::uint16_t>(next_number);
  next_number += bodies;
  return first;
}

void CrashRecorder::State::end_interleaving() {
  std::lock_guard lock(mutex);
  interleaving = false;
}

CrashRecorder::CrashRecorder(std::span<std::byte> image) : state_(std::make_unique<State>(image)) {}
CrashRecorder::~CrashRecorder() = default;

void CrashRecorder::begin(std::size_t id) {
  expect_small(id);
  std::lock_guard lock(state_->mutex);
  state_->log(CrashEvent::Kind::begin, id);
}

void CrashRecorder::acknowledge(std::size_t id) {
  expect_small(id);
  std::lock_guard lock(state_->mutex);
  state_->log(CrashEvent::Kind::acknowledge, id);
}

void CrashRecorder::set_fault(unsigned id) noexcept {
  state_->fault.store(id, std::memory_order_relaxed);
}

bool CrashRecorder::fault(unsigned id) const noexcept {
  return id != 0 && state_->fault.load(std::memory_order_relaxed) == id;
}

void CrashRecorder::restart() {
  std::lock_guard lock(state_->mutex);
  state_->base.assign(state_->image.begin(), state_->image.end());
  state_->events.clear();
  if (!state_->interleaving) {  // else the numbers of the running bodies are in use
    state_->numbers.clear();
    state_->next_number = 0;
  }
}

const std::vector<CrashEvent>& CrashRecorder::events() const noexcept { return state_->events; }
std::span<const std::byte> CrashRecorder::base() const noexcept { return state_->base; }

Word CrashRecorder::on_load(const Word* p) {
  state_->before_access();
  static_cast<void>(state_->word_of(p));
  return __atomic_load_n(p, __ATOMIC_ACQUIRE);
}

void CrashRecorder::on_store(Word* p, Word value) {
  state_->before_access();
  const std::uint64_t word = state_->word_of(p);
  std::lock_guard lock(state_->mutex);
  __atomic_store_n(p, value, __ATOMIC_RELEASE);
  state_->log(CrashEvent::Kind::store, word, value);
  state_->made_progress();
}

bool CrashRecorder::on_cas(Word* p, Word expected, Word desired) {
  state_->before_access();
  const std::uint64_t word = state_->word_of(p);
  std::lock_guard lock(state_->mutex);
  if (!__atomic_compare_exchange_n(p, &expected, desired, false, __ATOMIC_ACQ_REL,
                                   __ATOMIC_ACQUIRE))
    return false;
  state_->log(CrashEvent::Kind::store, word, desired);
  state_->made_progress();
  return true;
}

void CrashRecorder::on_flush(const void* p) {
  state_->before_access();
  const auto offset =
      reinterpret_cast<std::uintptr_t>(p) - reinterpret_cast<std::uintptr_t>(state_->image.data());
  WEIR_EXPECTS(offset < state_->image.size(),
               "RecordingAccess: flush of an address outside the recorded region (offset " +
                   std::to_string(static_cast<std::int64_t>(offset)) + " of " +
                   std::to_string(state_->image.size()) + " bytes)");
  std::lock_guard lock(state_->mutex);
  state_->log(CrashEvent::Kind::flush, offset / kLineBytes);
}

void CrashRecorder::on_fence() {
  state_->before_access();
  std::lock_guard lock(state_->mutex);
  state_->log(CrashEvent::Kind::fence, 0);
}

void CrashRecorder::on_pause() {
  if (const RecordingThread* self = state_->body())
    self->interleaver->pause(self->body);
  else
    _mm_pause();
}

Word RecordingAccess::load(const Word* p) const { return recorder_->on_load(p); }
void RecordingAccess::store(Word* p, Word value) const { recorder_->on_store(p, value); }
bool RecordingAccess::cas(Word* p, Word expected, Word desired) const {
  return recorder_->on_cas(p, expected, desired);
}
void RecordingAccess::flush(const void* p) const { recorder_->on_flush(p); }
void RecordingAccess::fence() const { recorder_->on_fence(); }
void RecordingAccess::pause() const { recorder_->on_pause(); }
bool RecordingAccess::fault(unsigned id) const { return recorder_->fault(id); }

struct RecordedRegion::State {
  State(Bytes size, FlushInstruction flush_by)
      : memory(size, false), recorder(memory.bytes()), flush(flush_by) {}
  State(std::span<const std::byte> image, FlushInstruction flush_by)
      : State(Bytes{image.size()}, flush_by) {
    std::memcpy(memory.bytes().data(), image.data(), image.size());
    recorder.restart();
  }

  detail::AnonymousMemory memory;
  CrashRecorder recorder;
  FlushInstruction flush;
};

RecordedRegion::RecordedRegion(Bytes size, FlushInstruction flush)
    : state_(std::make_unique<State>(size, flush)) {}
RecordedRegion::RecordedRegion(std::span<const std::byte> image, FlushInstruction flush)
    : state_(std::make_unique<State>(image, flush)) {}
RecordedRegion::~RecordedRegion() = default;

std::span<std::byte> RecordedRegion::bytes() noexcept { return state_->memory.bytes(); }
FlushInstruction RecordedRegion::flush_instruction() const noexcept { return state_->flush; }
CrashRecorder* RecordedRegion::recorder() noexcept { return &state_->recorder; }

}  // namespace weir
