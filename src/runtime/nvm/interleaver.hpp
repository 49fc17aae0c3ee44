// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <vector>

#include "weir/runtime/rng.hpp"

namespace weir {

/// Lets one of a set of threads run at a time. The running thread draws who is next, so the order
/// depends on the seed alone.
class Interleaver {
 public:
  Interleaver(std::size_t bodies, std::uint64_t seed, double switch_probability);

  /// On the body's own thread: waits for its first turn; gives the turn away for good.
  void enter(std::size_t body);
  void leave(std::size_t body);

  /// Before an access of the running body: passes the turn with switch_probability.
  void before_access(std::size_t body);
  /// In a spin loop: passes the turn. Throws Error when every body has been pausing for so long,
  /// without a store by any, that none can go on.
  void pause(std::size_t body);
  /// The running body changed something that another may be waiting for.
  void made_progress();

  /// Lets the first body run. Called once, after all threads have been started; without() those
  /// that could not be.
  void start();
  void without(std::size_t body);

 private:
  void pass_turn(std::size_t body);
  void wait_for_turn(std::unique_lock<std::mutex>& lock, std::size_t body);
  std::size_t choose();  // one of alive_

  static constexpr std::size_t kNobody = ~std::size_t{0};
  const double switch_probability_;
  std::mutex mutex_;
  std::deque<std::condition_variable> wake_;  // one a body, all with mutex_
  std::size_t turn_ = kNobody;                // guarded by mutex_
  // Touched only by the thread that has the turn; the hand-over under mutex_ orders them.
  Rng rng_;
  std::vector<std::size_t> alive_;
  std::vector<bool> paused_;  // by body, in the current round of pauses
  std::size_t paused_count_ = 0;
  std::uint64_t idle_rounds_ = 0;
};

}  // namespace weir
