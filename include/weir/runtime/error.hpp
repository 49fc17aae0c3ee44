// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cassert>
#include <stdexcept>
#include <string>

namespace weir {

/// Base of everything Weir throws. The message says what went wrong, the value seen, what is
/// allowed and what to do about it.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The caller passed a value outside what the function documents.
class InvalidArgument : public Error {
 public:
  using Error::Error;
};

/// The operating system refused (open, map, write, sync); the message carries its reason.
class IoError : public Error {
 public:
  using Error::Error;
};

/// The medium has too little free space.
class OutOfSpace : public IoError {
 public:
  using IoError::IoError;
};

/// Stored bytes are not what the format says: wrong magic, version, byte order, size, checksum.
class CorruptData : public Error {
 public:
  using Error::Error;
};

/// Another owner holds the resource (a pool that is open for writing, say).
class Busy : public Error {
 public:
  using Error::Error;
};

/// This machine, build or medium cannot do what was asked.
class Unsupported : public Error {
 public:
  using Error::Error;
};

/// Throws IoError (OutOfSpace for ENOSPC and EDQUOT) with `what`, the path and strerror(error).
[[noreturn]] void throw_system_error(const std::string& what, const std::string& path, int error);

namespace detail {
[[noreturn]] void throw_invalid_argument(const std::string& message);
}  // namespace detail

}  // namespace weir

/// Precondition of a public function: throws weir::InvalidArgument with `message` if it is false.
#define WEIR_EXPECTS(condition, message) \
  ((condition) ? static_cast<void>(0) : ::weir::detail::throw_invalid_argument(message))

/// Programmer error; checked in debug builds only.
#define WEIR_ASSERT(condition) assert(condition)
