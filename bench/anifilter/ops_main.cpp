// SPDX-License-Identifier: Apache-2.0
// Micro-benchmarks of AniFilter: absolute rates, to find out what a change does. Ratios to other
// filters are the business of anifilter_figures.
#include <benchmark/benchmark.h>

#include "anifilter/ops.hpp"

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  weir::bench::register_filter_ops();
  weir::bench::register_flush_ops();
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
