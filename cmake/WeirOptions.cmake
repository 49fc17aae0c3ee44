# SPDX-License-Identifier: Apache-2.0
# Options with three states. AUTO uses a dependency when it is there; ON fails without it and names
# the package that brings it; OFF never looks. Each leaves <option>_ENABLED and a feature-table line.

if(PROJECT_IS_TOP_LEVEL)
  set(WEIR_TOP_LEVEL_AUTO AUTO)
else()
  set(WEIR_TOP_LEVEL_AUTO OFF) # inside another project we build the library and nothing else
endif()
set(weir_features "")

function(weir_option name default help)
  set(${name} ${default} CACHE STRING "${help}: AUTO, ON or OFF")
  set_property(CACHE ${name} PROPERTY STRINGS AUTO ON OFF)
  if(NOT "${${name}}" MATCHES "^(AUTO|ON|OFF)$")
    message(FATAL_ERROR "${name} is '${${name}}'; allowed are AUTO, ON and OFF.")
  endif()
endfunction()

# Looks for a package unless the option is OFF.
macro(weir_find option package)
  if(NOT "${${option}}" STREQUAL "OFF")
    find_package(${package} QUIET ${ARGN})
  endif()
endmacro()

# Adds a line to the feature table.
macro(weir_feature name state why)
  string(REPLACE ";" "," weir_why "${why}") # the table is a list
  list(APPEND weir_features "${name}|${state}|${weir_why}")
endmacro()

# weir_resolve(<option> "<variables that must be true>" "<what it brings>" "<where to get it>")
macro(weir_resolve option found with package)
  set(${option}_ENABLED ON)
  foreach(weir_condition ${found})
    if(NOT ${weir_condition})
      set(${option}_ENABLED OFF)
    endif()
  endforeach()
  if("${${option}}" STREQUAL "OFF")
    set(${option}_ENABLED OFF)
    weir_feature(${option} off "by request")
  elseif(${option}_ENABLED)
    weir_feature(${option} on "${with}")
  elseif("${${option}}" STREQUAL "ON")
    message(FATAL_ERROR "${option}=ON, but what it needs was not found (${package}). "
                        "Install it, or set ${option}=OFF.")
  else()
    weir_feature(${option} off "not found (${package})")
  endif()
endmacro()

function(weir_print_features)
  if(NOT PROJECT_IS_TOP_LEVEL)
    return()
  endif()
  message(STATUS "Weir ${PROJECT_VERSION}: ${CMAKE_BUILD_TYPE}, "
                 "${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}")
  if(WEIR_SANITIZE)
    weir_feature(WEIR_SANITIZE on "${WEIR_SANITIZE}")
  endif()
  foreach(line ${weir_features})
    string(REPLACE "|" ";" line "${line}")
    list(GET line 0 name)
    list(GET line 1 state)
    list(GET line 2 why)
    string(LENGTH "${name}${state}" used)
    math(EXPR pad "26 - ${used}")
    string(REPEAT " " ${pad} pad)
    message(STATUS "  ${name}${pad}${state}  ${why}")
  endforeach()
endfunction()
