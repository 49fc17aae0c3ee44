// SPDX-License-Identifier: Apache-2.0
// The main() of every figure program: command line, topics in order, table, results file.
#pragma once
#include <span>
#include <string_view>

#include "support/figures.hpp"

namespace weir::bench {

/// A group of figures that are measured together.
struct Topic {
  std::string_view name;
  std::string_view what;  ///< one line for --list
  void (*run)(Figures& figures, const RunOptions& options);
};

/// Returns the exit code: 0 all results right (also when they are poor), 1 a wrong result, a topic
/// that threw or a results file that could not be written, 2 a bad command line.
int run_figures(std::string_view module, std::string_view description,
                std::span<const Topic> topics, std::span<const Bar> bars, int argc,
                const char* const* argv);

}  // namespace weir::bench
