// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <utility>

#include <libpmem.h>
#include <sys/mman.h>

#include "weir/runtime/error.hpp"

#include "region_file.hpp"

namespace weir {
namespace {

/// libpmem maps and judges the medium; the file, its lock and its name are those of the mmap
/// region.
class PmemRegion final : public PersistentRegion {
 public:
  PmemRegion(detail::RegionFile file, const RegionOptions& options) : file_(std::move(file)) {
    int is_pmem = 0;
    // Length 0 and no flags: map the whole of what exists.
    void* p = pmem_map_file(file_.current_path().c_str(), 0, 0, 0, &mapped_, &is_pmem);
    if (p == nullptr)
      throw_system_error(std::string("cannot map with libpmem (") + pmem_errormsg() + ")",
                         file_.current_path(), errno);
    data_ = static_cast<std::byte*>(p);
    try {
      // What libpmem calls persistent memory is so (or PMEM_IS_PMEM_FORCE=1 says so, for tests).
      const detail::Medium medium{
          .persistent_memory = is_pmem != 0,
          .persistent_caches = pmem_has_auto_flush() == 1,
          .volatile_files = detail::is_volatile_file_system(file_.descriptor())};
      promise_ = detail::promise_of(medium, options, file_.path());
      if (!file_.writable() && mprotect(p, mapped_, PROT_READ) != 0)
        throw_system_error("cannot protect the mapping of", file_.path(), errno);
      if (!file_.is_device()) detail::advise_mapping(p, file_, medium, options);
    } catch (...) {
      pmem_unmap(data_, mapped_);
      throw;
    }
  }

  ~PmemRegion() override { pmem_unmap(data_, mapped_); }

  std::span<std::byte> bytes() noexcept override { return {data_, mapped_}; }
  Durability durability() const noexcept override { return promise_.durability; }
  FlushInstruction flush_instruction() const noexcept override { return promise_.flush; }
  bool writable() const noexcept override { return file_.writable(); }
  std::string name() const override { return "libpmem " + file_.path(); }

  void sync(std::span<const std::byte> range) override {
    if (pmem_msync(range.data(), range.size()) != 0)
      throw_system_error("cannot sync", file_.current_path(), errno);
  }

  void publish() override { file_.publish(promise_.durability >= Durability::power_fail_msync); }

 private:
  detail::RegionFile file_;
  detail::Promise promise_{};
  std::byte* data_ = nullptr;
  std::size_t mapped_ = 0;
};

}  // namespace

bool have_libpmem() noexcept { return true; }

std::unique_ptr<PersistentRegion> detail::map_with_pmem(RegionFile file,
                                                        const RegionOptions& options) {
  // pmem_map_file opens for writing, which a read-only file does not allow; reading needs nothing
  // that libpmem adds. A device can be mapped by libpmem only.
  if (!file.writable() && !file.is_device()) return map_with_mmap(std::move(file), options);
  return std::make_unique<PmemRegion>(std::move(file), options);
}

std::unique_ptr<PersistentRegion> create_pmem_region(const std::filesystem::path& path, Bytes size,
                                                     const RegionOptions& options) {
  return detail::map_with_pmem(detail::RegionFile::create(path, size), options);
}

std::unique_ptr<PersistentRegion> open_pmem_region(const std::filesystem::path& path,
                                                   const RegionOptions& options) {
  return detail::map_with_pmem(detail::RegionFile::open(path, options.writable), options);
}

}  // namespace weir
