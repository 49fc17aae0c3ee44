// SPDX-License-Identifier: Apache-2.0
#include "anifilter/trials_mooncake.hpp"

#include <algorithm>
#include <atomic>
#include <ctime>
#include <list>
#include <thread>
#include <unordered_map>
#include <unordered_set>

#include "weir/runtime/error.hpp"
#include "weir/runtime/rng.hpp"

#include "anifilter/trials_child.hpp"

namespace weir::anifilter::trials {
namespace {

double thread_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

}  // namespace

BlockStream::BlockStream(std::span<const MooncakeRequest> requests, std::size_t cache_blocks) {
  struct Cached {
    std::uint32_t block;
    std::uint32_t epoch;
  };
  std::vector<std::uint32_t> accesses;
  std::unordered_set<std::uint32_t> distinct;
  for (const MooncakeRequest& request : requests)
    for (const std::uint64_t block : request.blocks) {
      WEIR_EXPECTS(block < (std::uint64_t{1} << 32),
                   "block id " + std::to_string(block) + " does not fit 32 bits");
      accesses.push_back(static_cast<std::uint32_t>(block));
      distinct.insert(accesses.back());
    }
  accesses_ = accesses.size();
  distinct_ = distinct.size();
  WEIR_EXPECTS(cache_blocks >= 1 && distinct_ > cache_blocks,
               "the trace has " + std::to_string(distinct_) +
                   " distinct blocks; the cache must be smaller, it has " +
                   std::to_string(cache_blocks));

  std::list<Cached> order;  // most recently used first
  std::unordered_map<std::uint64_t, std::list<Cached>::iterator> index;
  for (std::uint32_t epoch = 0; epoch < 2; ++epoch) {
    std::vector<Step>& steps = epoch == 0 ? first_ : later_;
    for (const std::uint32_t block : accesses) {
      const std::uint64_t name = std::uint64_t{epoch} << 32 | block;
      const auto it = index.find(name);
      steps.push_back({block, it == index.end() ? Ask::miss : Ask::hit, false});
      if (it != index.end()) {
        order.splice(order.begin(), order, it->second);
        continue;
      }
      if (order.size() == cache_blocks) {
        const Cached victim = order.back();
        order.pop_back();
        index.erase(std::uint64_t{victim.epoch} << 32 | victim.block);
        steps.push_back({victim.block, Ask::erase, victim.epoch != epoch});
        evictions_ += epoch == 1 ? 1 : 0;
      }
      steps.push_back({block, Ask::insert, false});
      order.push_front({block, epoch});
      index[name] = order.begin();
    }
  }
}

const BlockStream::Step& BlockStream::at(std::uint64_t position) const {
  if (position < first_.size()) return first_[position];
  return later_[(position - first_.size()) % later_.size()];
}

std::uint64_t BlockStream::key(std::uint64_t position) const {
  const Step& step = at(position);
  std::uint64_t epoch =
      position < first_.size() ? 0 : 1 + (position - first_.size()) / later_.size();
  epoch -= step.of_last_epoch ? 1 : 0;
  return splitmix64(epoch << 32 | step.block);
}

namespace {

// What the child tells its parent; the parent reads it after the kill.
struct Shared {
  std::atomic<std::uint64_t> done;  // steps before this one are acknowledged
  std::atomic<std::uint64_t> false_negatives;
  std::atomic<std::uint64_t> false_positives;
  std::atomic<std::uint64_t> misses;
  std::atomic<std::uint64_t> failed;  // inserts and erases that did not succeed
};

void add(std::atomic<std::uint64_t>& counter) {
  counter.store(counter.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

// Does steps [from, to); `shared.done` follows each.
void follow(Filter& filter, const BlockStream& stream, std::uint64_t from, std::uint64_t to,
            Shared& shared) {
  for (std::uint64_t position = from; position < to; ++position) {
    const std::uint64_t key = stream.key(position);
    switch (stream.at(position).ask) {
      case BlockStream::Ask::hit:
        if (!filter.contains(key)) add(shared.false_negatives);
        break;
      case BlockStream::Ask::miss:
        add(shared.misses);
        if (filter.contains(key)) add(shared.false_positives);
        break;
      case BlockStream::Ask::insert:
        if (filter.insert(key) != InsertResult::inserted) add(shared.failed);
        break;
      case BlockStream::Ask::erase:
        if (!filter.erase(key)) add(shared.failed);
        break;
    }
    // release: what the step did comes before the word of it.
    shared.done.store(position + 1, std::memory_order_release);
  }
}

class Trial {
 public:
  Trial(const BlockStream& stream, const MooncakeOptions& options)
      : stream_(stream),
        options_(options),
        rng_(options.seed),
        memory_(sizeof(Shared)),
        shared_(*memory_.as<Shared>()),
        path_(directory_.path() / "blocks.weir") {}

  MooncakeResult run() {
    Options made;
    made.capacity = options_.cache_blocks;
    made.max_load = options_.load;
    made.layout = options_.layout;
    made.consistency = options_.consistency;
    made.hash_seed = options_.seed;
    {
      Filter filter = Filter::create(path_, made);
      const std::uint64_t half = options_.operations / 2;
      const double start = thread_seconds();
      follow(filter, stream_, 0, half, shared_);
      result_.seconds = thread_seconds() - start;
      result_.timed_operations = half;
      filter.close();
    }
    learn(0, shared_.done);
    result_.load_when_steady = 1;
    const std::uint64_t left = options_.operations - shared_.done;
    std::vector<std::uint64_t> stops;
    for (std::uint64_t i = 0; i < options_.kills; ++i)
      stops.push_back(shared_.done + 1 + rng_.below(left - 1));
    std::ranges::sort(stops);
    for (const std::uint64_t stop : stops) {
      kill_at(stop);
      if (!result_.problem.empty()) break;
    }
    if (result_.problem.empty()) {
      Filter filter = Filter::open(path_);
      const std::uint64_t from = shared_.done;
      follow(filter, stream_, from, std::max(options_.operations, from), shared_);
      learn(from, shared_.done);
      check(filter, "at the end");
    }
    result_.operations = shared_.done;
    result_.false_negatives += shared_.false_negatives;
    result_.false_positives = shared_.false_positives;
    result_.misses_looked_up = shared_.misses;
    if (shared_.failed != 0) complain(std::to_string(shared_.failed) + " inserts or erases failed");
    if (result_.false_negatives != 0) complain("a lookup missed a block that is cached");
    return result_;
  }

 private:
  void complain(const std::string& problem) {
    if (result_.problem.empty()) result_.problem = problem;
  }

  // Brings `cached_` from position `from` to `to`.
  void learn(std::uint64_t from, std::uint64_t to) {
    for (std::uint64_t position = from; position < to; ++position) {
      const BlockStream::Ask ask = stream_.at(position).ask;
      if (ask == BlockStream::Ask::insert) cached_.insert(stream_.key(position));
      if (ask == BlockStream::Ask::erase) cached_.erase(stream_.key(position));
    }
  }

  void kill_at(std::uint64_t stop) {
    const std::uint64_t from = shared_.done;
    {
      Child child([&] {
        Filter filter = Filter::open(path_);
        follow(filter, stream_, from, ~std::uint64_t{0}, shared_);
      });
      while (child.running() && shared_.done.load(std::memory_order_acquire) < stop)
        std::this_thread::yield();
      child.kill();
      if (child.failed()) return complain("the child failed before it was killed");
    }
    ++result_.kills;
    const std::uint64_t position = shared_.done;
    learn(from, position);
    Filter filter = Filter::open(path_);
    check(filter, "after kill " + std::to_string(result_.kills));
    finish_step(filter, position);
    filter.close();
  }

  void check(const Filter& filter, const std::string& when) {
    const std::uint64_t position = shared_.done;
    // An erase in flight has no promise about its key.
    const bool erasing = stream_.at(position).ask == BlockStream::Ask::erase;
    const std::uint64_t in_flight = stream_.key(position);
    std::uint64_t lost = 0;
    for (const std::uint64_t key : cached_) {
      if (erasing && key == in_flight) continue;
      ++result_.keys_checked;
      if (!filter.contains(key)) ++lost;
    }
    result_.lost_after_kill += lost;
    if (lost != 0)
      complain(when + ", " + std::to_string(lost) + " of " + std::to_string(cached_.size()) +
               " acknowledged keys are missing");
    const VerifyReport verified = filter.verify();
    if (!verified.ok()) complain(when + ", verify(): " + verified.problems[0]);
    if (cached_.size() >= options_.cache_blocks - 1)
      result_.load_when_steady = std::min(result_.load_when_steady, filter.load_factor());
    const std::uint64_t expected = cached_.size() + leftovers_;
    const std::uint64_t slack = stream_.at(position).ask == BlockStream::Ask::insert ? 1 : 0;
    if (filter.size() + (erasing ? 1 : 0) < expected || filter.size() > expected + slack)
      complain(when + ", size() is " + std::to_string(filter.size()) + ", expected " +
               std::to_string(expected));
  }

  // The step that the kill cut short, done or not: size() is exact, so it tells.
  void finish_step(Filter& filter, std::uint64_t position) {
    const BlockStream::Ask ask = stream_.at(position).ask;
    const std::uint64_t key = stream_.key(position);
    const std::uint64_t before = cached_.size() + leftovers_;
    if (ask == BlockStream::Ask::erase && filter.size() == before && !filter.erase(key))
      complain("an erase that was cut short cannot be done again");
    if (ask == BlockStream::Ask::insert) {
      // Relaxed mode may have left a copy of a victim instead of the key; done again, at most one
      // fingerprint is too many.
      if (filter.size() > before) ++leftovers_;
      if (filter.insert(key) != InsertResult::inserted)
        complain("an insert that was cut short cannot be done again");
    }
    learn(position, position + 1);
    shared_.done = position + 1;
  }

  const BlockStream& stream_;
  MooncakeOptions options_;
  Rng rng_;
  TempDirectory directory_;
  SharedMemory memory_;
  Shared& shared_;
  std::filesystem::path path_;
  std::unordered_set<std::uint64_t> cached_;
  std::uint64_t leftovers_ = 0;
  MooncakeResult result_;
};

}  // namespace

MooncakeResult run_mooncake_trial(const BlockStream& stream, const MooncakeOptions& options) {
  WEIR_EXPECTS(
      options.operations / 2 >= stream.steady() + 2,
      std::to_string(options.operations) + " operations are too few: the first epoch takes " +
          std::to_string(stream.steady()) + ", and half of them come before the first kill");
  return Trial(stream, options).run();
}

}  // namespace weir::anifilter::trials
