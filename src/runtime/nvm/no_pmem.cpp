// SPDX-License-Identifier: Apache-2.0
// Stands in for pmem_region.cpp in a build without libpmem.
#include <string>

#include "weir/runtime/error.hpp"

#include "region_file.hpp"

namespace weir {
namespace {

[[noreturn]] void refuse(const std::string& path) {
  throw Unsupported(path +
                    ": this build of Weir has no libpmem; install libpmem-dev and build "
                    "again, or use an mmap region");
}

}  // namespace

bool have_libpmem() noexcept { return false; }

std::unique_ptr<PersistentRegion> detail::map_with_pmem(RegionFile file, const RegionOptions&) {
  refuse(file.path());
}

std::unique_ptr<PersistentRegion> create_pmem_region(const std::filesystem::path& path, Bytes,
                                                     const RegionOptions&) {
  refuse(path.string());
}

std::unique_ptr<PersistentRegion> open_pmem_region(const std::filesystem::path& path,
                                                   const RegionOptions&) {
  refuse(path.string());
}

}  // namespace weir
