# Cross-compiles for aarch64 Linux with Debian's compiler; what is built runs here under qemu's user-mode emulation.
# SPDX-License-Identifier: Apache-2.0
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)

set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)

# The C and C++ libraries come with the compiler. What else is needed are headers, which are the same for every machine,
# so they are the host's; its libraries are never looked at.
set(CMAKE_FIND_ROOT_PATH /usr/aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE BOTH)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE BOTH)

# The instructions of every processor that qemu knows, so that SVE runs beside NEON.
find_program(PORTACL_QEMU_AARCH64 NAMES qemu-aarch64-static qemu-aarch64 REQUIRED)
set(CMAKE_CROSSCOMPILING_EMULATOR "${PORTACL_QEMU_AARCH64};-L;/usr/aarch64-linux-gnu;-cpu;max")
