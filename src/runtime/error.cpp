// SPDX-License-Identifier: Apache-2.0
#include "weir/runtime/error.hpp"

#include <cerrno>
#include <system_error>

namespace weir {

void throw_system_error(const std::string& what, const std::string& path, int error) {
  const std::string message = what + " '" + path + "': " + std::system_category().message(error) +
                              " (errno " + std::to_string(error) + ")";
  if (error == ENOSPC || error == EDQUOT) {
    throw OutOfSpace(message + "; free some space there or choose another place");
  }
  throw IoError(message);
}

namespace detail {
void throw_invalid_argument(const std::string& message) { throw InvalidArgument(message); }
}  // namespace detail

}  // namespace weir
