// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "support/figures.hpp"
#include "support/machine.hpp"

namespace weir::bench {

/// The results of a run as JSON (schema weir-results-1, docs/benchmarks.md).
std::string results_json(std::string_view module, const Figures& figures, const RunOptions& options,
                         const MachineInfo& machine, double seconds);

/// What is wrong with a results file, one line each; empty when it follows the contract.
std::vector<std::string> contract_problems(std::string_view json);

/// Writes through a temporary file, so that a reader never sees half a file; makes the folder.
/// Throws IoError.
void write_file(const std::filesystem::path& path, std::string_view content);

/// The table that a run prints.
std::string results_table(const Figures& figures, const RunOptions& options);

}  // namespace weir::bench
