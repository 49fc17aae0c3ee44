// SPDX-License-Identifier: Apache-2.0
#include "anifilter/trials_figures.hpp"

#include <array>
#include <filesystem>
#include <map>
#include <string>

#include "weir/anifilter/faults.hpp"

#include "anifilter/trials_concurrent.hpp"
#include "anifilter/trials_crash.hpp"
#include "anifilter/trials_kill.hpp"
#include "anifilter/trials_mooncake.hpp"
#include "anifilter/trials_races.hpp"

namespace weir::bench {
namespace {

namespace trials = anifilter::trials;

constexpr Bar states(std::string_view cell) { return at_least("crash", cell, 10'000); }

constexpr std::array kBars{
    at_least("crash", "crash_states_total", 1e6, 100e6).in_full(20e6),
    states("crash_states_own_relaxed"),
    states("crash_states_own_relaxed_2t"),
    states("crash_states_own_strict"),
    states("crash_states_own_strict_2t"),
    states("crash_states_spill_relaxed"),
    states("crash_states_spill_relaxed_2t"),
    states("crash_states_spill_strict"),
    states("crash_states_spill_strict_2t"),
    states("crash_states_secondary_relaxed"),
    states("crash_states_secondary_relaxed_2t"),
    states("crash_states_secondary_strict"),
    states("crash_states_secondary_strict_2t"),
    states("crash_states_lookahead_relaxed"),
    states("crash_states_lookahead_relaxed_2t"),
    states("crash_states_lookahead_strict"),
    states("crash_states_lookahead_strict_2t"),
    states("crash_states_path2_relaxed"),
    states("crash_states_path2_relaxed_2t"),
    states("crash_states_path2_strict"),
    states("crash_states_path2_strict_2t"),
    states("crash_states_erase_relaxed"),
    states("crash_states_erase_relaxed_2t"),
    states("crash_states_erase_strict"),
    states("crash_states_erase_strict_2t"),
    states("crash_states_batch_relaxed"),
    states("crash_states_batch_relaxed_2t"),
    states("crash_states_batch_strict"),
    states("crash_states_batch_strict_2t"),
    states("crash_states_create_relaxed"),
    states("crash_states_create_strict"),
    states("crash_states_recovery_relaxed"),
    states("crash_states_recovery_strict"),
    at_most("crash", "crash_false_negatives", 0),
    at_most("crash", "strict_surplus", 0),
    at_most("mutants", "mutants_missed", 0),
    at_least("kill9", "kill9_rounds", 200).in_full(2000),
    at_most("kill9", "kill9_lost", 0),
    at_most("concurrent", "concurrent_false_negatives", 0),
    at_least("mooncake", "mooncake_operations", 10e6),
    at_least("mooncake", "mooncake_load", 0.90),
    at_most("mooncake", "mooncake_false_negatives", 0),
    at_most("mooncake", "mooncake_lost_after_kill", 0),
    reported("mooncake", "mooncake_mops"),
};

// 30 cells of this size, and the two of create, which are larger.
constexpr std::uint64_t kQuickStatesPerCell = 28'500;
constexpr std::uint64_t kFullStatesPerCell = 640'000;

Figure counted(std::string name, std::uint64_t value, std::string unit, Better better,
               std::string config) {
  Figure figure;
  figure.name = std::move(name);
  figure.value = static_cast<double>(value);
  figure.unit = std::move(unit);
  figure.kind = Kind::counted;
  figure.better = better;
  figure.config = std::move(config);
  return figure;
}

std::filesystem::path replay_directory(const RunOptions& options) {
  // Beside the results, where whoever reads them looks.
  const std::filesystem::path directory = options.out.empty()
                                              ? std::filesystem::path(".")
                                              : std::filesystem::path(options.out).parent_path();
  return directory.empty() ? "." : directory;
}

}  // namespace

std::span<const Bar> anifilter_trial_bars() { return kBars; }

void run_crash_figures(Figures& figures, const RunOptions& options) {
  std::uint64_t states = 0;
  std::uint64_t false_negatives = 0;
  std::uint64_t strict_surplus = 0;
  double seconds = 0;
  for (trials::CellOptions cell : trials::all_cells()) {
    cell.states = options.full ? kFullStatesPerCell : kQuickStatesPerCell;
    cell.seed += options.seed * 1000;
    cell.replay_directory = replay_directory(options);
    // A cell alone, to repeat a failure with the run's --seed.
    const std::string name = trials::name_of(cell);
    if (!figures.wants("crash_states_" + name)) continue;
    const trials::CellResult result = trials::run_cell(cell);
    states += result.states;
    false_negatives += result.false_negatives;
    seconds += result.seconds;
    if (cell.consistency == anifilter::Consistency::strict)
      strict_surplus = std::max(strict_surplus, result.surplus);
    figures.add(
        counted("crash_states_" + name, result.states, "states", Better::higher,
                text("%llu base tables of 8 to %d buckets, loads 0.5 to FULL, %llu recorded runs; "
                     "distinct images x operation states, each recovered and checked",
                     static_cast<unsigned long long>(result.tables), cell.threads > 1 ? 24 : 64,
                     static_cast<unsigned long long>(result.recordings))));
    figures.check(result.failures == 0,
                  result.first_failure +
                      (result.replay.empty() ? "" : "\n  replay: " + result.replay.string()));
  }
  figures.progress().line("%.0f thousand states a second",
                          1e-3 * static_cast<double>(states) / seconds);
  figures.add(counted("crash_states_total", states, "states", Better::higher,
                      "all cells; the power cut at every store, flush and fence"));
  figures.add(counted("crash_false_negatives", false_negatives, "keys", Better::lower,
                      "acknowledged keys missing after recovery, all cells"));
  figures.add(counted("strict_surplus", strict_surplus, "fingerprints", Better::lower,
                      "most in any state of the strict cells"));
}

void run_mutant_figures(Figures& figures, const RunOptions& options) {
  std::uint64_t missed = 0;
  std::string caught;
  for (unsigned id = 1; id <= anifilter::kFaultCount; ++id) {
    const auto fault = static_cast<anifilter::Fault>(id);
    const trials::MutantResult result = trials::hunt_mutant(fault, 10'000, options.seed);
    const std::string name(anifilter::to_string(fault));
    figures.progress().line("mutant %s: %s", name.c_str(),
                            result.caught
                                ? text("caught by %s after %llu states", result.cell.c_str(),
                                       static_cast<unsigned long long>(result.states))
                                      .c_str()
                                : "MISSED");
    if (result.caught)
      caught += (caught.empty() ? "" : ", ") + name + " by " + result.cell;
    else
      ++missed;
    figures.check(result.caught, "the seeded fault " + name + " was not noticed");
  }
  figures.add(counted("mutants_missed", missed, "faults", Better::lower,
                      text("of %u seeded faults; caught: ", anifilter::kFaultCount) + caught));
}

void run_kill9_figures(Figures& figures, const RunOptions& options) {
  trials::KillOptions trial;
  trial.rounds = options.full ? 2000 : 200;
  trial.create_rounds = options.full ? 500 : 50;
  trial.seed = options.seed;
  const trials::KillResult result = trials::run_kill_trial(trial);
  const std::string config = text(
      "2 threads, 20,480 slots (5x12), up to %.0f %% load, killed after 0.1-20 ms; %.1f M "
      "operations, %.1f M keys checked; %llu kills during create, %llu left nothing, the rest a "
      "complete file",
      100 * result.most_load, 1e-6 * static_cast<double>(result.operations),
      1e-6 * static_cast<double>(result.keys_checked),
      static_cast<unsigned long long>(result.create_rounds),
      static_cast<unsigned long long>(result.half_created));
  figures.add(counted("kill9_rounds", result.rounds, "rounds", Better::higher, config));
  figures.add(counted("kill9_lost", result.lost, "keys", Better::lower, config));
  figures.check(result.problem.empty(), "kill -9: " + result.problem);
}

void run_concurrent_figures(Figures& figures, const RunOptions& options) {
  using anifilter::Consistency;
  using anifilter::Layout;
  struct Case {
    std::uint64_t buckets;
    Layout layout;
    Consistency consistency;
    double most_load = 0.97;
  };
  // The smallest is as full as it gets at 93 %: more, and it tells "full" all the time.
  constexpr std::array kCases{Case{64, Layout::k5x12, Consistency::relaxed, 0.93},
                              Case{512, Layout::k5x12, Consistency::relaxed},
                              Case{512, Layout::k7x8, Consistency::relaxed},
                              Case{512, Layout::k3x20, Consistency::strict},
                              Case{8192, Layout::k4x15, Consistency::strict}};
  trials::ConcurrentResult total;
  for (const Case& c : kCases) {
    trials::ConcurrentOptions trial;
    trial.operations = (options.full ? 100'000'000 : 10'000'000) / kCases.size() + 1000;
    trial.buckets = c.buckets;
    trial.layout = c.layout;
    trial.consistency = c.consistency;
    trial.most_load = c.most_load;
    trial.seed = options.seed;
    total += trials::run_concurrent_trial(trial);
  }
  const trials::RaceResult races =
      trials::run_lookup_races(options.full ? 200'000 : 10'000, options.seed);
  figures.add(counted(
      "concurrent_false_negatives", total.false_negatives + races.false_negatives, "keys",
      Better::lower,
      text("2 threads, load 0.90-0.97: %.1f M lookups, %.1f M inserts, %.1f M erases, single and "
           "batched; %llu residents seen to move back to their prime bucket; and %llu "
           "interleavings, "
           "access by access, of lookups with moves of their keys",
           1e-6 * static_cast<double>(total.lookups), 1e-6 * static_cast<double>(total.inserts),
           1e-6 * static_cast<double>(total.erases),
           static_cast<unsigned long long>(total.moved_back),
           static_cast<unsigned long long>(races.runs))));
  figures.check(races.problem.empty(), races.problem);
  figures.check(total.problem.empty(), "concurrent: " + total.problem);
}

void run_mooncake_figures(Figures& figures, const RunOptions& options) {
  trials::MooncakeOptions trial;
  trial.operations = options.full ? 40'000'000 : 10'000'000;
  trial.seed = options.seed;
  const trials::BlockStream stream(
      trials::read_mooncake_trace(trials::find_mooncake_trace(options.data)), trial.cache_blocks);
  const trials::MooncakeResult result = trials::run_mooncake_trial(stream, trial);
  const std::string config = text(
      "Mooncake synthetic trace: %llu block uses, %llu distinct, an epoch; LRU cache of %zu "
      "blocks, %llu evictions an epoch; 5x12, 1 thread",
      static_cast<unsigned long long>(stream.accesses_per_epoch()),
      static_cast<unsigned long long>(stream.distinct()), trial.cache_blocks,
      static_cast<unsigned long long>(stream.evictions_per_epoch()));
  figures.add(
      counted("mooncake_operations", result.operations, "operations", Better::higher, config));
  Figure load = counted("mooncake_load", 0, "of slots", Better::higher,
                        "least seen after a kill, cache full");
  load.value = result.load_when_steady;
  figures.add(load);
  figures.add(counted("mooncake_false_negatives", result.false_negatives, "lookups", Better::lower,
                      text("false positives: %llu of %llu lookups of blocks that are not cached",
                           static_cast<unsigned long long>(result.false_positives),
                           static_cast<unsigned long long>(result.misses_looked_up))));
  figures.add(counted("mooncake_lost_after_kill", result.lost_after_kill, "keys", Better::lower,
                      text("%llu kills at random operations; %llu keys checked",
                           static_cast<unsigned long long>(result.kills),
                           static_cast<unsigned long long>(result.keys_checked))));
  Figure mops = counted("mooncake_mops", 0, "M operations/s", Better::higher,
                        "thread CPU time, single-key calls, the stream's own cost included");
  mops.value = result.mops();
  mops.kind = Kind::measured;
  figures.add(mops);
  figures.check(result.problem.empty(), "mooncake: " + result.problem);
  figures.check(result.kills >= trial.kills, "mooncake: too few kills");
}

}  // namespace weir::bench
