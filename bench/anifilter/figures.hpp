// SPDX-License-Identifier: Apache-2.0
// The topics of anifilter_figures, one source file each, and the bars they are held to.
#pragma once
#include <span>

#include "support/figures.hpp"

namespace weir::bench {

/// Everything that is asked of AniFilter, in one table.
std::span<const Bar> anifilter_bars();

// Against the rival, with flush and fence compiled out on both sides.
void run_insert_figures(Figures& figures, const RunOptions& options);
void run_fill_figures(Figures& figures, const RunOptions& options);
void run_lookup_figures(Figures& figures, const RunOptions& options);
// The same, with them.
void run_durable_figures(Figures& figures, const RunOptions& options);

void run_scaling_figures(Figures& figures, const RunOptions& options);
void run_counted_figures(Figures& figures, const RunOptions& options);
void run_rival_figures(Figures& figures, const RunOptions& options);
void run_ideas_figures(Figures& figures, const RunOptions& options);
void run_max_load_figures(Figures& figures, const RunOptions& options);
void run_fpr_figures(Figures& figures, const RunOptions& options);
void run_recovery_figures(Figures& figures, const RunOptions& options);

}  // namespace weir::bench
