# SPDX-License-Identifier: Apache-2.0
# Modules and programs. Every function here sets flags on our own targets only.
#
#   weir_module(<name> USES <modules below> [LINK <targets>] [PACKAGES <packages>] [LIBS <-l flags>]
#               SOURCES <files>)
#       an OBJECT library weir_<name>, packed into libweir.a. LINK, PACKAGES and LIBS say the same thing
#       three times: as CMake targets, as find_package names, as pkg-config words.
#   weir_isa_sources(<name> [AVX2 <files>] [AVX512 <files>])
#       sources of one instruction set, reached only through run-time dispatch.
#   weir_component(<name>)
#       target weir::<name>: libweir.a with only the link dependencies of <name> and what it uses.
#   weir_program(<name> SOURCES <files> [LINK <targets>])
#       an executable with our warnings that sees the public headers.

set(WEIR_WARNINGS
    -Wall
    -Wextra
    -Wconversion
    -Wshadow
    -Wnon-virtual-dtor
    -Woverloaded-virtual
    -Wcast-align
    -Wformat=2
    -Wundef
    -Wextra-semi
    $<$<CXX_COMPILER_ID:GNU>:-Wduplicated-cond>
    $<$<CXX_COMPILER_ID:GNU>:-Wlogical-op>
    $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict> # g++ 12 sees ghosts in "text" + string (PR 105651)
    $<$<CXX_COMPILER_ID:Clang>:-Wno-sign-conversion> # as g++'s -Wconversion
    $<$<CXX_COMPILER_ID:Clang>:-Wno-bitwise-instead-of-logical>) # branch-free on purpose

set(WEIR_ISA_FLAGS_AVX2 -mavx2 -mbmi2 -mfma -mpopcnt)
set(WEIR_ISA_FLAGS_AVX512
    -mavx512f -mavx512dq -mavx512bw -mavx512vl -mavx512cd -mavx512vpopcntdq ${WEIR_ISA_FLAGS_AVX2})
# g++ 12's own intrinsics read "undefined" registers, and it warns of that in our files (PR 105593).
set(WEIR_ISA_WARNINGS $<$<CXX_COMPILER_ID:GNU>:-Wno-uninitialized>
                      $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)

function(weir_target_flags target)
  target_compile_features(${target} PRIVATE cxx_std_20)
  set_target_properties(
    ${target}
    PROPERTIES CXX_EXTENSIONS OFF
               CXX_VISIBILITY_PRESET hidden
               VISIBILITY_INLINES_HIDDEN ON
               POSITION_INDEPENDENT_CODE ON)
  target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:${WEIR_WARNINGS}>")
  if(WEIR_SANITIZE)
    target_compile_options(
      ${target} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${WEIR_SANITIZE};-fno-omit-frame-pointer>")
    if(WEIR_SANITIZE MATCHES "undefined")
      target_compile_options(${target} PRIVATE
                             $<$<COMPILE_LANGUAGE:CXX>:-fno-sanitize-recover=undefined>)
    endif()
  endif()
endfunction()

# libweir.a without link dependencies (weir_archive); weir::weir and the components add those.
function(weir_archive)
  add_library(weir_archive STATIC)
  target_compile_features(weir_archive PUBLIC cxx_std_20)
  set_target_properties(weir_archive PROPERTIES OUTPUT_NAME weir EXPORT_NAME archive
                                                LINKER_LANGUAGE CXX)
  target_include_directories(
    weir_archive INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                           $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>
                           $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  if(WEIR_SANITIZE)
    target_link_options(weir_archive INTERFACE -fsanitize=${WEIR_SANITIZE})
  endif()
endfunction()

function(weir_module name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "USES;LINK;PACKAGES;LIBS;SOURCES")
  set(target weir_${name}_objects)
  add_library(${target} OBJECT ${arg_SOURCES})
  weir_target_flags(${target})
  target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}/include"
                                               "${PROJECT_BINARY_DIR}/include"
                                               "${PROJECT_SOURCE_DIR}/src")
  target_link_libraries(${target} PRIVATE Threads::Threads ${arg_LINK})
  target_sources(weir_archive PRIVATE $<TARGET_OBJECTS:${target}>)
  set(below "")
  foreach(used ${arg_USES})
    get_property(deeper GLOBAL PROPERTY weir_${used}_BELOW)
    list(APPEND below ${deeper} ${used})
  endforeach()
  list(REMOVE_DUPLICATES below)
  set_property(GLOBAL PROPERTY weir_${name}_BELOW "${below}")
  foreach(kind LINK PACKAGES LIBS)
    set_property(GLOBAL PROPERTY weir_${name}_${kind} "${arg_${kind}}")
  endforeach()
  set_property(GLOBAL APPEND PROPERTY weir_MODULES ${name})

  if(WEIR_BUILD_TESTS_ENABLED)
    # Links the module with what it may use and nothing else: a call to a sibling is undefined here.
    set(check weir_${name}_links_alone)
    file(CONFIGURE OUTPUT "${CMAKE_CURRENT_BINARY_DIR}/main.cpp" CONTENT "int main() {}\n")
    add_executable(${check} "${CMAKE_CURRENT_BINARY_DIR}/main.cpp" $<TARGET_OBJECTS:${target}>)
    weir_dependencies(LINK libraries ${name})
    foreach(used ${below})
      target_sources(${check} PRIVATE $<TARGET_OBJECTS:weir_${used}_objects>)
    endforeach()
    target_link_libraries(${check} PRIVATE ${libraries})
    if(WEIR_SANITIZE)
      target_link_options(${check} PRIVATE -fsanitize=${WEIR_SANITIZE})
    endif()
  endif()
