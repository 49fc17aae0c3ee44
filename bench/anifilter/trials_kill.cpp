// SPDX-License-Identifier: Apache-2.0
#include "anifilter/trials_kill.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <deque>
#include <memory>
#include <thread>
#include <vector>

#include "weir/anifilter/filter.hpp"
#include "weir/runtime/error.hpp"
#include "weir/runtime/rng.hpp"

#include "anifilter/trials_child.hpp"

namespace weir::anifilter::trials {
namespace {

constexpr std::size_t kThreads = 2;
constexpr std::size_t kLogEntries = std::size_t{1} << 18;  // a thread, a round
constexpr std::size_t kMostBatch = 32;

// What one thread says of its operations. Entries below `acknowledged` had returned; those up to
// `begun` may be done, half-done or not.
struct ThreadLog {
  std::atomic<std::uint64_t> begun;
  std::atomic<std::uint64_t> acknowledged;
  std::array<std::uint64_t, kLogEntries> entries;  // key number << 2 | succeeded << 1 | erase
};

// The keys of one thread: number n of thread t is key_of(t, n). Erased oldest first.
struct ThreadKeys {
  std::uint64_t next = 0;
  std::deque<std::uint64_t> present;
};

std::uint64_t key_of(std::size_t thread, std::uint64_t number) {
  return splitmix64(number * kThreads + thread);
}

// Inserts up to a high load, then erases and inserts in turn, until killed or out of log.
void work(Filter& filter, std::size_t thread, ThreadKeys keys, ThreadLog& log, std::uint64_t seed) {
  Rng rng(seed);
  const auto target = static_cast<std::uint64_t>(0.96 * static_cast<double>(filter.slots()) /
                                                 static_cast<double>(kThreads));
  std::uint64_t at = 0;
  std::array<std::uint64_t, kMostBatch> batch;
  std::array<InsertResult, kMostBatch> inserted;
  std::array<bool, kMostBatch> erased;
  while (at + kMostBatch <= kLogEntries) {
    const bool erase = !keys.present.empty() && (keys.present.size() >= target ||
                                                 (keys.present.size() > 64 && rng.below(6) == 0));
    std::size_t n = rng.below(3) == 0 ? 1 + rng.below(kMostBatch) : 1;
    if (erase) n = std::min(n, keys.present.size());
    for (std::size_t i = 0; i < n; ++i) {
      const std::uint64_t number = erase ? keys.present[i] : keys.next++;
      batch[i] = key_of(thread, number);
      log.entries[at + i] = number << 2 | (erase ? 1u : 0u);
    }
    // release: the entries are there when the parent sees them begun; it reads after the kill.
    log.begun.store(at + n, std::memory_order_release);
    if (n == 1) {
      if (erase)
        erased[0] = filter.erase(batch[0]);
      else
        inserted[0] = filter.insert(batch[0]);
    } else if (erase) {
      filter.erase(std::span<const std::uint64_t>(batch.data(), n), std::span(erased.data(), n));
    } else {
      filter.insert(std::span<const std::uint64_t>(batch.data(), n), std::span(inserted.data(), n));
    }
    for (std::size_t i = 0; i < n; ++i) {
      const bool succeeded = erase ? erased[i] : inserted[i] == InsertResult::inserted;
      if (succeeded) log.entries[at + i] |= 2;
      if (!erase && succeeded) keys.present.push_back(log.entries[at + i] >> 2);
    }
    if (erase) keys.present.erase(keys.present.begin(), keys.present.begin() + std::ptrdiff_t(n));
    at += n;
    log.acknowledged.store(at, std::memory_order_release);
  }
}

class Trial {
 public:
  explicit Trial(const KillOptions& options)
      : options_(options), rng_(options.seed), shared_(kThreads * sizeof(ThreadLog)) {}

  KillResult run() {
    while (result_.rounds < options_.rounds && result_.problem.empty()) run_file();
    for (std::uint64_t i = 0; i < options_.create_rounds && result_.problem.empty(); ++i)
      run_create();
    return result_;
  }

 private:
  ThreadLog& log(std::size_t thread) const {
    return *shared_.as<ThreadLog>(thread * sizeof(ThreadLog));
  }
  void complain(std::string problem) {
    if (result_.problem.empty()) result_.problem = std::move(problem);
  }
  Options draw_options() {
    Options options;
    options.buckets = options_.buckets;
    options.layout = rng_.below(2) == 0 ? Layout::k5x12 : kLayouts[rng_.below(5)].layout;
    options.consistency = rng_.below(2) == 0 ? Consistency::strict : Consistency::relaxed;
    options.hash_seed = rng_();
    return options;
  }

  void run_file() {
    const std::filesystem::path path = directory_.path() / "filter.weir";
    std::filesystem::remove(path);
    std::uint64_t size = 0;
    for (ThreadKeys& keys : keys_) keys = {};
    const Options made = draw_options();
    Filter::create(path, made).close();
    for (std::uint64_t i = 0; i < options_.rounds_a_file && result_.rounds < options_.rounds; ++i) {
      kill_at_work(path);
      check(path, made, size);
      if (!result_.problem.empty()) return;
      ++result_.rounds;
    }
  }

