# Flags of everything that this project compiles: warnings, sanitizers, and what keeps results the same on every machine.
# SPDX-License-Identifier: Apache-2.0
add_library(portacl_options INTERFACE)

target_compile_options(portacl_options INTERFACE
  -Wall -Wextra -Wpedantic
  $<$<COMPILE_LANGUAGE:CXX>:-Wshadow>
  # A fused multiply-add rounds once where the definition rounds twice: bits would depend on the machine.
  -ffp-contract=off
  # The log names source files: by their place in this project, wherever it was built.
  -fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=)
if(PORTACL_WERROR)
  target_compile_options(portacl_options INTERFACE -Werror)
endif()

if(PORTACL_SANITIZE)
  # Lines are enough to name a place, and little optimisation is: an operator would take minutes otherwise.
  set(sanitizers -fsanitize=${PORTACL_SANITIZE} -fno-omit-frame-pointer -g1 -O1)
  if(PORTACL_SANITIZE MATCHES undefined)
    # Enumerations of the C API carry any number across the boundary, by design: unknown ones are refused by the checks.
    list(APPEND sanitizers -fno-sanitize=enum -fno-sanitize-recover=undefined)
  endif()
  target_compile_options(portacl_options INTERFACE ${sanitizers})
  target_link_options(portacl_options INTERFACE ${sanitizers})
endif()

# Highway's headers alone: its library works at load time (it measures the clock), and nothing of it is needed.
find_path(PORTACL_HIGHWAY_INCLUDE hwy/highway.h REQUIRED)
add_library(portacl_highway INTERFACE)
target_include_directories(portacl_highway SYSTEM INTERFACE ${PORTACL_HIGHWAY_INCLUDE})
if(PORTACL_SANITIZE AND CMAKE_CXX_COMPILER_ID MATCHES Clang)
  # Under clang's sanitizers the headers check themselves, and call that library when a check fails.
  target_compile_definitions(portacl_highway INTERFACE HWY_IS_DEBUG_BUILD=0)
endif()
