# libfmk_parser.so: the C++ names of CANN's graph engine, of which every client looks in that library, too.
# SPDX-License-Identifier: Apache-2.0
add_library(fmk_parser SHARED ${PROJECT_SOURCE_DIR}/src/graph_engine/graph_engine.cc ${PROJECT_SOURCE_DIR}/src/graph_engine/secure_functions.cc)
target_include_directories(fmk_parser PRIVATE ${PROJECT_SOURCE_DIR}/src ${portacl_include})
target_link_libraries(fmk_parser PRIVATE portacl_options portacl)
set(portacl_graph_engine_exports ${PROJECT_SOURCE_DIR}/src/graph_engine/exports.map)
target_link_options(fmk_parser PRIVATE
  -Wl,--version-script=${portacl_graph_engine_exports} -Wl,--exclude-libs,ALL -Wl,--enable-new-dtags)
set_target_properties(fmk_parser PROPERTIES
  LINK_DEPENDS ${portacl_graph_engine_exports}
  BUILD_WITH_INSTALL_RPATH ON
  INSTALL_RPATH "$ORIGIN"
  LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib64)
