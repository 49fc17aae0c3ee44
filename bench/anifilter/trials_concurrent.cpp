// SPDX-License-Identifier: Apache-2.0
#include "anifilter/trials_concurrent.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <deque>
#include <memory>
#include <vector>

#include "weir/anifilter/filter.hpp"
#include "weir/runtime/rng.hpp"
#include "weir/runtime/workers.hpp"

#include "anifilter/trials_oracle.hpp"

namespace weir::anifilter::trials {
namespace {

constexpr std::size_t kThreads = 2;
constexpr std::size_t kBatch = 48;
constexpr std::uint64_t kEpochs = 8;  // between which the words are looked at

struct Resident64 {
  HashedKey key;
  /// Another key that the filter cannot tell from it: same buckets, same fingerprint.
  HashedKey twin;
};

class Trial {
 public:
  explicit Trial(const ConcurrentOptions& options)
      : options_(options),
        region_(make_memory_region(Filter::region_size(filter_options(options)))),
        filter_(Filter::create(*region_, filter_options(options))) {}

  ConcurrentResult run() {
    populate();
    std::vector<bool> in_secondary(residents_.size());
    for (std::uint64_t epoch = 0; epoch < kEpochs && total_.false_negatives == 0; ++epoch) {
      ConcurrentResult parts[kThreads];
      Workers workers(kThreads);
      workers.run([&](std::size_t thread) { parts[thread] = work(thread, epoch); });
      for (const ConcurrentResult& part : parts) total_ += part;
      look(in_secondary);
    }
    finish();
    return total_;
  }

 private:
  static Options filter_options(const ConcurrentOptions& options) {
    Options made;
    made.buckets = options.buckets;
    made.layout = options.layout;
    made.consistency = options.consistency;
    made.hash_seed = options.seed;
    return made;
  }

  void populate() {
    Rng rng(options_.seed);
    const auto wanted = static_cast<std::uint64_t>(0.7 * static_cast<double>(filter_.slots()));
    while (residents_.size() < wanted) {
      const HashedKey key{rng()};
      const HashedKey twin{key.value ^ (std::uint64_t{1} << (32 + rng.below(8)))};
      const Location a = filter_.locate(key);
      const Location b = filter_.locate(twin);
      if (a.prime != b.prime || a.secondary != b.secondary || a.fingerprint != b.fingerprint)
        continue;
      if (filter_.insert(key) == InsertResult::inserted) residents_.push_back({key, twin});
    }
  }

  // Each thread looks up any resident, churns keys of its own, and twins of residents of its half.
  ConcurrentResult work(std::size_t thread, std::uint64_t epoch) {
    ConcurrentResult result;
    Rng rng(splitmix64(options_.seed * 1000 + epoch * kThreads + thread));
    std::deque<HashedKey>& own = own_[thread];
    const std::uint64_t operations = options_.operations / (kThreads * kEpochs);
    const auto bound = [&](double load) {
      return static_cast<std::uint64_t>(load * static_cast<double>(filter_.slots()));
    };
    const std::uint64_t low = bound(options_.least_load);
    const std::uint64_t high = bound(options_.most_load);
    const auto miss = [&](const char* what) {
      ++result.false_negatives;
      if (result.problem.empty())
        result.problem = std::string(what) + " of a key that is there, thread " +
                         std::to_string(thread) + ", epoch " + std::to_string(epoch);
    };
    std::array<HashedKey, kBatch> keys;
    std::array<bool, kBatch> found;
    std::array<InsertResult, kBatch> inserted;
    bool filling = true;
    for (std::uint64_t round = 0; result.operations() < operations; ++round) {
      if (round % 64 == 0) {
        const std::uint64_t size = filter_.size();
        filling = size < low || (size < high && filling);
      }
      switch (rng.below(8)) {
        case 0:  // churn, one by one
        case 1:
          if (filling || own.empty()) {
            const HashedKey key{rng()};
            ++result.inserts;
            if (filter_.insert(key) == InsertResult::inserted)
              own.push_back(key);
            else
              ++result.full, filling = false;
          } else {
            ++result.erases;
            if (!filter_.erase(own.front())) miss("erase");
            own.pop_front();
          }
          break;
        case 2: {  // churn in batches
          if (rng.below(2) != 0) break;
          const std::size_t n = 1 + rng.below(kBatch);
          if (filling) {
            for (std::size_t i = 0; i < n; ++i) keys[i] = {rng()};
            filter_.insert(std::span<const HashedKey>(keys.data(), n),
                           std::span(inserted.data(), n));
            result.inserts += n;
            for (std::size_t i = 0; i < n; ++i)
              if (inserted[i] == InsertResult::inserted)
                own.push_back(keys[i]);
              else
                ++result.full, filling = false;
          } else if (own.size() >= n) {
            std::copy_n(own.begin(), n, keys.begin());
            own.erase(own.begin(), own.begin() + static_cast<std::ptrdiff_t>(n));
            filter_.erase(std::span<const HashedKey>(keys.data(), n), std::span(found.data(), n));
            result.erases += n;
            for (std::size_t i = 0; i < n; ++i)
              if (!found[i]) miss("batched erase");
          }
          break;
        }
        case 3: {  // a copy of a resident's fingerprint comes and goes
          const std::size_t half = residents_.size() / kThreads;
          const Resident64& resident = residents_[thread * half + rng.below(half)];
          ++result.inserts;
          if (filter_.insert(resident.twin) != InsertResult::inserted) break;
          ++result.erases;
          if (!filter_.erase(resident.twin)) miss("erase of a twin");
          break;
        }
        case 4:
          if (!own.empty()) {
            ++result.lookups;
            if (!filter_.contains(own[rng.below(own.size())])) miss("lookup of an own key");
          }
          break;
        case 5: {
          const std::size_t n = 1 + rng.below(kBatch);
          for (std::size_t i = 0; i < n; ++i) keys[i] = any_resident(rng);
          filter_.contains(std::span<const HashedKey>(keys.data(), n), std::span(found.data(), n));
          result.lookups += n;
          for (std::size_t i = 0; i < n; ++i)
            if (!found[i]) miss("batched lookup");
          break;
        }
        default:
          for (int i = 0; i < 3; ++i) {
            ++result.lookups;
            if (!filter_.contains(any_resident(rng))) miss("lookup");
          }
      }
    }
    return result;
  }

