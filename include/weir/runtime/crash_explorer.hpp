// SPDX-License-Identifier: Apache-2.0
// Finds out what a power failure may leave of a persistent structure: run the structure once over a
// RecordedRegion, then let the explorer build every legal image (or a sample) at every store, flush
// and fence, run your recovery on a copy, and check your invariants.
//
//   RecordedRegion region(64_KiB);
//   MyStructure s(region);                      // uses RecordingAccess(region)
//   region.recorder()->begin(0); s.insert(k); region.recorder()->acknowledge(0);
//   CrashExplorer explorer({.replay_directory = "."});
//   auto result = explorer.explore(region, [&](std::span<std::byte> image, const CrashPoint& point)
//   {
//     auto copy = make_view_region(image);
//     ... open `copy`, recover, check; return "" or what is wrong ...
//   });
#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "weir/runtime/persistent_access.hpp"
#include "weir/runtime/persistent_region.hpp"

namespace weir {

class Interleaver;

/// One recorded access, in the global order in which they became visible.
struct CrashEvent {
  enum class Kind : std::uint8_t { store, flush, fence, begin, acknowledge };
  Kind kind;
  std::uint16_t thread;  ///< of the recording thread: from 0 in order of appearance
  std::uint64_t index;   ///< store: word of the region; flush: line; begin, acknowledge: operation
  Word value;            ///< store: the new value
};

/// The log of one run. Thread-safe: a lock orders the accesses of all threads; events() and base()
/// only while none records. An access outside the region throws InvalidArgument.
class CrashRecorder {
 public:
  explicit CrashRecorder(std::span<std::byte> image);
  ~CrashRecorder();

  /// The caller's operation `id` (small, dense numbers) starts / has returned to its user. What it
  /// did must be durable from then on. Throws InvalidArgument for 2^20 and more.
  void begin(std::size_t id);
  void acknowledge(std::size_t id);

  /// A seeded fault for RecordingAccess::fault(); 0 is none.
  void set_fault(unsigned id) noexcept;

  /// Forgets the log: the image as it is now becomes the durable base of what follows.
  void restart();

  [[nodiscard]] const std::vector<CrashEvent>& events() const noexcept;
  [[nodiscard]] std::span<const std::byte> base() const noexcept;

  // Called by RecordingAccess.
  Word on_load(const Word* p);
  void on_store(Word* p, Word value);
  bool on_cas(Word* p, Word expected, Word desired);
  void on_flush(const void* p);
  void on_fence();
  void on_pause();
  [[nodiscard]] bool fault(unsigned id) const noexcept;

 private:
  friend void run_interleaved(class RecordedRegion&, std::span<const std::function<void()>>,
                              std::uint64_t, double);
  struct State;
  std::unique_ptr<State> state_;
};

/// Ordinary memory that records. It claims power_fail, since that is what is being tested.
class RecordedRegion final : public PersistentRegion {
 public:
  /// `flush` none explores eADR (stores persist in their global order); any other, Px86.
  explicit RecordedRegion(Bytes size, FlushInstruction flush = FlushInstruction::clwb);
  /// Starts from a copy of `image`, which is taken to be durable.
  explicit RecordedRegion(std::span<const std::byte> image,
                          FlushInstruction flush = FlushInstruction::clwb);
  ~RecordedRegion() override;

  std::span<std::byte> bytes() noexcept override;
  Durability durability() const noexcept override { return Durability::power_fail; }
  FlushInstruction flush_instruction() const noexcept override;
  std::string name() const override { return "recorded memory"; }
  CrashRecorder* recorder() noexcept override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Runs each body on a thread of its own, one at a time, switching at accesses to `region` with
/// probability `switch_probability` (always when a body pauses in a spin loop). The same seed gives
/// the same interleaving. In a log that is fresh (restart()) body i records as thread i, else with
/// the next free numbers. The first exception is rethrown after all bodies have ended. Throws
/// InvalidArgument for a probability outside [0, 1] or a region in another run_interleaved; throws
/// Error from pause() when all bodies only pause and none can go on.
void run_interleaved(RecordedRegion& region, std::span<const std::function<void()>> bodies,
                     std::uint64_t seed, double switch_probability = 0.3);

enum class OperationState : std::uint8_t { not_begun, in_flight, acknowledged };

/// Where the power failed.
struct CrashPoint {
  std::size_t event = 0;                       ///< how many events had become visible
  std::span<const OperationState> operations;  ///< by operation number
};

/// Returns "" when `image` (a private copy, free to be changed, aligned to a page) recovers to a
/// legal state, else what is wrong. An exception counts as a failure with its message.
using CrashCheck = std::function<std::string(std::span<std::byte> image, const CrashPoint&)>;

struct CrashExplorerOptions {
  std::uint64_t exhaustive_limit = 4096;  ///< images at one point up to which all are tried
  std::uint64_t samples = 4096;           ///< how many are drawn where there are more
  std::uint64_t max_failures = 1;         ///< stop after so many; 0: never
  std::uint64_t seed = 1;
  std::filesystem::path replay_directory =
      {};  ///< where a failure's image is written; empty: nowhere
};

struct CrashResult {
  std::uint64_t points = 0;          ///< events after which the power was cut, and one before all
  std::uint64_t sampled_points = 0;  ///< of them, with more new images than exhaustive_limit
  std::uint64_t states = 0;          ///< distinct (image, operation states) checked
  std::uint64_t images = 0;          ///< distinct images among them
  std::uint64_t failures = 0;
  std::string first_failure = {};     ///< message with point and per-line choices
  std::filesystem::path replay = {};  ///< written for the first failure

  CrashResult& operator+=(const CrashResult& other);
};

/// Enumerates or samples the legal images of a recorded run. Px86: of each line any prefix of its
/// stores may be durable, at least what a flush captured before a fence by the same thread; lines
/// are independent. An image is tried at the first point where it can arise, and again when the
/// state of an operation changes. Locked instructions are not taken for fences, which only adds
/// images. Not thread-safe; explore() runs the check on the calling thread. Deterministic for a
/// seed.
class CrashExplorer {
 public:
  explicit CrashExplorer(CrashExplorerOptions options = {});
  ~CrashExplorer();
  /// Throws InvalidArgument when bytes of the region were changed past RecordingAccess.
  CrashResult explore(RecordedRegion& region, const CrashCheck& check);

 private:
  CrashExplorerOptions options_;
};

/// The image of a replay file, to run a check on again. Throws CorruptData or IoError.
struct CrashReplay {
  std::string message;
  std::size_t event = 0;
  std::vector<OperationState> operations;
  std::vector<std::byte> image;
};
CrashReplay load_crash_replay(const std::filesystem::path& path);

}  // namespace weir
