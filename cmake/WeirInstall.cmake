# SPDX-License-Identifier: Apache-2.0
# install(): the archive, the headers, the CMake package and one pkg-config file a component.
set(weir_cmake_dir "${CMAKE_INSTALL_LIBDIR}/cmake/weir")
get_property(weir_components GLOBAL PROPERTY weir_COMPONENTS)
get_property(weir_modules GLOBAL PROPERTY weir_MODULES)

install(DIRECTORY include/weir "${PROJECT_BINARY_DIR}/include/weir"
        DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" FILES_MATCHING PATTERN "*.hpp")
install(FILES LICENSE NOTICE DESTINATION "${CMAKE_INSTALL_DOCDIR}")

# One export set a target, so that asking for a component loads only that and what it needs.
install(TARGETS weir_archive EXPORT weir-archive ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}")
install(TARGETS weir EXPORT weir-weir)
set(weir_exports archive weir)
foreach(component ${weir_components})
  install(TARGETS weir_${component} EXPORT weir-${component})
  list(APPEND weir_exports ${component})
endforeach()
foreach(name ${weir_exports})
  install(EXPORT weir-${name} NAMESPACE weir:: DESTINATION "${weir_cmake_dir}"
          FILE weir-${name}.cmake)
endforeach()

# The package file asks for exactly the packages that the wanted targets link.
set(weir_package_lists "")
weir_dependencies(PACKAGES packages ${weir_modules})
string(APPEND weir_package_lists "set(weir_packages_weir ${packages})\n")
foreach(component ${weir_components})
  weir_dependencies(PACKAGES packages ${component})
  string(APPEND weir_package_lists "set(weir_packages_${component} ${packages})\n")
endforeach()
configure_package_config_file(cmake/weirConfig.cmake.in "${PROJECT_BINARY_DIR}/weirConfig.cmake"
                              INSTALL_DESTINATION "${weir_cmake_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/weirConfigVersion.cmake"
                                 COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/weirConfig.cmake"
              "${PROJECT_BINARY_DIR}/weirConfigVersion.cmake" cmake/FindLibpmem.cmake
        DESTINATION "${weir_cmake_dir}")

# pkg-config: found relative to the .pc file, so an installed tree can be moved.
set(weir_pc_prefix "${CMAKE_INSTALL_PREFIX}")
cmake_path(RELATIVE_PATH weir_pc_prefix BASE_DIRECTORY "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig")
function(weir_pkg_config file description)
  weir_dependencies(LIBS libs ${ARGN})
  list(JOIN libs " " weir_pc_libs)
  set(weir_pc_name ${file})
  set(weir_pc_description "${description}")
  configure_file(cmake/weir.pc.in "${PROJECT_BINARY_DIR}/${file}.pc" @ONLY)
  install(FILES "${PROJECT_BINARY_DIR}/${file}.pc"
          DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
endfunction()
weir_pkg_config(weir "${PROJECT_DESCRIPTION}" ${weir_modules})
foreach(component ${weir_components})
  weir_pkg_config(weir-${component} "Weir's ${component} alone" ${component})
endforeach()