  HashedKey any_resident(Rng& rng) const { return residents_[rng.below(residents_.size())].key; }

  // With no thread at work: who is where?
  void look(std::vector<bool>& in_secondary) {
    const LayoutInfo& layout = info(options_.layout);
    KeyModel model(residents_.size());
    for (const Resident64& resident : residents_)
      model.add(filter_.locate(resident.key), resident.key.value);
    std::vector<std::array<std::uint32_t, 2>> here(model.groups().size());
    for (const trials::Resident& r : decode(filter_.words(), layout)) {
      KeyModel::Side side{};
      if (model.find(r.home, r.fingerprint, side)) ++here[side.group][side.side];
    }
    total_.in_secondary = 0;
    for (std::size_t i = 0; i < residents_.size(); ++i) {
      const Location place = filter_.locate(residents_[i].key);
      KeyModel::Side side{};
      if (!model.find(static_cast<std::uint32_t>(place.prime), place.fingerprint, side)) continue;
      const bool away = here[side.group][side.side] == 0;
      total_.in_secondary += away ? 1 : 0;
      total_.moved_back += in_secondary[i] && !away ? 1 : 0;
      in_secondary[i] = away;
    }
  }

  void finish() {
    const auto complain = [&](const std::string& what) {
      if (total_.problem.empty()) total_.problem = what;
    };
    total_.load = filter_.load_factor();
    KeyModel model(filter_.slots());
    std::uint64_t expected = residents_.size();
    for (const Resident64& resident : residents_)
      model.add(filter_.locate(resident.key), resident.key.value);
    for (const auto& own : own_) {
      expected += own.size();
      for (const HashedKey key : own) model.add(filter_.locate(key), key.value);
    }
    const ModelReport report = compare(filter_.words(), info(options_.layout), model);
    if (report.missing != 0) total_.false_negatives += report.missing;
    if (!report.problem.empty()) complain("at the end: " + report.problem);
    if (filter_.size() != expected || report.residents != expected)
      complain("size() is " + std::to_string(filter_.size()) + ", the words hold " +
               std::to_string(report.residents) + ", inserted and not erased are " +
               std::to_string(expected));
    const VerifyReport verified = filter_.verify();
    if (!verified.ok()) complain("verify(): " + verified.problems[0]);
  }

  ConcurrentOptions options_;
  std::unique_ptr<PersistentRegion> region_;
  Filter filter_;
  std::vector<Resident64> residents_;
  std::deque<HashedKey> own_[kThreads];
  ConcurrentResult total_;
};

}  // namespace

ConcurrentResult& ConcurrentResult::operator+=(const ConcurrentResult& other) {
  lookups += other.lookups;
  inserts += other.inserts;
  erases += other.erases;
  full += other.full;
  false_negatives += other.false_negatives;
  moved_back += other.moved_back;
  load = std::max(load, other.load);
  in_secondary = std::max(in_secondary, other.in_secondary);
  if (problem.empty()) problem = other.problem;
  return *this;
}

ConcurrentResult run_concurrent_trial(const ConcurrentOptions& options) {
  return Trial(options).run();
}

}  // namespace weir::anifilter::trials
