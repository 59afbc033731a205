# libportacl.so, which holds the code, and the libraries under the names that CANN programs link and load.
#
# Those are filters: each defines, for the linker, the functions that its namesake exports, so that -l lines work and
# DT_NEEDED lists the names that an NPU host has; but at run time the loader takes every symbol from libportacl.so, so
# that its address is the same through every name.
# SPDX-License-Identifier: Apache-2.0
set(portacl_tools ${PROJECT_SOURCE_DIR}/tools)
set(portacl_library_lists ${PROJECT_SOURCE_DIR}/cmake/cann_libraries.txt)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${portacl_library_lists})
execute_process(
  COMMAND ${Python3_EXECUTABLE} -B ${portacl_tools}/cann_libraries.py
  OUTPUT_VARIABLE portacl_names OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
string(REPLACE "\n" ";" PORTACL_LIBRARY_NAMES "${portacl_names}")
list(TRANSFORM PORTACL_LIBRARY_NAMES PREPEND ${portacl_generated}/filter_ OUTPUT_VARIABLE portacl_filter_sources)
list(TRANSFORM portacl_filter_sources APPEND .c)

file(MAKE_DIRECTORY ${portacl_generated})
add_custom_command(
  OUTPUT ${portacl_generated}/exports.stamp
  BYPRODUCTS ${portacl_generated}/exports.map ${portacl_filter_sources}
  COMMAND ${Python3_EXECUTABLE} -B ${portacl_tools}/filter_sources.py ${portacl_generated}
  COMMAND ${CMAKE_COMMAND} -E touch ${portacl_generated}/exports.stamp
  DEPENDS ${portacl_schema} ${portacl_library_lists} ${portacl_tools}/cann_libraries.py
          ${portacl_tools}/filter_sources.py ${portacl_tools}/public_functions.py
  COMMENT "Generating the lists of exported functions"
  VERBATIM)
add_custom_target(portacl_exports DEPENDS ${portacl_generated}/exports.stamp)

add_library(portacl SHARED ${portacl_code})
add_dependencies(portacl portacl_exports portacl_gloo portacl_sleef)
target_link_libraries(portacl PRIVATE portacl_options Threads::Threads)
target_link_options(portacl PRIVATE
  -Wl,--version-script=${portacl_generated}/exports.map
  -Wl,-Bsymbolic-functions
  # Unloading a library whose thread pool still runs would crash the process.
  -Wl,-z,nodelete
  -Wl,--as-needed)
if(NOT PORTACL_SANITIZE)
  target_link_options(portacl PRIVATE -Wl,-z,defs)
endif()
set_target_properties(portacl PROPERTIES
  LINKER_LANGUAGE CXX
  # It loads libportacl_gloo.so and libportacl_sleef.so from there: not from lib64, all of whose libraries Python loads at its start.
  BUILD_WITH_INSTALL_RPATH ON
  INSTALL_RPATH "$ORIGIN/portacl"
  VERSION ${PROJECT_VERSION}
  SOVERSION ${PROJECT_VERSION_MAJOR}
  LINK_DEPENDS ${portacl_generated}/exports.map
  LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib64)

# The targets are called cann_<name>: names such as runtime and graph are too common in a build.
list(TRANSFORM PORTACL_LIBRARY_NAMES PREPEND cann_ OUTPUT_VARIABLE PORTACL_FILTER_NAMES)
foreach(name target source IN ZIP_LISTS PORTACL_LIBRARY_NAMES PORTACL_FILTER_NAMES portacl_filter_sources)
  add_library(${target} SHARED ${source})
  add_dependencies(${target} portacl portacl_exports)
  target_link_options(${target} PRIVATE
    -nostdlib
    -Wl,-F,libportacl.so.${PROJECT_VERSION_MAJOR}
    -Wl,--enable-new-dtags)
  set_target_properties(${target} PROPERTIES
    OUTPUT_NAME ${name}
    BUILD_WITH_INSTALL_RPATH ON
    INSTALL_RPATH "$ORIGIN"
    LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib64)
endforeach()
