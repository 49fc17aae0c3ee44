# SPDX-License-Identifier: Apache-2.0
# The user's install holds the user's program and nothing of ours.
file(REMOVE_RECURSE "${PREFIX}")
execute_process(COMMAND "${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${PREFIX}"
                OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
file(GLOB_RECURSE installed RELATIVE "${PREFIX}" "${PREFIX}/*")
if(NOT installed STREQUAL "bin/consumer")
  message(FATAL_ERROR "installed: ${installed}; expected bin/consumer alone")
endif()
