# What the schema of the operators makes, when CMake configures: all public headers, in ${portacl_include}, and the list of operators.
# SPDX-License-Identifier: Apache-2.0
set(portacl_include ${PROJECT_BINARY_DIR}/include)
set(portacl_generated ${PROJECT_BINARY_DIR}/generated)
file(GLOB_RECURSE portacl_schema CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/aclnnop/*.toml ${PROJECT_SOURCE_DIR}/include/*.h
  ${PROJECT_SOURCE_DIR}/tools/schema/*.py)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${portacl_schema})
execute_process(
  COMMAND ${Python3_EXECUTABLE} -B ${PROJECT_SOURCE_DIR}/tools/schema write ${PROJECT_BINARY_DIR}
  COMMAND_ERROR_IS_FATAL ANY)
