// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "anifilter/bucket.hpp"

/// Returns the instance of the variable template `table` for a layout.
#define WEIR_KERNEL_TABLE(table, layout) \
  switch (layout) {                      \
    case Layout::k7x8:                   \
      return table<Bucket<7, 8>>;        \
    case Layout::k6x10:                  \
      return table<Bucket<6, 10>>;       \
    case Layout::k5x12:                  \
      break;                             \
    case Layout::k4x15:                  \
      return table<Bucket<4, 15>>;       \
    case Layout::k3x20:                  \
      return table<Bucket<3, 20>>;       \
  }                                      \
  return table<Bucket<5, 12>>;
