# SPDX-License-Identifier: Apache-2.0
# cmake --toolchain tools/cross/riscv64.cmake -DMXC_COMPILER=OFF …: the runtime
# and mxc-run for 64-bit RISC-V, whose vectors artifacts need.
set(CMAKE_SYSTEM_PROCESSOR riscv64)
set(emulated rv64,v=true,vlen=128)
# GCC 12 calls a library for atomics of bytes.
set(CMAKE_CXX_STANDARD_LIBRARIES_INIT -latomic)
include(${CMAKE_CURRENT_LIST_DIR}/debian.cmake)
