// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string_view>

namespace weir {

/// Instruction-set levels that Weir has code for. Each level includes the ones before it.
enum class Isa {
  baseline,  ///< x86-64
  avx2,      ///< AVX2, BMI2, FMA
  avx512,    ///< AVX-512 F, DQ, BW, VL, CD and VPOPCNTDQ
};

/// What this processor offers, read once with CPUID (and XGETBV for the state the OS saves).
struct CpuFeatures {
  bool avx2 = false;
  bool avx512 = false;
  bool clflushopt = false;
  bool clwb = false;
  bool amx_bf16 = false;  ///< reported; kernels that use it come later
};
const CpuFeatures& cpu_features();

/// The highest level this processor runs.
Isa detected_isa();

/// The level that code chosen at run time uses: detected_isa(), lowered by the environment variable
/// WEIR_ISA (baseline|avx2|avx512; read once, anything else throws InvalidArgument) or by
/// ScopedIsa. Objects that choose code at construction keep that choice. Thread-safe.
Isa active_isa();

/// Lowers active_isa() for this process while it lives; throws Unsupported for a level above the
/// machine's. For tests and benchmarks; not meant to be nested across threads.
class ScopedIsa {
 public:
  explicit ScopedIsa(Isa isa);
  ~ScopedIsa();
  ScopedIsa(const ScopedIsa&) = delete;
  ScopedIsa& operator=(const ScopedIsa&) = delete;

 private:
  int previous_;
};

std::string_view to_string(Isa isa);
std::optional<Isa> parse_isa(std::string_view name);

}  // namespace weir
