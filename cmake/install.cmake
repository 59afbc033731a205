# What `cmake --install` puts into a prefix: the layout of a CANN toolkit, plus CMake and pkg-config files; and the .deb.
# SPDX-License-Identifier: Apache-2.0
include(CMakePackageConfigHelpers)

install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/ DESTINATION include FILES_MATCHING PATTERN "*.h")
# CANN installs every operator header a second time.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/aclnnop/ DESTINATION include/aclnnop/level2 FILES_MATCHING PATTERN "aclnn_*.h")
# The master headers that CANN generates, one for each of its repositories of operators, and their second copies.
file(STRINGS ${PROJECT_SOURCE_DIR}/src/aclnnop/operators.def portacl_operators REGEX "^OPERATOR")
foreach(portacl_repository IN ITEMS nn math)
  set(portacl_operator_includes "")
  foreach(line IN LISTS portacl_operators)
    if(line MATCHES "^OPERATOR\\((.*), ${portacl_repository}\\)$")
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
install(TARGETS portacl ${PORTACL_FILTER_NAMES} LIBRARY DESTINATION lib64)

# Filled in at install time: only then is the prefix known.
install(CODE "configure_file(\"${PROJECT_SOURCE_DIR}/cmake/set_env.sh.in\" \"${portacl_generated}/set_env.sh\" @ONLY)")
install(FILES ${portacl_generated}/set_env.sh DESTINATION .)

list(JOIN PORTACL_FILTER_NAMES " " PORTACL_FILTER_NAMES_LIST)
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/portacl-config.cmake.in ${portacl_generated}/portacl-config.cmake
  INSTALL_DESTINATION lib64/cmake/portacl)
write_basic_package_version_file(${portacl_generated}/portacl-config-version.cmake COMPATIBILITY SameMinorVersion)
# Debian's CMake does not search lib64 below CMAKE_PREFIX_PATH, others do: the same files, at the same depth, in both places.
foreach(place IN ITEMS lib64/cmake/portacl share/cmake/portacl)
  install(FILES ${portacl_generated}/portacl-config.cmake ${portacl_generated}/portacl-config-version.cmake DESTINATION ${place})
endforeach()

configure_file(${PROJECT_SOURCE_DIR}/cmake/portacl.pc.in ${portacl_generated}/portacl.pc @ONLY)
install(FILES ${portacl_generated}/portacl.pc DESTINATION lib64/pkgconfig)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME portacl)
set(CPACK_PACKAGE_CONTACT "the portacl authors <portacl@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "CANN aclnn loss operators on ordinary CPUs")
set(CPACK_PACKAGE_FILE_NAME portacl-${PROJECT_VERSION}-${CMAKE_SYSTEM_PROCESSOR})
# Like a CANN toolkit, the package has a root of its own, so that it never collides with the distribution's files.
set(CPACK_PACKAGING_INSTALL_PREFIX /opt/portacl)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
include(CPack)
