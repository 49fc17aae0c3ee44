// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "anifilter/figures.hpp"
#include "anifilter/trials_figures.hpp"
#include "support/program.hpp"

int main(int argc, char** argv) {
  using namespace weir::bench;
  static constexpr Topic kTopics[] = {
      {"counted", "lines, words, flushes and fences of each operation", run_counted_figures},
      {"rival", "the same for the cuckoo filter: is the rival honest?", run_rival_figures},
      {"ideas", "what each of the paper's three ideas gains", run_ideas_figures},
      {"fpr", "false positives against theory", run_fpr_figures},
      {"max_load", "load at the first insert that does not fit", run_max_load_figures},
      {"insert", "single inserts at 93 to 95 % load against the cuckoo filter", run_insert_figures},
      {"fill", "batched fill to 95 % against the cuckoo filter", run_fill_figures},
      {"lookup", "batched lookups at 95 % against the cuckoo filter", run_lookup_figures},
      {"durable", "the same with flush and fence", run_durable_figures},
      {"scaling", "two threads against one", run_scaling_figures},
      {"recovery", "opening a filter file", run_recovery_figures},
      {"crash", "every state that a power failure may leave", run_crash_figures},
      {"mutants", "seeded faults: does the crash explorer see them?", run_mutant_figures},
      {"kill9", "killed processes, reopened files", run_kill9_figures},
      {"concurrent", "inserts, erases and lookups from two threads", run_concurrent_figures},
      {"mooncake", "the block stream of a key-value cache, killed and reopened",
       run_mooncake_figures},
  };
  std::vector<Bar> bars(anifilter_bars().begin(), anifilter_bars().end());
  bars.insert(bars.end(), anifilter_trial_bars().begin(), anifilter_trial_bars().end());
  return run_figures(
      "anifilter",
      "Measures AniFilter: against a cuckoo filter in the same run, in counted lines "
      "and fences, and by its failures. Writes results/anifilter.json.",
      kTopics, bars, argc, argv);
}
