// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace weir::bench {

struct MachineInfo {
  std::string cpu = {};
  std::size_t cores = 0;  ///< that this process may use
  std::string simd = {};  ///< "avx512,amx"
  double memory_gib = 0;
  std::optional<std::string> gpu = {};
  std::uint64_t l2_bytes = 0;  ///< of one core; 0: unknown
  std::uint64_t l3_bytes = 0;  ///< as the system reports it, maybe shared with other machines
};
MachineInfo read_machine();

struct BuildInfo {
  std::string compiler;
  std::string type;
  std::string flags;
  std::string version;
};
BuildInfo build_info();

/// Commit of the source tree now, with "-dirty" when files differ from it; else the commit at
/// configure time; "unknown" without git.
std::string source_commit();

/// "2 MiB pages", "4 KiB pages" or "57 % in 2 MiB pages": what really backs the mapping that holds
/// `address`, from /proc/self/smaps. Asking for huge pages does not mean getting them.
std::string page_description(const void* address);

/// "in L2", "in the 480 MiB L3" or "beyond L3" for a working set of so many bytes.
std::string cache_description(const MachineInfo& machine, std::uint64_t bytes);

}  // namespace weir::bench
