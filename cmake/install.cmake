# What `cmake --install` puts into a prefix: the layout of a CANN toolkit, plus CMake and pkg-config files; and the .deb.
# SPDX-License-Identifier: Apache-2.0
include(CMakePackageConfigHelpers)

install(DIRECTORY ${portacl_include}/ DESTINATION include FILES_MATCHING PATTERN "*.h")
# CANN installs every operator header a second time.
install(DIRECTORY ${portacl_include}/aclnnop/ DESTINATION include/aclnnop/level2 FILES_MATCHING PATTERN "aclnn_*.h")
# Where a client that compiles against the older runtime looks for it.
install(FILES ${portacl_include}/runtime/rt.h DESTINATION include/experiment/runtime/runtime)
# The master headers that CANN generates, one for each of its repositories of operators, and their second copies.
file(STRINGS ${portacl_generated}/aclnnop/operators.def portacl_operators REGEX "^OPERATOR")
foreach(portacl_repository IN ITEMS nn math cv)
  set(portacl_operator_includes "")
  foreach(line IN LISTS portacl_operators)
    if(line MATCHES "^OPERATOR\\(([a-z0-9_]+), .*, ${portacl_repository}\\)$")
      string(APPEND portacl_operator_includes "#include \"aclnnop/aclnn_${CMAKE_MATCH_1}.h\"\n")
    endif()
  endforeach()
  string(TOUPPER ${portacl_repository} portacl_repository_upper)
  set(master_header ${portacl_generated}/aclnn_ops_${portacl_repository}.h)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/aclnn_ops.h.in ${master_header} @ONLY)
  foreach(place IN ITEMS include/aclnnop include/aclnnop/level2)
    install(FILES ${master_header} DESTINATION ${place})
  endforeach()
endforeach()
install(TARGETS portacl atb fmk_parser platform ${PORTACL_FILTER_NAMES} LIBRARY DESTINATION lib64)
install(TARGETS portacl_gloo portacl_summary LIBRARY DESTINATION lib64/portacl)

# The wheel has them among its facts.
if(NOT SKBUILD)
  install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION share/doc/portacl)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/licenses DESTINATION share/doc/portacl)
endif()

# All that is built to be installed: no tests, no measurements.
add_custom_target(portacl_install DEPENDS portacl atb fmk_parser platform portacl_gloo portacl_summary portacl_sleef ${PORTACL_FILTER_NAMES} portacl-info)

# Filled in at install time: only then is the prefix known.
if(NOT DEFINED PORTACL_PLACE_OF_SET_ENV)
  set(PORTACL_PLACE_OF_SET_ENV "-\${CMAKE_INSTALL_PREFIX}/set_env.sh")
endif()
install(CODE "set(PORTACL_PLACE_OF_SET_ENV \"${PORTACL_PLACE_OF_SET_ENV}\")
configure_file(\"${PROJECT_SOURCE_DIR}/cmake/set_env.sh.in\" \"${portacl_generated}/set_env.sh\" @ONLY)")
install(FILES ${portacl_generated}/set_env.sh DESTINATION .)

list(JOIN PORTACL_LIBRARY_NAMES " " PORTACL_LIBRARY_NAMES_LIST)
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/portacl-config.cmake.in ${portacl_generated}/portacl-config.cmake
  INSTALL_DESTINATION lib64/cmake/portacl)
write_basic_package_version_file(${portacl_generated}/portacl-config-version.cmake COMPATIBILITY SameMinorVersion)
# Debian's CMake does not search lib64 below CMAKE_PREFIX_PATH, others do: the same files, at the same depth, in both places.
foreach(place IN ITEMS lib64/cmake/portacl share/cmake/portacl)
  install(FILES ${portacl_generated}/portacl-config.cmake ${portacl_generated}/portacl-config-version.cmake DESTINATION ${place})
endforeach()

configure_file(${PROJECT_SOURCE_DIR}/cmake/portacl.pc.in ${portacl_generated}/portacl.pc @ONLY)
install(FILES ${portacl_generated}/portacl.pc DESTINATION lib64/pkgconfig)

# What build scripts ask for the name of the product. A program like any other: it links the libraries.
add_executable(npu-smi ${PROJECT_SOURCE_DIR}/src/info/npu_smi.cc)
target_compile_definitions(npu-smi PRIVATE "PORTACL_VERSION=\"${PROJECT_VERSION}\"")
target_include_directories(npu-smi PRIVATE ${portacl_include})
target_link_libraries(npu-smi PRIVATE portacl_options cann_ascendcl)
set_target_properties(npu-smi PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "$ORIGIN/../lib64")
install(TARGETS npu-smi RUNTIME DESTINATION bin)
add_dependencies(portacl-info npu-smi)  # who builds one program to install it builds the other

# Folders that clients look for below the root, and the version where they read it from a file.
file(STRINGS ${PROJECT_SOURCE_DIR}/src/acl/settings/soc_profile.h cann_version_line REGEX "kEmulatedCannVersion = ")
string(REGEX REPLACE ".*\"(.*)\".*" "\\1" PORTACL_CANN_VERSION "${cann_version_line}")
configure_file(${PROJECT_SOURCE_DIR}/cmake/install.info.in ${portacl_generated}/ascend_portacl_install.info @ONLY)
foreach(place IN ITEMS opp runtime compiler)
  install(FILES ${portacl_generated}/ascend_portacl_install.info DESTINATION ${place})
endforeach()

# Where triton-ascend looks for the compilers of kernels by TRITON_NPU_COMPILER_PATH (python/portacl_start/triton.py).
foreach(name IN ITEMS ccec npuc)
  install(PROGRAMS ${PROJECT_SOURCE_DIR}/cmake/device_compiler.sh DESTINATION compiler/triton RENAME ${name})
endforeach()
# What torch_npu's profiler starts to read a profile; it looks for both files below the folder tools.
install(PROGRAMS ${PROJECT_SOURCE_DIR}/python/msprof/msprof DESTINATION tools/profiler/bin)
install(FILES ${PROJECT_SOURCE_DIR}/python/msprof/msprof.py DESTINATION tools/profiler/profiler_tool/analysis/msprof)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME portacl)
set(CPACK_PACKAGE_CONTACT "the portacl authors <portacl@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "CANN aclnn loss operators on ordinary CPUs")
set(CPACK_PACKAGE_FILE_NAME portacl-${PROJECT_VERSION}-${CMAKE_SYSTEM_PROCESSOR})
# Like a CANN toolkit, the package has a root of its own, so that it never collides with the distribution's files.
set(CPACK_PACKAGING_INSTALL_PREFIX /opt/portacl)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
include(CPack)
