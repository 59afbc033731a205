# libplatform.so: what vllm-ascend's extension links to beside CANN's public libraries.
# SPDX-License-Identifier: Apache-2.0
add_library(platform SHARED ${PROJECT_SOURCE_DIR}/src/platform/platform.cc)
target_include_directories(platform PRIVATE ${portacl_include})
# It finds strcpy_s in libfmk_parser.so, and looks for that here.
target_link_libraries(platform PRIVATE portacl_options portacl)
target_link_options(platform PRIVATE -Wl,--no-as-needed)
target_link_libraries(platform PRIVATE fmk_parser)
set(portacl_platform_exports ${PROJECT_SOURCE_DIR}/src/platform/exports.map)
target_link_options(platform PRIVATE
  -Wl,--version-script=${portacl_platform_exports} -Wl,--exclude-libs,ALL -Wl,--enable-new-dtags)
set_target_properties(platform PROPERTIES
  LINK_DEPENDS ${portacl_platform_exports}
  BUILD_WITH_INSTALL_RPATH ON
  INSTALL_RPATH "$ORIGIN"
  LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib64)
