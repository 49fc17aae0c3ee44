// SPDX-License-Identifier: Apache-2.0
#include "support/machine.hpp"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>

#include <unistd.h>

#include "weir/runtime/cpu.hpp"
#include "weir/runtime/workers.hpp"

#include "support/progress.hpp"

// CMake passes these; a build without them still works and says so.
#ifndef WEIR_BENCH_SOURCE_DIR
#define WEIR_BENCH_SOURCE_DIR ""
#endif
#ifndef WEIR_BENCH_COMMIT
#define WEIR_BENCH_COMMIT ""
#endif
#ifndef WEIR_BENCH_BUILD_TYPE
#define WEIR_BENCH_BUILD_TYPE "unknown"
#endif
#ifndef WEIR_BENCH_FLAGS
#define WEIR_BENCH_FLAGS ""
#endif
#ifndef WEIR_BENCH_VERSION
#define WEIR_BENCH_VERSION "unknown"
#endif

namespace weir::bench {
namespace {

/// The value of the first "key<spaces>: value" line of a /proc file.
std::string proc_value(const char* path, std::string_view key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(key)) continue;
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    const std::size_t value = line.find_first_not_of(" \t", colon + 1);
    return value == std::string::npos ? "" : line.substr(value);
  }
  return "";
}

std::optional<std::string> find_gpu() {
  std::error_code ignored;  // no driver, no folder: no GPU
  for (const auto& entry :
       std::filesystem::directory_iterator("/proc/driver/nvidia/gpus", ignored)) {
    const std::string model = proc_value((entry.path() / "information").c_str(), "Model");
    if (!model.empty()) return model;
  }
  return std::nullopt;
}

std::uint64_t cache_bytes(int name) {
  const long size = sysconf(name);
  return size > 0 ? static_cast<std::uint64_t>(size) : 0;
}

/// First line of a command's output; empty if it fails.
std::string first_line(const std::string& command) {
  const auto close = [](std::FILE* pipe) { pclose(pipe); };
  const std::unique_ptr<std::FILE, decltype(close)> pipe(popen(command.c_str(), "r"), close);
  char line[256] = "";
  if (!pipe || std::fgets(line, sizeof line, pipe.get()) == nullptr) return "";
  std::string result = line;
  while (!result.empty() && result.back() == '\n') result.pop_back();
  return result;
}

}  // namespace

MachineInfo read_machine() {
  MachineInfo machine;
  machine.cpu = proc_value("/proc/cpuinfo", "model name");
  if (machine.cpu.empty()) machine.cpu = "unknown";
  machine.cores = hardware_threads();
  machine.simd = to_string(detected_isa());
  if (cpu_features().amx_bf16) machine.simd += ",amx";
  const double kib = std::atof(proc_value("/proc/meminfo", "MemTotal").c_str());
  machine.memory_gib = static_cast<double>(static_cast<long>(kib / 104857.6 + 0.5)) / 10;
  machine.gpu = find_gpu();
  machine.l2_bytes = cache_bytes(_SC_LEVEL2_CACHE_SIZE);
  machine.l3_bytes = cache_bytes(_SC_LEVEL3_CACHE_SIZE);
  return machine;
}

BuildInfo build_info() {
#if defined(__clang__)
  const std::string compiler = "clang " __clang_version__;
#else
  const std::string compiler = "g++ " __VERSION__;
#endif
  return {compiler, WEIR_BENCH_BUILD_TYPE, WEIR_BENCH_FLAGS, WEIR_BENCH_VERSION};
}

std::string source_commit() {
  const std::string folder = WEIR_BENCH_SOURCE_DIR;
  if (!folder.empty() && folder.find('\'') == std::string::npos) {
    const std::string git = "git -C '" + folder + "' ";
    std::string commit = first_line(git + "rev-parse --short=12 HEAD 2>/dev/null");
    if (!commit.empty()) {
      const bool clean =
          first_line(git + "status --porcelain --untracked-files=no 2>/dev/null").empty();
      return clean ? commit : commit + "-dirty";
    }
  }
  const std::string configured = WEIR_BENCH_COMMIT;
  return configured.empty() ? "unknown" : configured;
}

std::string page_description(const void* address) {
  const auto wanted = reinterpret_cast<std::uintptr_t>(address);
  std::ifstream file("/proc/self/smaps");
  bool inside = false;
  double resident = 0;
  for (std::string line; std::getline(file, line);) {
    unsigned long begin = 0;
    unsigned long end = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx ", &begin, &end) == 2) {
      inside = begin <= wanted && wanted < end;
      resident = 0;
      continue;
    }
    if (!inside) continue;
    double kib = 0;
    if (std::sscanf(line.c_str(), "Rss: %lf", &kib) == 1) resident = kib;
    const bool huge = std::sscanf(line.c_str(), "AnonHugePages: %lf", &kib) == 1 ||
                      std::sscanf(line.c_str(), "ShmemPmdMapped: %lf", &kib) == 1;
    if (!huge || resident <= 0 || kib <= 0) continue;
    if (kib >= 0.98 * resident) return "2 MiB pages";
    return text("%.0f %% in 2 MiB pages", 100 * kib / resident);
  }
  return "4 KiB pages";
}

std::string cache_description(const MachineInfo& machine, std::uint64_t bytes) {
  if (bytes <= machine.l2_bytes) return "cache-resident: in L2";
  if (bytes <= machine.l3_bytes)
    return text("cache-resident: in the %.0f MiB L3", static_cast<double>(machine.l3_bytes >> 20));
  return "beyond L3";
}

}  // namespace weir::bench
