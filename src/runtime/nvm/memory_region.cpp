// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <cstdint>

#include <sys/mman.h>

#include "weir/runtime/error.hpp"
#include "weir/runtime/persistent_access.hpp"

#include "anonymous_memory.hpp"

namespace weir {
namespace detail {

AnonymousMemory::AnonymousMemory(Bytes size, bool huge_pages) {
  constexpr std::size_t kHugePage = std::size_t{2} << 20;
  constexpr std::uint64_t kMost = std::uint64_t{1} << 47;  // user addresses of x86-64
  WEIR_EXPECTS(size.value > 0, "memory region: 0 bytes; ask for at least 1");
  WEIR_EXPECTS(size.value <= kMost, "memory region: " + std::to_string(size.value) +
                                        " bytes; at most 2^47 can be mapped");
  const auto length = static_cast<std::size_t>(size.value);
  // Only whole, aligned huge pages are given: map too much and give the ends back.
  const std::size_t slack = length >= kHugePage ? kHugePage : 0;
  void* p =
      mmap(nullptr, length + slack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED)
    throw OutOfSpace("memory region: the kernel refused " + to_string(size) +
                     " of memory; ask for less");
  auto* begin = static_cast<std::byte*>(p);
  if (slack > 0) {
    const auto address = reinterpret_cast<std::uintptr_t>(p);
    const std::size_t head = (kHugePage - address % kHugePage) % kHugePage;
    if (head > 0) munmap(begin, head);
    // The kernel rounds the length up to pages, and so must the tail.
    const std::size_t used = (length + 4095) / 4096 * 4096;
    const std::size_t all = (length + slack + 4095) / 4096 * 4096;
    begin += head;
    if (head + used < all) munmap(begin + used, all - head - used);
    // Advice: its failure changes the speed only.
    if (huge_pages) madvise(begin, length, MADV_HUGEPAGE);
  }
  bytes_ = {begin, length};
}

AnonymousMemory::~AnonymousMemory() { munmap(bytes_.data(), bytes_.size()); }

}  // namespace detail

namespace {

class MemoryRegion : public PersistentRegion {
 public:
  MemoryRegion(Bytes size, FlushInstruction flush, bool huge_pages)
      : memory_(size, huge_pages), flush_(flush) {}

  std::span<std::byte> bytes() noexcept override { return memory_.bytes(); }
  Durability durability() const noexcept override { return Durability::none; }
  FlushInstruction flush_instruction() const noexcept override { return flush_; }
  std::string name() const override { return "memory"; }

 private:
  detail::AnonymousMemory memory_;
  FlushInstruction flush_;
};

class CountingRegion final : public MemoryRegion {
 public:
  explicit CountingRegion(Bytes size) : MemoryRegion(size, FlushInstruction::none, true) {}
  std::string name() const override { return "counting memory"; }
  AccessCounter* counter() noexcept override { return &counter_; }

 private:
  AccessCounter counter_;
};

class ViewRegion final : public PersistentRegion {
 public:
  explicit ViewRegion(std::span<std::byte> bytes) : bytes_(bytes) {
    WEIR_EXPECTS(!bytes.empty(), "view region: 0 bytes; show it at least 1");
    WEIR_EXPECTS(reinterpret_cast<std::uintptr_t>(bytes.data()) % kBlockBytes == 0,
                 "view region: the memory is not aligned to 256 bytes; copy it to where it is");
  }

  std::span<std::byte> bytes() noexcept override { return bytes_; }
  Durability durability() const noexcept override { return Durability::none; }
  FlushInstruction flush_instruction() const noexcept override { return FlushInstruction::none; }
  std::string name() const override { return "view of memory"; }

 private:
  std::span<std::byte> bytes_;
};

}  // namespace

std::unique_ptr<PersistentRegion> make_view_region(std::span<std::byte> bytes) {
  return std::make_unique<ViewRegion>(bytes);
}

std::unique_ptr<PersistentRegion> make_memory_region(Bytes size, FlushInstruction flush,
                                                     bool huge_pages) {
  return std::make_unique<MemoryRegion>(size, flush, huge_pages);
}

std::unique_ptr<PersistentRegion> make_counting_region(Bytes size) {
  return std::make_unique<CountingRegion>(size);
}

}  // namespace weir
