// SPDX-License-Identifier: Apache-2.0
#include "weir/runtime/persistent_region.hpp"

#include "weir/runtime/cpu.hpp"

#include "region_file.hpp"
#include "sync_queue.hpp"

namespace weir {

std::string_view to_string(Durability durability) {
  switch (durability) {
    case Durability::none:
      return "none";
    case Durability::process_crash:
      return "process_crash";
    case Durability::power_fail_msync:
      return "power_fail_msync";
    case Durability::power_fail:
      return "power_fail";
  }
  return "?";
}

std::string_view to_string(FlushInstruction instruction) {
  switch (instruction) {
    case FlushInstruction::none:
      return "none";
    case FlushInstruction::clflush:
      return "clflush";
    case FlushInstruction::clflushopt:
      return "clflushopt";
    case FlushInstruction::clwb:
      return "clwb";
    case FlushInstruction::msync:
      return "msync";
  }
  return "?";
}

FlushInstruction best_flush_instruction() {
  if (cpu_features().clwb) return FlushInstruction::clwb;
  if (cpu_features().clflushopt) return FlushInstruction::clflushopt;
  return FlushInstruction::clflush;  // SSE2: every x86-64 processor has it
}

PersistentRegion::PersistentRegion() : sync_queues_(std::make_unique<detail::SyncQueues>()) {}
PersistentRegion::~PersistentRegion() = default;

void PersistentRegion::sync(std::span<const std::byte>) {}

detail::SyncQueues& detail::sync_queues(PersistentRegion& region) { return *region.sync_queues_; }

namespace {

std::unique_ptr<PersistentRegion> map_with_best(detail::RegionFile file,
                                                const RegionOptions& options) {
  const bool pmem =
      have_libpmem() && (file.is_device() || detail::is_dax(file.descriptor(), file.size()));
  return pmem ? detail::map_with_pmem(std::move(file), options)
              : detail::map_with_mmap(std::move(file), options);
}

}  // namespace

std::unique_ptr<PersistentRegion> create_region(const std::filesystem::path& path, Bytes size,
                                                const RegionOptions& options) {
  return map_with_best(detail::RegionFile::create(path, size), options);
}

std::unique_ptr<PersistentRegion> open_region(const std::filesystem::path& path,
                                              const RegionOptions& options) {
  return map_with_best(detail::RegionFile::open(path, options.writable), options);
}

}  // namespace weir
