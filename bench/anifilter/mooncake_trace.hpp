// SPDX-License-Identifier: Apache-2.0
// Reader of Mooncake's KV-cache traces: one JSON object a line, {"timestamp": ms, "input_length":
// tokens, "output_length": tokens, "hash_ids": [block, ...]}; other members are ignored.
#pragma once
#include <cstdint>
#include <filesystem>
#include <istream>
#include <string>
#include <vector>

namespace weir::anifilter::trials {

struct MooncakeRequest {
  std::uint64_t timestamp = 0;  ///< milliseconds
  std::uint64_t input_length = 0;
  std::uint64_t output_length = 0;
  std::vector<std::uint64_t> blocks;  ///< ids of its 512-token blocks, in order
};

/// Throws CorruptData with the line number for a line that is not such an object; blank lines are
/// skipped. `name` is for messages.
std::vector<MooncakeRequest> read_mooncake_trace(std::istream& in, const std::string& name);
/// Throws IoError if the file cannot be read.
std::vector<MooncakeRequest> read_mooncake_trace(const std::filesystem::path& path);

/// Where the shipped trace is: `hint` (a file, or the directory that has it) if not empty, else the
/// environment variable WEIR_DATA, else data/ of the source tree, else data/ here or in a parent.
/// Throws IoError naming the places that were tried.
std::filesystem::path find_mooncake_trace(const std::filesystem::path& hint = {});

}  // namespace weir::anifilter::trials
