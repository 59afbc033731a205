# Flags of everything that this project compiles: warnings, sanitizers, and what keeps results the same on every machine.
# SPDX-License-Identifier: Apache-2.0
add_library(portacl_options INTERFACE)

target_compile_options(portacl_options INTERFACE
  -Wall -Wextra -Wpedantic
  $<$<COMPILE_LANGUAGE:CXX>:-Wshadow>
  # A fused multiply-add rounds once where the definition rounds twice: bits would depend on the machine.
  -ffp-contract=off)
if(PORTACL_WERROR)
  target_compile_options(portacl_options INTERFACE -Werror)
endif()

if(PORTACL_SANITIZE)
  # Enumerations of the C API carry any number across the boundary, by design: unknown ones are refused by the checks.
  set(sanitizers -fsanitize=${PORTACL_SANITIZE} -fno-omit-frame-pointer)
  if(PORTACL_SANITIZE MATCHES undefined)
    list(APPEND sanitizers -fno-sanitize=enum -fno-sanitize-recover=undefined)
  endif()
  target_compile_options(portacl_options INTERFACE ${sanitizers})
  target_link_options(portacl_options INTERFACE ${sanitizers})
endif()
