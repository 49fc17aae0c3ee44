// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace weir::bench {

void register_filter_ops();  ///< insert, contains, erase: single and batched, by layout and load
void register_flush_ops();   ///< what flush and fence cost, by instruction and medium

}  // namespace weir::bench
