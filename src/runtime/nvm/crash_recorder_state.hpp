// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <atomic>
#include <cstdint>
#include <mutex>
#include <span>
#include <unordered_map>
#include <vector>

#include "weir/runtime/crash_explorer.hpp"

#include "interleaver.hpp"

namespace weir {

/// The body of run_interleaved that the calling thread runs, if any (else all zero).
struct RecordingThread {
  const void* recorder = nullptr;  // the CrashRecorder::State that it is a body for
  Interleaver* interleaver = nullptr;
  std::size_t body = 0;
  std::uint16_t number = 0;
};
RecordingThread& recording_thread();

struct CrashRecorder::State {
  explicit State(std::span<std::byte> bytes);

  std::uint64_t word_of(const void* p) const;  // throws InvalidArgument outside the image
  void log(CrashEvent::Kind kind, std::uint64_t index, Word value = 0);
  std::uint16_t thread_number();        // with mutex held
  const RecordingThread* body() const;  // null: not one of run_interleaved
  void before_access() const;           // the point where run_interleaved may switch
  void made_progress() const;
  /// Returns the number of the first body. New numbers, since what an earlier thread has flushed
  /// does not become durable by the fence of a later one.
  std::uint16_t begin_interleaving(std::size_t bodies);
  void end_interleaving();

  const std::span<std::byte> image;
  std::atomic<unsigned> fault{0};
  std::mutex mutex;
  // Guarded by mutex: everything below. A store takes effect under it too, so that the log has the
  // order in which stores became visible.
  std::vector<std::byte> base;
  std::vector<CrashEvent> events;
  std::unordered_map<std::uint64_t, std::uint16_t> numbers;  // by token of free-running threads
  std::size_t next_number = 0;
  bool interleaving = false;
};

}  // namespace weir
