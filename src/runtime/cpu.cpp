// SPDX-License-Identifier: Apache-2.0
#include "weir/runtime/cpu.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <string>

#include <cpuid.h>

#include "weir/runtime/error.hpp"

namespace weir {
namespace {

constexpr bool bit(std::uint32_t word, int index) { return ((word >> index) & 1u) != 0; }

// XCR0: which register state the operating system saves. _xgetbv would need -mxsave.
std::uint64_t enabled_state() {
  std::uint32_t low = 0;
  std::uint32_t high = 0;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (static_cast<std::uint64_t>(high) << 32) | low;
}

// Bit numbers: Intel SDM volume 2A, CPUID leaves 1 and 7; XCR0: volume 1, section 13.3.
CpuFeatures read_features() {
  CpuFeatures features;
  std::uint32_t a = 0, b = 0, c1 = 0, d = 0;
  if (__get_cpuid(1, &a, &b, &c1, &d) == 0) return features;
  const bool fma = bit(c1, 12);
  const bool popcnt = bit(c1, 23);
  const bool os_saves_state = bit(c1, 27);

  std::uint32_t b7 = 0, c7 = 0, d7 = 0;
  if (__get_cpuid_count(7, 0, &a, &b7, &c7, &d7) == 0) return features;
  features.clflushopt = bit(b7, 23);
  features.clwb = bit(b7, 24);

  if (!os_saves_state) return features;
  const std::uint64_t state = enabled_state();
  const auto saves = [state](std::uint64_t mask) { return (state & mask) == mask; };
  constexpr std::uint64_t kYmm = 0x6;          // SSE and AVX registers
  constexpr std::uint64_t kZmm = kYmm | 0xE0;  // mask registers and both parts of the ZMM file
  constexpr std::uint64_t kTiles = 0x60000;    // AMX configuration and data

  features.avx2 = saves(kYmm) && bit(b7, 5) && bit(b7, 8) && fma && popcnt;
  features.avx512 = features.avx2 && saves(kZmm) && bit(b7, 16) /* F */ && bit(b7, 17) /* DQ */ &&
                    bit(b7, 28) /* CD */ && bit(b7, 30) /* BW */ && bit(b7, 31) /* VL */ &&
                    bit(c7, 14) /* VPOPCNTDQ */;
  features.amx_bf16 = saves(kTiles) && bit(d7, 22) && bit(d7, 24);
  return features;
}

Isa isa_from_environment() {
  const char* text = std::getenv("WEIR_ISA");
  if (text == nullptr) return detected_isa();
  const std::optional<Isa> isa = parse_isa(text);
  WEIR_EXPECTS(isa.has_value(),
               "WEIR_ISA is '" + std::string(text) +
                   "'; allowed are baseline, avx2 and avx512. Correct or unset it.");
  return std::min(*isa, detected_isa());
}

constexpr int kNone = -1;
std::atomic<int> forced_isa{kNone};  // set by ScopedIsa; carries no other data, so relaxed

}  // namespace

const CpuFeatures& cpu_features() {
  static const CpuFeatures features = read_features();
  return features;
}

Isa detected_isa() {
  const CpuFeatures& features = cpu_features();
  if (features.avx512) return Isa::avx512;
  return features.avx2 ? Isa::avx2 : Isa::baseline;
}

Isa active_isa() {
  const int forced = forced_isa.load(std::memory_order_relaxed);
  if (forced != kNone) return static_cast<Isa>(forced);
  static const Isa isa = isa_from_environment();
  return isa;
}

ScopedIsa::ScopedIsa(Isa isa) : previous_(kNone) {
  if (isa > detected_isa()) {
    throw Unsupported("instruction set " + std::string(to_string(isa)) +
                      " was asked for; this machine has up to " +
                      std::string(to_string(detected_isa())));
  }
  previous_ = forced_isa.exchange(static_cast<int>(isa), std::memory_order_relaxed);
}

ScopedIsa::~ScopedIsa() { forced_isa.store(previous_, std::memory_order_relaxed); }

std::string_view to_string(Isa isa) {
  switch (isa) {
    case Isa::avx2:
      return "avx2";
    case Isa::avx512:
      return "avx512";
    case Isa::baseline:
      break;
  }
  return "baseline";
}

std::optional<Isa> parse_isa(std::string_view name) {
  for (const Isa isa : {Isa::baseline, Isa::avx2, Isa::avx512}) {
    if (name == to_string(isa)) return isa;
  }
  return std::nullopt;
}

}  // namespace weir
