# What is different when pip builds: libraries that start on more distributions, and the file that Python reads at its start.
# SPDX-License-Identifier: Apache-2.0

# The C++ runtime inside, so that the C library alone decides how old a distribution may be. The unwinder stays shared:
# exceptions of host functions pass it. What nothing calls is left out: it would ask for a newer C library.
add_link_options($<$<LINK_LANGUAGE:CXX>:-static-libstdc++> $<$<LINK_LANGUAGE:CXX>:LINKER:--gc-sections>)

# Nobody knows yet where it will lie: shells that do not tell a sourced file its place must be told.
set(PORTACL_PLACE_OF_SET_ENV "?must name this file")

install(FILES ${PROJECT_SOURCE_DIR}/python/portacl_start.pth DESTINATION ${SKBUILD_PLATLIB_DIR})

# One file of libportacl, under the name that is looked up: there are no links in a wheel.
function(portacl_finish_wheel)
  set_target_properties(portacl PROPERTIES VERSION ${PROJECT_VERSION_MAJOR})
endfunction()
