// SPDX-License-Identifier: Apache-2.0
#include "weir/runtime/workers.hpp"

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include <sched.h>

#include "weir/runtime/error.hpp"

namespace weir {

struct Workers::State {
  using Body = std::function<void(std::size_t)>;

  explicit State(std::size_t count) : errors(count) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  ~State() {
    {
      const std::lock_guard lock(mutex);
      stopping = true;
    }
    start.notify_all();
    for (std::thread& thread : threads) thread.join();
  }

  // Each worker writes only its own slot; run() reads them after `pending` reached 0 under the
  // mutex.
  void call(const Body& work, std::size_t worker) noexcept {
    try {
      work(worker);
    } catch (...) {
      errors[worker] = std::current_exception();
    }
  }

  void serve(std::size_t worker) {
    std::uint64_t seen = 0;
    std::unique_lock lock(mutex);
    for (;;) {
      start.wait(lock, [&] { return stopping || generation != seen; });
      if (stopping) return;
      seen = generation;
      const Body& work = *body;
      lock.unlock();
      call(work, worker);
      lock.lock();
      if (--pending == 0) done.notify_one();
    }
  }

  std::mutex mutex;  // guards everything below but errors and threads
  std::condition_variable start;
  std::condition_variable done;
  const Body* body = nullptr;    // null between runs
  std::uint64_t generation = 0;  // counts runs, so that a worker takes each one once
  std::size_t pending = 0;       // workers that have not finished this run
  bool stopping = false;

  std::vector<std::exception_ptr> errors;  // one slot a worker
  std::vector<std::thread> threads;        // workers 1 and up
};

Workers::Workers(std::size_t count) {
  WEIR_EXPECTS(count >= 1, "Workers(0): at least 1 is needed; pass hardware_threads() for all");
  state_ = std::make_unique<State>(count);
  state_->threads.reserve(count - 1);
  for (std::size_t worker = 1; worker < count; ++worker) {
    try {
      state_->threads.emplace_back([state = state_.get(), worker] { state->serve(worker); });
    } catch (const std::system_error& error) {
      throw Error("cannot start worker thread " + std::to_string(worker) + " of " +
                  std::to_string(count) + ": " + error.what() + "; ask for fewer");
    }
  }
}

Workers::~Workers() = default;

std::size_t Workers::count() const noexcept { return state_->errors.size(); }

void Workers::run(const std::function<void(std::size_t)>& body) {
  {
    const std::lock_guard lock(state_->mutex);
    WEIR_EXPECTS(state_->body == nullptr,
                 "Workers::run was called while another run is going on; use a second Workers");
    state_->body = &body;
    ++state_->generation;
    state_->pending = state_->threads.size();
  }
  state_->start.notify_all();
  state_->call(body, 0);

  std::exception_ptr first;
  {
    std::unique_lock lock(state_->mutex);
    state_->done.wait(lock, [this] { return state_->pending == 0; });
    for (std::exception_ptr& error : state_->errors) {
      if (error != nullptr && first == nullptr) first = error;
      error = nullptr;
    }
    state_->body = nullptr;
  }
  if (first != nullptr) std::rethrow_exception(first);
}

void Workers::for_ranges(std::size_t n,
                         const std::function<void(std::size_t, std::size_t, std::size_t)>& body) {
  const std::size_t share = n / count();
  const std::size_t longer = n % count();  // the first `longer` ranges get one more
  run([&](std::size_t worker) {
    const std::size_t begin = worker * share + std::min(worker, longer);
    const std::size_t end = begin + share + (worker < longer ? 1 : 0);
    if (begin != end) body(begin, end, worker);
  });
}

std::size_t hardware_threads() {
  // cpu_set_t stops at 1,024 processors; ask with a larger set until the kernel's mask fits.
  for (std::size_t processors = 1024; processors <= (std::size_t{1} << 20); processors *= 2) {
    cpu_set_t* set = CPU_ALLOC(processors);
    if (set == nullptr) break;
    const std::size_t bytes = CPU_ALLOC_SIZE(processors);
    const bool known = sched_getaffinity(0, bytes, set) == 0;
    const int count = known ? CPU_COUNT_S(bytes, set) : 0;
    CPU_FREE(set);
    if (count > 0) return static_cast<std::size_t>(count);
  }
  return std::max(1u, std::thread::hardware_concurrency());
}

}  // namespace weir
