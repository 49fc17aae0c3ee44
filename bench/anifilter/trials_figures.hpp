// SPDX-License-Identifier: Apache-2.0
// The trials as topics of anifilter_figures, and the bars they are held to.
#pragma once
#include <span>

#include "support/figures.hpp"

namespace weir::bench {

/// Bars of the topics below.
std::span<const Bar> anifilter_trial_bars();

void run_crash_figures(Figures& figures, const RunOptions& options);
void run_mutant_figures(Figures& figures, const RunOptions& options);
void run_kill9_figures(Figures& figures, const RunOptions& options);
void run_concurrent_figures(Figures& figures, const RunOptions& options);
/// Reads the trace in `options.data`, else in WEIR_DATA, else in data/ of the source tree.
void run_mooncake_figures(Figures& figures, const RunOptions& options);

}  // namespace weir::bench
