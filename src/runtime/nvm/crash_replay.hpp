// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <span>

#include "weir/runtime/crash_explorer.hpp"

namespace weir::detail {

/// Writes `replay` with `image` for its image; makes the directory. Throws IoError.
void save_crash_replay(const std::filesystem::path& path, const CrashReplay& replay,
                       std::span<const std::byte> image);

}  // namespace weir::detail
