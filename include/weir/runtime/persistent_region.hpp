// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "weir/runtime/units.hpp"

namespace weir {

class AccessCounter;
class CrashRecorder;
class PersistentRegion;

namespace detail {
class SyncQueues;
SyncQueues& sync_queues(PersistentRegion& region);
}  // namespace detail

/// What survives, once a flush of a line and a fence after it have returned. Ordered: a higher
/// value promises more.
enum class Durability {
  none,              ///< nothing: ordinary memory
  process_crash,     ///< the death of the process (kill -9), not of the machine
  power_fail_msync,  ///< a power failure, because a fence calls msync (slow; pages, not lines)
  power_fail,  ///< a power failure at the speed of stores: DAX, or caches that are flushed (eADR)
};
std::string_view to_string(Durability durability);

/// How a line of the region becomes durable. `none`: a store is durable when it is visible (eADR),
/// or durability does not depend on caches (process_crash, none); flush and fence then cost
/// nothing.
enum class FlushInstruction { none, clflush, clflushopt, clwb, msync };
std::string_view to_string(FlushInstruction instruction);

/// The best line flush this processor has: clwb, else clflushopt, else clflush.
FlushInstruction best_flush_instruction();

/// Bytes that outlive the process (or pretend to), mapped into memory, with the truth about how
/// durable they are. Persistent structures are built on this interface; a new kind of memory is a
/// new subclass and nothing else. Owns the mapping; destroying it unmaps and releases the lock.
/// The accessors are thread-safe.
class PersistentRegion {
 public:
  PersistentRegion();
  virtual ~PersistentRegion();
  PersistentRegion(const PersistentRegion&) = delete;
  PersistentRegion& operator=(const PersistentRegion&) = delete;

  /// The whole region; its start is aligned to at least 256 bytes, its size never changes.
  [[nodiscard]] virtual std::span<std::byte> bytes() noexcept = 0;
  [[nodiscard]] virtual Durability durability() const noexcept = 0;
  [[nodiscard]] virtual FlushInstruction flush_instruction() const noexcept = 0;
  /// A store to a region that is not writable faults.
  [[nodiscard]] virtual bool writable() const noexcept { return true; }
  /// For messages: "mmap /mnt/pmem/a.weir", "memory".
  [[nodiscard]] virtual std::string name() const = 0;

  /// Makes `range` (part of bytes()) durable with a system call and returns when it is. Called by a
  /// fence when flush_instruction() is msync; throws IoError. The default has nothing to do.
  virtual void sync(std::span<const std::byte> range);

  /// Makes a region that create_*() returned visible under its path (see there). Idempotent; the
  /// default has nothing to do. Throws IoError.
  virtual void publish() {}

  /// Instrumented regions return theirs; structures then use the counting or the recording access.
  [[nodiscard]] virtual AccessCounter* counter() noexcept { return nullptr; }
  [[nodiscard]] virtual CrashRecorder* recorder() noexcept { return nullptr; }

 private:
  friend detail::SyncQueues& detail::sync_queues(PersistentRegion& region);
  // What threads flushed and have not fenced yet, for flush instruction msync. Owned by the region,
  // so that nothing of it is left when the region is gone.
  std::unique_ptr<detail::SyncQueues> sync_queues_;
};

/// How create_*() and open_*() treat a file.
struct RegionOptions {
  /// The least that will do; less throws Unsupported and says what the medium can give.
  Durability minimum = Durability::process_crash;
  /// Opens for writing (one writer at a time, else Busy) or for reading (any number, no writer).
  bool writable = true;
  /// Overrides the flush instruction, to measure or to work around; unset: chosen from the medium.
  std::optional<FlushInstruction> flush = {};
  /// Asks for 2 MiB pages where the medium can (MADV_HUGEPAGE).
  bool huge_pages = true;
  /// Maps the pages of an opened file at once instead of one by one as they are touched, where that
  /// reads nothing from a disk (DAX, tmpfs): a scan of the whole file takes a fifth less time.
  bool prefault = true;
};

/// A file mapped with mmap. On a DAX file system it is mapped with MAP_SYNC and is power_fail; else
/// it is power_fail_msync when `minimum` asks for that, and process_crash otherwise.
///
/// create: the file is made under a temporary name (`<path>.creating`) and takes its name only in
/// publish(), so a crash or signal before that leaves no file at `path`; a stale temporary file of
/// a dead process is replaced. The space is reserved: OutOfSpace now rather than SIGBUS later.
/// On tmpfs and other file systems in memory nothing is better than process_crash, and
/// `options.flush` lowers durability() where it leaves out what the medium needs.
/// Throws InvalidArgument (size 0, path exists), IoError, OutOfSpace, Busy, Unsupported.
/// open: throws IoError (absent, a directory, read-only medium), Busy, Unsupported (not a regular
/// file), CorruptData (empty file). Follows symbolic links; create does not.
std::unique_ptr<PersistentRegion> create_mmap_region(const std::filesystem::path& path, Bytes size,
                                                     const RegionOptions& options = {});
std::unique_ptr<PersistentRegion> open_mmap_region(const std::filesystem::path& path,
                                                   const RegionOptions& options = {});

/// The same over libpmem (pmem_map_file), which decides whether the medium is persistent memory. A
/// device DAX (/dev/dax0.0) can only be opened: its bytes exist already and there is no name to
/// publish. Unsupported in a build without libpmem, see have_libpmem().
std::unique_ptr<PersistentRegion> create_pmem_region(const std::filesystem::path& path, Bytes size,
                                                     const RegionOptions& options = {});
std::unique_ptr<PersistentRegion> open_pmem_region(const std::filesystem::path& path,
                                                   const RegionOptions& options = {});
bool have_libpmem() noexcept;

/// What a structure uses for a path when the user named no region: libpmem if it is there and the
/// medium is persistent memory, mmap otherwise.
std::unique_ptr<PersistentRegion> create_region(const std::filesystem::path& path, Bytes size,
                                                const RegionOptions& options = {});
std::unique_ptr<PersistentRegion> open_region(const std::filesystem::path& path,
                                              const RegionOptions& options = {});

/// Zeroed ordinary memory: Durability::none. `flush` lets a benchmark pay for flushes on DRAM.
std::unique_ptr<PersistentRegion> make_memory_region(
    Bytes size, FlushInstruction flush = FlushInstruction::none, bool huge_pages = true);

/// Somebody else's memory, which must outlive it: Durability::none. For recovery on an image that a
/// crash explorer made. Its start must be aligned to 256 bytes, else InvalidArgument.
std::unique_ptr<PersistentRegion> make_view_region(std::span<std::byte> bytes);

/// Ordinary memory whose accesses are counted (persistent_access.hpp); owns its counter.
std::unique_ptr<PersistentRegion> make_counting_region(Bytes size);

}  // namespace weir
