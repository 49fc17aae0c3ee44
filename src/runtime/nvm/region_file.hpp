// SPDX-License-Identifier: Apache-2.0
// What the file-backed regions share: creating, opening, locking and publishing a file, and what
// the kernel says about the medium below it.
#pragma once
#include <filesystem>
#include <memory>
#include <string>

#include <sys/types.h>

#include "weir/runtime/persistent_region.hpp"

namespace weir::detail {

/// A locked file: `<path>.creating` until publish(), then `path`. Move-only; the lock is released,
/// and a file that was not published removed, when it is destroyed.
class RegionFile {
 public:
  static RegionFile create(const std::filesystem::path& path, Bytes size);
  static RegionFile open(const std::filesystem::path& path, bool writable);

  RegionFile(RegionFile&& other) noexcept;
  RegionFile& operator=(RegionFile&&) = delete;
  ~RegionFile();

  /// Gives the file its name; with `durable` the name and the file's size survive a power failure
  /// when this returns.
  void publish(bool durable);

  [[nodiscard]] int descriptor() const noexcept { return descriptor_; }
  [[nodiscard]] Bytes size() const noexcept { return size_; }
  [[nodiscard]] bool writable() const noexcept { return writable_; }
  /// From create(), and not published yet.
  [[nodiscard]] bool is_new() const noexcept { return !published_; }
  /// Device DAX: no file but a character device; only libpmem can map it.
  [[nodiscard]] bool is_device() const noexcept { return device_; }
  /// The name under which the file is found now.
  [[nodiscard]] const std::string& current_path() const noexcept {
    return published_ ? path_ : temporary_;
  }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  RegionFile() = default;
  void publish_name(bool durable) const;

  std::string path_;
  std::string temporary_;
  int descriptor_ = -1;
  Bytes size_;
  bool writable_ = true;
  bool device_ = false;
  bool published_ = true;
  bool name_durable_ = true;
  pid_t owner_ = 0;  // a forked child must neither unlock nor remove what its parent uses
};

/// A file system whose files are lost with the machine (tmpfs, ramfs, hugetlbfs).
bool is_volatile_file_system(int descriptor);

/// The file can be mapped with MAP_SYNC: its blocks are persistent memory (DAX).
bool is_dax(int descriptor, Bytes size);

/// Every persistent-memory region of the machine says that its persistence domain includes the
/// processor caches (eADR). False where the kernel does not say.
bool caches_are_persistent();

/// Durability and flush instruction of a mapping, from the medium and the caller's options.
struct Medium {
  bool persistent_memory = false;  ///< DAX
  bool persistent_caches = false;  ///< eADR
  bool volatile_files = false;     ///< tmpfs: msync makes nothing durable
};
struct Promise {
  Durability durability;
  FlushInstruction flush;
};
/// Throws Unsupported if it is less than options.minimum; `name` is for the message.
Promise promise_of(const Medium& medium, const RegionOptions& options, const std::string& name);

/// What the options ask of a new mapping. Advice: its failure changes the speed only.
void advise_mapping(void* p, const RegionFile& file, const Medium& medium,
                    const RegionOptions& options);

/// Map the file; the region owns it from then on.
std::unique_ptr<PersistentRegion> map_with_mmap(RegionFile file, const RegionOptions& options);
std::unique_ptr<PersistentRegion> map_with_pmem(RegionFile file, const RegionOptions& options);

}  // namespace weir::detail
