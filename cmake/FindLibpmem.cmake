# SPDX-License-Identifier: Apache-2.0
# PMDK's libpmem: Libpmem_FOUND, Libpmem_VERSION, target Libpmem::libpmem. Installed with Weir's
# package, because PMDK ships no CMake files. pkg-config is used for hints when it is there.
find_package(PkgConfig QUIET)
if(PkgConfig_FOUND)
  pkg_check_modules(PC_Libpmem QUIET libpmem)
endif()
find_path(Libpmem_INCLUDE_DIR libpmem.h HINTS ${PC_Libpmem_INCLUDE_DIRS})
find_library(Libpmem_LIBRARY pmem HINTS ${PC_Libpmem_LIBRARY_DIRS})
set(Libpmem_VERSION "${PC_Libpmem_VERSION}")
mark_as_advanced(Libpmem_INCLUDE_DIR Libpmem_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(
  Libpmem
  REQUIRED_VARS Libpmem_LIBRARY Libpmem_INCLUDE_DIR
  VERSION_VAR Libpmem_VERSION
  REASON_FAILURE_MESSAGE "Debian: libpmem-dev")

if(Libpmem_FOUND AND NOT TARGET Libpmem::libpmem)
  add_library(Libpmem::libpmem UNKNOWN IMPORTED)
  set_target_properties(
    Libpmem::libpmem PROPERTIES IMPORTED_LOCATION "${Libpmem_LIBRARY}"
                                INTERFACE_INCLUDE_DIRECTORIES "${Libpmem_INCLUDE_DIR}")
endif()
