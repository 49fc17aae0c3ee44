# SPDX-License-Identifier: Apache-2.0
# Weir has no CUDA code yet. AUTO says whether nvcc is there; ON enables the language, so that what a
# first .cu file needs (CMake 3.25 and C++20, architecture, static runtime) is known to work.
set(weir_cuda_found OFF)
if(NOT WEIR_CUDA STREQUAL "OFF")
  find_program(WEIR_NVCC nvcc HINTS ENV CUDACXX PATHS /usr/local/cuda/bin)
  mark_as_advanced(WEIR_NVCC)
endif()
if(WEIR_CUDA STREQUAL "ON" AND WEIR_NVCC)
  # check_language looks at PATH and CUDACXX only, and an unset architecture means a dated default.
  if(NOT CMAKE_CUDA_COMPILER)
    set(CMAKE_CUDA_COMPILER "${WEIR_NVCC}" CACHE FILEPATH "")
  endif()
  if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES AND NOT DEFINED ENV{CUDAARCHS})
    set(CMAKE_CUDA_ARCHITECTURES 90-real CACHE STRING "")
  endif()
  include(CheckLanguage)
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    enable_language(CUDA)
    include(Cuda20Shim)
    set(weir_cuda_found ON)
  endif()
  weir_resolve(WEIR_CUDA weir_cuda_found
               "nvcc ${CMAKE_CUDA_COMPILER_VERSION} works, there is no CUDA code yet"
               "NVIDIA CUDA Toolkit 12 or later")
elseif(WEIR_NVCC AND NOT WEIR_CUDA STREQUAL "OFF")
  set(WEIR_CUDA_ENABLED OFF)
  weir_feature(WEIR_CUDA off "found ${WEIR_NVCC}, no CUDA code yet")
else()
  weir_resolve(WEIR_CUDA weir_cuda_found "" "NVIDIA CUDA Toolkit 12 or later")
endif()
