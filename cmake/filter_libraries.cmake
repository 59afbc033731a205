# libportacl.so, which holds the code, and the libraries under the names that CANN programs link and load.
#
# Those are filters: they define every public function for the linker, so that -l lines work and DT_NEEDED lists CANN's names,
# but at run time the loader takes each symbol from libportacl.so, so that its address is the same through every name.
# SPDX-License-Identifier: Apache-2.0
set(portacl_generated ${CMAKE_CURRENT_BINARY_DIR}/generated)
set(portacl_public_functions ${PROJECT_SOURCE_DIR}/tools/public_functions.py)
file(GLOB_RECURSE portacl_public_headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/*.h)

add_custom_command(
  OUTPUT ${portacl_generated}/exports.map ${portacl_generated}/filter.c
  COMMAND ${CMAKE_COMMAND} -E make_directory ${portacl_generated}
  COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tools/filter_sources.py ${PROJECT_SOURCE_DIR}/include ${portacl_generated}
  DEPENDS ${portacl_public_headers} ${portacl_public_functions} ${PROJECT_SOURCE_DIR}/tools/filter_sources.py
  COMMENT "Generating the list of exported functions"
  VERBATIM)
add_custom_target(portacl_exports DEPENDS ${portacl_generated}/exports.map ${portacl_generated}/filter.c)

add_library(portacl SHARED $<TARGET_OBJECTS:portacl_objects>)
add_dependencies(portacl portacl_exports)
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
  VERSION ${PROJECT_VERSION}
  SOVERSION ${PROJECT_VERSION_MAJOR}
  LINK_DEPENDS ${portacl_generated}/exports.map
  LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib64)

set(PORTACL_FILTER_NAMES ascendcl acl_rt nnopbase opapi opapi_nn opapi_math)
foreach(name IN LISTS PORTACL_FILTER_NAMES)
  add_library(${name} SHARED ${portacl_generated}/filter.c)
  add_dependencies(${name} portacl)
  target_link_options(${name} PRIVATE
    -nostdlib
    -Wl,-F,libportacl.so.${PROJECT_VERSION_MAJOR}
    -Wl,--enable-new-dtags)
  set_target_properties(${name} PROPERTIES
    BUILD_WITH_INSTALL_RPATH ON
    INSTALL_RPATH "$ORIGIN"
    LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib64)
endforeach()
