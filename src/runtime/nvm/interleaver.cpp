// SPDX-License-Identifier: Apache-2.0
#include "interleaver.hpp"

#include <algorithm>
#include <exception>
#include <functional>
#include <thread>

#include "weir/runtime/crash_explorer.hpp"
#include "weir/runtime/error.hpp"

#include "crash_recorder_state.hpp"

namespace weir {
namespace {

// A round is over when every body has paused. Nothing but a store ends the wait of any of them, so
// a few rounds would do; the rest is for structures that pause without waiting.
constexpr std::uint64_t kMaxIdleRounds = 10'000;

}  // namespace

Interleaver::Interleaver(std::size_t bodies, std::uint64_t seed, double switch_probability)
    : switch_probability_(switch_probability), wake_(bodies), rng_(seed), paused_(bodies) {
  for (std::size_t body = 0; body < bodies; ++body) alive_.push_back(body);
}

std::size_t Interleaver::choose() { return alive_[rng_.below(alive_.size())]; }

void Interleaver::wait_for_turn(std::unique_lock<std::mutex>& lock, std::size_t body) {
  wake_[body].wait(lock, [&] { return turn_ == body; });
}

void Interleaver::start() {
  if (alive_.empty()) return;
  std::lock_guard lock(mutex_);
  turn_ = choose();
  wake_[turn_].notify_one();
}

void Interleaver::without(std::size_t body) { std::erase(alive_, body); }

void Interleaver::enter(std::size_t body) {
  std::unique_lock lock(mutex_);
  wait_for_turn(lock, body);
}

void Interleaver::leave(std::size_t body) {
  std::lock_guard lock(mutex_);
  std::erase(alive_, body);
  made_progress();  // one body fewer: the others get their patience again
  if (alive_.empty()) return;
  turn_ = choose();
  wake_[turn_].notify_one();
}

void Interleaver::pass_turn(std::size_t body) {
  if (alive_.size() < 2) return;
  std::size_t next = choose();
  while (next == body) next = choose();
  std::unique_lock lock(mutex_);
  turn_ = next;
  wake_[next].notify_one();
  wait_for_turn(lock, body);
}

void Interleaver::before_access(std::size_t body) {
  if (rng_.uniform() < switch_probability_) pass_turn(body);
}

void Interleaver::pause(std::size_t body) {
  if (!paused_[body]) {
    paused_[body] = true;
    if (++paused_count_ == alive_.size()) {
      if (++idle_rounds_ > kMaxIdleRounds)
        throw Error("run_interleaved: all " + std::to_string(alive_.size()) +
                    " bodies that have not ended paused " + std::to_string(kMaxIdleRounds) +
                    " times without a store: they wait for what nobody will do (a lock that was "
                    "never released?)");
      paused_.assign(paused_.size(), false);
      paused_count_ = 0;
    }
  }
  pass_turn(body);
}

void Interleaver::made_progress() {
  idle_rounds_ = 0;
  if (paused_count_ == 0) return;
  paused_.assign(paused_.size(), false);
  paused_count_ = 0;
}

void run_interleaved(RecordedRegion& region, std::span<const std::function<void()>> bodies,
                     std::uint64_t seed, double switch_probability) {
  WEIR_EXPECTS(switch_probability >= 0 && switch_probability <= 1,
               "run_interleaved: switch probability " + std::to_string(switch_probability) +
                   " is not in [0, 1]");
  if (bodies.empty()) return;
  CrashRecorder::State& state = *region.recorder()->state_;
  Interleaver interleaver(bodies.size(), seed, switch_probability);
  const std::uint16_t first_number = state.begin_interleaving(bodies.size());

  std::exception_ptr first_exception;  // written by the body that has the turn
  std::vector<std::thread> threads;
  const auto run = [&](std::size_t body) {
    RecordingThread& self = recording_thread();
    self = {&state, &interleaver, body, static_cast<std::uint16_t>(first_number + body)};
    interleaver.enter(body);
    try {
      bodies[body]();
    } catch (...) {
      if (!first_exception) first_exception = std::current_exception();
    }
    self = {};
    interleaver.leave(body);
  };
  try {
    for (std::size_t body = 0; body < bodies.size(); ++body) threads.emplace_back(run, body);
  } catch (...) {
    // The system refused a thread. The others must end before that is reported.
    first_exception = std::current_exception();
    for (std::size_t body = threads.size(); body < bodies.size(); ++body) interleaver.without(body);
  }
  interleaver.start();
  for (std::thread& thread : threads) thread.join();
  state.end_interleaving();
  if (first_exception) std::rethrow_exception(first_exception);
}

}  // namespace weir
