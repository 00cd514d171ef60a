# SPDX-License-Identifier: Apache-2.0
# cmake --toolchain tools/cross/aarch64.cmake -DMXC_COMPILER=OFF …: the runtime
# and mxc-run for 64-bit ARM.
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(emulated cortex-a72)
include(${CMAKE_CURRENT_LIST_DIR}/debian.cmake)
