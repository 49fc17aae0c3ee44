// SPDX-License-Identifier: Apache-2.0
// Holds the module's place in the archive until its first source arrives.
namespace weir::anifilter::detail {
extern const int kPlaceholder;
const int kPlaceholder = 0;
}  // namespace weir::anifilter::detail
