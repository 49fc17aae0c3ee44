// SPDX-License-Identifier: Apache-2.0
// What is known about the medium below a file, and what may be promised for it.
#include <algorithm>
#include <fstream>
#include <string>

#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "weir/runtime/error.hpp"

#include "region_file.hpp"

namespace weir::detail {

bool is_volatile_file_system(int descriptor) {
  struct statfs info {};
  if (fstatfs(descriptor, &info) != 0) return false;  // unknown: then it is taken for a disk
  const auto type = static_cast<unsigned long>(info.f_type);
  return type == TMPFS_MAGIC || type == RAMFS_MAGIC || type == HUGETLBFS_MAGIC;
}

bool is_dax(int descriptor, Bytes size) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  // Only the mapping type matters, so one page is enough, and reading is all that every open mode
  // allows. MAP_SHARED_VALIDATE makes kernels that do not know MAP_SYNC refuse it.
  void* p = mmap(nullptr, std::min<std::size_t>(page, size.value), PROT_READ,
                 MAP_SHARED_VALIDATE | MAP_SYNC, descriptor, 0);
  if (p == MAP_FAILED) return false;
  munmap(p, std::min<std::size_t>(page, size.value));
  return true;
}

bool caches_are_persistent() {
  std::error_code error;
  std::filesystem::directory_iterator devices("/sys/bus/nd/devices", error);
  if (error) return false;
  std::size_t regions = 0;
  for (const auto& device : devices) {
    if (!device.path().filename().string().starts_with("region")) continue;
    std::string domain;
    std::ifstream(device.path() / "persistence_domain") >> domain;
    if (domain != "cpu_cache") return false;
    ++regions;
  }
  return regions > 0;
}

void advise_mapping(void* p, const RegionFile& file, const Medium& medium,
                    const RegionOptions& options) {
  const auto size = static_cast<std::size_t>(file.size().value);
  if (options.huge_pages) madvise(p, size, MADV_HUGEPAGE);
  // A new file has nothing to scan, and its pages would be cleared for nothing.
  if (options.prefault && !file.is_new() && (medium.persistent_memory || medium.volatile_files))
    madvise(p, size, MADV_POPULATE_READ);
}

Promise promise_of(const Medium& medium, const RegionOptions& options, const std::string& name) {
  Promise best{Durability::process_crash, FlushInstruction::none};
  if (medium.persistent_memory) {
    best = {Durability::power_fail,
            medium.persistent_caches ? FlushInstruction::none : best_flush_instruction()};
  } else if (!medium.volatile_files) {
    best = {Durability::power_fail_msync, FlushInstruction::msync};
  }
  // A fence that calls msync costs a thousand times more: only for those who asked for it.
  Promise given = best;
  if (best.flush == FlushInstruction::msync && options.minimum <= Durability::process_crash)
    given = {Durability::process_crash, FlushInstruction::none};

  if (options.flush) {
    given.flush = *options.flush;
    const bool lines =
        given.flush != FlushInstruction::none && given.flush != FlushInstruction::msync;
    if (medium.persistent_memory && (lines || medium.persistent_caches))
      given.durability = Durability::power_fail;
    else if (given.flush == FlushInstruction::msync && !medium.volatile_files)
      given.durability = Durability::power_fail_msync;
    else
      given.durability = Durability::process_crash;
  }
  if (given.durability < options.minimum) {
    std::string message =
        name + ": durability " + std::string(to_string(options.minimum)) + " was asked for, but ";
    if (options.flush)
      message += "with flush instruction " + std::string(to_string(*options.flush)) + " it is " +
                 std::string(to_string(given.durability)) + "; leave options.flush unset";
    else if (medium.volatile_files)
      message +=
          "this file system lives in memory and gives process_crash; use a path on a disk "
          "or on persistent memory, or lower options.minimum";
    else
      message += "this file system gives at most " + std::string(to_string(best.durability)) +
                 "; use a path on a file system mounted with DAX, or lower options.minimum";
    throw Unsupported(message);
  }
  return given;
}

}  // namespace weir::detail
