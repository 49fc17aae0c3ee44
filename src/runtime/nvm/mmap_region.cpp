// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <utility>

#include <sys/mman.h>
#include <unistd.h>

#include "weir/runtime/error.hpp"

#include "region_file.hpp"

namespace weir {
namespace {

class MmapRegion final : public PersistentRegion {
 public:
  MmapRegion(detail::RegionFile file, const RegionOptions& options) : file_(std::move(file)) {
    if (file_.is_device())
      throw Unsupported(file_.path() +
                        " is a device DAX, which only libpmem can map; use "
                        "open_pmem_region in a build with libpmem");
    const int descriptor = file_.descriptor();
    const detail::Medium medium{.persistent_memory = detail::is_dax(descriptor, file_.size()),
                                .persistent_caches = detail::caches_are_persistent(),
                                .volatile_files = detail::is_volatile_file_system(descriptor)};
    promise_ = detail::promise_of(medium, options, file_.path());

    const int protection = PROT_READ | (file_.writable() ? PROT_WRITE : 0);
    const int flags = medium.persistent_memory ? MAP_SHARED_VALIDATE | MAP_SYNC : MAP_SHARED;
    void* p = mmap(nullptr, file_.size().value, protection, flags, descriptor, 0);
    if (p == MAP_FAILED)
      throw_system_error("cannot map " + to_string(file_.size()) + " of", file_.path(), errno);
    bytes_ = {static_cast<std::byte*>(p), static_cast<std::size_t>(file_.size().value)};
    detail::advise_mapping(p, file_, medium, options);
  }

  ~MmapRegion() override { munmap(bytes_.data(), bytes_.size()); }

  std::span<std::byte> bytes() noexcept override { return bytes_; }
  Durability durability() const noexcept override { return promise_.durability; }
  FlushInstruction flush_instruction() const noexcept override { return promise_.flush; }
  bool writable() const noexcept override { return file_.writable(); }
  std::string name() const override { return "mmap " + file_.path(); }

  void sync(std::span<const std::byte> range) override {
    // msync wants the start of a page.
    const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    const auto begin = reinterpret_cast<std::uintptr_t>(range.data());
    const std::uintptr_t aligned = begin / page * page;
    if (msync(reinterpret_cast<void*>(aligned), range.size() + (begin - aligned), MS_SYNC) != 0)
      throw_system_error("cannot sync", file_.current_path(), errno);
  }

  void publish() override { file_.publish(promise_.durability >= Durability::power_fail_msync); }

 private:
  detail::RegionFile file_;
  detail::Promise promise_{};
  std::span<std::byte> bytes_;
};

}  // namespace

std::unique_ptr<PersistentRegion> detail::map_with_mmap(RegionFile file,
                                                        const RegionOptions& options) {
  return std::make_unique<MmapRegion>(std::move(file), options);
}

std::unique_ptr<PersistentRegion> create_mmap_region(const std::filesystem::path& path, Bytes size,
                                                     const RegionOptions& options) {
  return detail::map_with_mmap(detail::RegionFile::create(path, size), options);
}

std::unique_ptr<PersistentRegion> open_mmap_region(const std::filesystem::path& path,
                                                   const RegionOptions& options) {
  return detail::map_with_mmap(detail::RegionFile::open(path, options.writable), options);
}

}  // namespace weir
