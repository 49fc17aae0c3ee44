// SPDX-License-Identifier: Apache-2.0
// Two threads against one, by the wall clock. A machine that does not give two cores would make
// this a figure about the machine, so each pair runs between two spin probes.
#include <atomic>

#include "weir/runtime/workers.hpp"

#include "anifilter/figures.hpp"
#include "anifilter/setup.hpp"

namespace weir::bench {
namespace {

constexpr unsigned kLog2Slots = 24;

/// The same work with one and with two threads, pair by pair; nothing when no two cores were free.
struct Scaling {
  std::vector<double> ratios;
  double probe = 1;
  bool ok = true;
};

template <class Work>
Scaling scale(Figures& figures, std::size_t pairs, const Work& work) {
  Scaling scaling;
  Workers one(1);
  Workers two(2);
  unsigned tries_left = kProbeTries;
  for (std::size_t pair = 0; pair < pairs && scaling.ok; ++pair) {
    double ratio = 0;
    const Probed probed = run_probed(
        figures.progress(),
        [&] {
          const double alone = work(one);
          ratio = alone / work(two);
        },
        tries_left);
    scaling.ok = probed.ok;
    tries_left -= std::min(tries_left - 1, probed.tries - 1);
    scaling.probe = std::min(scaling.probe, probed.probe);
    scaling.ratios.push_back(ratio);
  }
  return scaling;
}

void add_scaling(Figures& figures, const std::string& name, const Scaling& scaling,
                 const std::string& what, const PersistentRegion& region) {
  if (!scaling.ok) {
    figures.skip(name, text("no two free cores in %u tries (spin probe %.2f, needs %.2f)",
                            kProbeTries, scaling.probe, kProbeThreshold));
    return;
  }
  Figure figure{.name = name,
                .baseline = "the same with one thread, pair by pair, wall clock",
                .config = describe(what, region),
                .ceiling = 2.0,
                .probe = scaling.probe};
  figures.add(figure.over(spread_of(scaling.ratios)));
}

class Tables {
 public:
  explicit Tables(std::uint64_t seed) : ours_(filter_options(kLog2Slots)) {
    const Keys keys(seed);
    // Made before the clock starts: two threads that also make keys would scale better than two
    // that only insert.
    present_.resize(part_of(ours_.filter.slots(), 0.95));
    for (std::size_t i = 0; i < present_.size(); ++i) present_[i] = keys.present(i);
    Rng rng(seed);
    mixed_.resize(std::size_t{1} << 23);
    for (std::size_t i = 0; i < mixed_.size(); ++i)
      mixed_[i] = i % 2 == 0 ? present_[rng.below(present_.size())] : keys.absent(i);
  }

  /// Seconds to fill from 0 to 95 %.
  double fill(Workers& workers, Form form, Figures& figures) {
    ours_.clear();
    std::atomic<bool> all = true;
    const double begin = wall_seconds();
    workers.for_ranges(present_.size(), [&](std::size_t from, std::size_t to, std::size_t) {
      if (!insert_keys(ours_.filter, std::span(present_).subspan(from, to - from), form))
        all = false;
    });
    const double seconds = wall_seconds() - begin;
    figures.check(all && ours_.filter.size() == present_.size(), "a parallel fill lost keys");
    return seconds;
  }

  /// Seconds for half present, half absent keys, in batches of 64.
  double look_up(Workers& workers, Figures& figures) {
    std::atomic<std::size_t> found = 0;
    const double begin = wall_seconds();
    workers.for_ranges(mixed_.size(), [&](std::size_t from, std::size_t to, std::size_t) {
      for (std::size_t i = from; i < to; i += kChunk)
        found += look_up_keys(ours_.filter, std::span(mixed_).subspan(i, std::min(kChunk, to - i)),
                              kBatch);
    });
    const double seconds = wall_seconds() - begin;
    figures.check(found >= mixed_.size() / 2, "a parallel lookup missed keys");
    return seconds;
  }

  const PersistentRegion& region() const { return *ours_.region; }

 private:
  Ours ours_;
  std::vector<std::uint64_t> present_;
  std::vector<std::uint64_t> mixed_;
};

}  // namespace

void run_scaling_figures(Figures& figures, const RunOptions& options) {
  Tables tables(options.seed);
  const std::size_t pairs = options.full ? 7 : 3;
  if (figures.wants("insert_2t_scaling")) {
    add_scaling(
        figures, "insert_2t_scaling",
        scale(figures, pairs, [&](Workers& w) { return tables.fill(w, Form::single, figures); }),
        "5x12, 2^24 slots, 0 to 95 %, single inserts, 2 threads", tables.region());
    add_scaling(
        figures, "insert_2t_scaling_batched",
        scale(figures, pairs, [&](Workers& w) { return tables.fill(w, Form::batched, figures); }),
        "5x12, 2^24 slots, 0 to 95 %, batches of 64, 2 threads", tables.region());
  }
  if (figures.wants("lookup_2t_scaling")) {
    Workers two(2);
    tables.fill(two, Form::batched, figures);
    add_scaling(
        figures, "lookup_2t_scaling",
        scale(figures, 2 * pairs + 1, [&](Workers& w) { return tables.look_up(w, figures); }),
        "5x12, 2^24 slots, 95 %, half present, half absent, batches of 64, 2 threads",
        tables.region());
  }
}

}  // namespace weir::bench
