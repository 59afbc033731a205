# libatb.so: a library of its own with a C++ interface, which calls the public functions of the others.
# SPDX-License-Identifier: Apache-2.0
file(GLOB portacl_atb_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/atb/*.cc)
add_library(atb SHARED ${portacl_atb_sources})
target_include_directories(atb PRIVATE ${PROJECT_SOURCE_DIR}/src ${portacl_include})
target_link_libraries(atb PRIVATE portacl_options portacl)
set(portacl_atb_exports ${PROJECT_SOURCE_DIR}/src/atb/exports.map)
target_link_options(atb PRIVATE
  -Wl,--version-script=${portacl_atb_exports} -Wl,--exclude-libs,ALL -Wl,--enable-new-dtags)
# It may be loaded before its neighbours.
set_target_properties(atb PROPERTIES
  LINK_DEPENDS ${portacl_atb_exports}
  BUILD_WITH_INSTALL_RPATH ON
  INSTALL_RPATH "$ORIGIN"
  LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib64)