endfunction()

function(weir_isa_sources name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "AVX2;AVX512")
  foreach(isa AVX2 AVX512)
    if(arg_${isa})
      target_sources(weir_${name}_objects PRIVATE ${arg_${isa}})
      set_source_files_properties(
        ${arg_${isa}} PROPERTIES COMPILE_OPTIONS "${WEIR_ISA_FLAGS_${isa}};${WEIR_ISA_WARNINGS}")
      foreach(source ${arg_${isa}})
        set_property(GLOBAL APPEND PROPERTY weir_ISA_SOURCES ${source})
      endforeach()
      set_property(GLOBAL APPEND PROPERTY weir_ISA_MODULES ${name})
    endif()
  endforeach()
endfunction()

# Collects LINK, PACKAGES or LIBS of modules and of everything below them.
function(weir_dependencies kind result)
  set(all "")
  foreach(name ${ARGN})
    get_property(below GLOBAL PROPERTY weir_${name}_BELOW)
    foreach(module ${name} ${below})
      get_property(values GLOBAL PROPERTY weir_${module}_${kind})
      list(APPEND all ${values})
    endforeach()
  endforeach()
  list(REMOVE_DUPLICATES all)
  if(kind STREQUAL "LINK")
    list(PREPEND all Threads::Threads)
  elseif(kind STREQUAL "PACKAGES")
    list(PREPEND all Threads)
  else()
    list(PREPEND all -pthread)
  endif()
  set(${result} "${all}" PARENT_SCOPE)
endfunction()

function(weir_component name)
  weir_dependencies(LINK libraries ${name})
  add_library(weir_${name} INTERFACE)
  add_library(weir::${name} ALIAS weir_${name})
  set_target_properties(weir_${name} PROPERTIES EXPORT_NAME ${name})
  target_link_libraries(weir_${name} INTERFACE weir_archive ${libraries})
  set_property(GLOBAL APPEND PROPERTY weir_COMPONENTS ${name})
endfunction()

function(weir_archive_finish)
  get_property(modules GLOBAL PROPERTY weir_MODULES)
  weir_dependencies(LINK libraries ${modules})
  add_library(weir INTERFACE)
  add_library(weir::weir ALIAS weir)
  target_link_libraries(weir INTERFACE weir_archive ${libraries})
endfunction()

function(weir_program name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LINK")
  add_executable(${name} ${arg_SOURCES})
  weir_target_flags(${name})
  target_link_libraries(${name} PRIVATE weir::weir ${arg_LINK})
endfunction()
