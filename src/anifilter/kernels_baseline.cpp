// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "anifilter/kernels_generic.hpp"
#include "anifilter/kernels_table.hpp"

namespace weir::anifilter {
namespace {
template <class B>
constexpr Kernels kTable{hash_generic, contains_generic<B>, scan_generic<B>, victims_generic<B>};
}  // namespace

const Kernels& kernels_baseline(Layout layout) { WEIR_KERNEL_TABLE(kTable, layout) }

const Kernels& kernels(Layout layout, Isa isa) {
  switch (isa) {
    case Isa::avx512:
      return kernels_avx512(layout);
    case Isa::avx2:
      return kernels_avx2(layout);
    case Isa::baseline:
      break;
  }
  return kernels_baseline(layout);
}

}  // namespace weir::anifilter
