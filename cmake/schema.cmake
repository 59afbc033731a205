# What the schema of the operators makes: all public headers, in ${portacl_include}, the list of operators, and their C functions. It is
# made when CMake configures, which reads the list, and anew when a source has changed: a source says which functions are made.
# SPDX-License-Identifier: Apache-2.0
set(portacl_include ${PROJECT_BINARY_DIR}/include)
set(portacl_generated ${PROJECT_BINARY_DIR}/generated)
set(portacl_write_schema ${Python3_EXECUTABLE} -B ${PROJECT_SOURCE_DIR}/tools/schema write ${PROJECT_BINARY_DIR})
file(GLOB_RECURSE portacl_schema CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/aclnnop/*.toml ${PROJECT_SOURCE_DIR}/include/*.h
  ${PROJECT_SOURCE_DIR}/tools/schema/*.py)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${portacl_schema})
execute_process(COMMAND ${portacl_write_schema} COMMAND_ERROR_IS_FATAL ANY)
file(GLOB portacl_operator_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/aclnnop/*/*.cc)
add_custom_command(
  OUTPUT ${portacl_generated}/schema.stamp
  COMMAND ${portacl_write_schema}
  COMMAND ${CMAKE_COMMAND} -E touch ${portacl_generated}/schema.stamp
  DEPENDS ${portacl_operator_sources}
  COMMENT "Making the C functions of the operators"
  VERBATIM)
add_custom_target(portacl_functions DEPENDS ${portacl_generated}/schema.stamp)