  void kill_at_work(const std::filesystem::path& path) {
    for (std::size_t t = 0; t < kThreads; ++t) {
      log(t).begun = 0;
      log(t).acknowledged = 0;
    }
    const std::uint64_t seed = rng_();
    Child child([&] {
      Filter filter = Filter::open(path);
      std::thread other([&] { work(filter, 1, keys_[1], log(1), seed + 1); });
      work(filter, 0, keys_[0], log(0), seed);
      other.join();
    });
    // The clock starts when there is work to be interrupted.
    while (child.running() && log(0).begun.load(std::memory_order_acquire) == 0)
      std::this_thread::yield();
    wait_microseconds(options_.least_microseconds +
                      rng_.uniform() * (options_.most_microseconds - options_.least_microseconds));
    child.kill();
    if (child.failed()) complain("the child failed before it was killed");
  }

  // Brings the model up to what was acknowledged and compares.
  void check(const std::filesystem::path& path, const Options& made, std::uint64_t& size) {
    std::vector<std::uint64_t> doubtful_erases[kThreads];
    std::uint64_t inserts_in_flight = 0;
    std::uint64_t erases_in_flight = 0;
    for (std::size_t t = 0; t < kThreads; ++t) {
      ThreadKeys& keys = keys_[t];
      const std::uint64_t begun = log(t).begun;
      const std::uint64_t acknowledged = log(t).acknowledged;
      result_.operations += acknowledged;
      for (std::uint64_t i = 0; i < begun; ++i) {
        const std::uint64_t entry = log(t).entries[i];
        const bool erase = (entry & 1) != 0;
        keys.next = std::max(keys.next, erase ? 0 : (entry >> 2) + 1);
        if (i >= acknowledged) {
          ++(erase ? erases_in_flight : inserts_in_flight);
          if (erase) keys.present.pop_front();  // there or not: no promise either way
          continue;
        }
        const bool succeeded = (entry & 2) != 0;
        if (erase) {
          if (!succeeded) {
            ++result_.lost;
            complain("erase() did not find an acknowledged key");
          }
          keys.present.pop_front();
          --size;
        } else if (succeeded) {
          keys.present.push_back(entry >> 2);
          ++size;
        }
      }
    }
    Filter filter = Filter::open(path);
    const std::string what = std::string(info(made.layout).name) +
                             (made.consistency == Consistency::strict ? " strict" : " relaxed") +
                             ", round " + std::to_string(result_.rounds) + ": ";
    for (std::size_t t = 0; t < kThreads; ++t)
      for (const std::uint64_t number : keys_[t].present) {
        ++result_.keys_checked;
        if (filter.contains(key_of(t, number))) continue;
        ++result_.lost;
        complain(what + "an acknowledged key is missing");
      }
    const VerifyReport verified = filter.verify();
    if (!verified.ok()) complain(what + "verify(): " + verified.problems[0]);
    if (filter.size() + erases_in_flight < size || filter.size() > size + inserts_in_flight)
      complain(what + "size() is " + std::to_string(filter.size()) + ", acknowledged are " +
               std::to_string(size) + " with " + std::to_string(inserts_in_flight) +
               " inserts and " + std::to_string(erases_in_flight) + " erases in flight");
    size = filter.size();
    result_.most_load = std::max(result_.most_load, filter.load_factor());
    filter.close();
  }

  // Nothing at the path, or a filter that is complete and empty; and what was left behind is in
  // nobody's way.
  void run_create() {
    const std::filesystem::path path = directory_.path() / "new.weir";
    std::filesystem::remove(path);
    Options options = draw_options();
    options.buckets = 8 * (1 + rng_.below(std::uint64_t{1} << (4 + rng_.below(14))));
    // How long does one like it take? The kill comes in that time, or shortly after.
    const std::filesystem::path other = directory_.path() / "other.weir";
    const auto begin = std::chrono::steady_clock::now();
    Filter::create(other, options).close();
    const std::chrono::duration<double, std::micro> usual =
        std::chrono::steady_clock::now() - begin;
    std::filesystem::remove(other);
    auto& started = log(0).begun;
    started = 0;
    Child child([&] {
      started = 1;
      Filter::create(path, options).close();
      for (;;) wait_microseconds(1000);  // to be killed
    });
    while (child.running() && started == 0) std::this_thread::yield();
    wait_microseconds(rng_.uniform() * 1.2 * usual.count());
    child.kill();
    if (child.failed()) return complain("create() failed in the child");
    ++result_.create_rounds;
    try {
      if (std::filesystem::exists(path)) {
        const Filter filter = Filter::open(path);
        if (filter.size() != 0 || !filter.verify().ok() ||
            filter.options().buckets != options.buckets)
          complain("a kill during create left a filter that is not empty and sound");
      } else {
        ++result_.half_created;
        Filter::create(path, options).close();
      }
    } catch (const Error& error) {
      complain(std::string("after a kill during create: ") + error.what());
    }
  }

  KillOptions options_;
  Rng rng_;
  TempDirectory directory_;
  SharedMemory shared_;
  ThreadKeys keys_[kThreads];
  KillResult result_;
};

}  // namespace

KillResult run_kill_trial(const KillOptions& options) { return Trial(options).run(); }

}  // namespace weir::anifilter::trials
