# SPDX-License-Identifier: Apache-2.0
#   weir_test_module(<module> SOURCES <files> [LINK <targets>] [PRIVATE_HEADERS]
#                    [CONCURRENCY <patterns>] [SLOW <patterns>] [TIMEOUT <seconds>])
# One GoogleTest executable a module, <module>_tests. Patterns are GoogleTest filters: tests that match
# CONCURRENCY get that label and run under TSan, SLOW ones are left out of the sanitizer runs. The
# rest has the label unit. Tests are named <module>.<suite>.<test>. PRIVATE_HEADERS shows the tests src/,
# so that it is visible here.
include(GoogleTest)

function(weir_test_module module)
  cmake_parse_arguments(PARSE_ARGV 1 arg "PRIVATE_HEADERS" "TIMEOUT"
                        "SOURCES;LINK;CONCURRENCY;SLOW")
  set(target ${module}_tests)
  weir_program(${target} SOURCES ${arg_SOURCES} LINK GTest::gmock GTest::gtest_main ${arg_LINK})
  target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}/tests")
  if(arg_PRIVATE_HEADERS)
    target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}/src")
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 120)
  endif()
  if(WEIR_SANITIZE)
    math(EXPR arg_TIMEOUT "${arg_TIMEOUT} * 3")
  endif()
  list(JOIN arg_CONCURRENCY ":" concurrency)
  list(JOIN arg_SLOW ":" slow)
  weir_discover(unit "*" "${concurrency}:${slow}")
  if(concurrency)
    weir_discover(concurrency "${concurrency}" "${slow}")
  endif()
  if(slow)
    weir_discover(slow "${slow}" "")
  endif()
endfunction()

# Reads target, module and arg_TIMEOUT of the caller.
function(weir_discover label include exclude)
  string(REGEX REPLACE "^:+|:+$" "" exclude "${exclude}")
  set(filter "${include}")
  if(exclude)
    string(APPEND filter ":-${exclude}")
  endif()
  # One label: gtest_discover_tests of CMake 3.25 loses TIMEOUT behind a list of labels.
  gtest_discover_tests(
    ${target}
    DISCOVERY_MODE PRE_TEST
    DISCOVERY_TIMEOUT 60
    TEST_PREFIX "${module}."
    TEST_FILTER "${filter}"
    PROPERTIES LABELS ${label} TIMEOUT ${arg_TIMEOUT})
endfunction()
