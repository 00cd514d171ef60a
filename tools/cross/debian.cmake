# SPDX-License-Identifier: Apache-2.0
# What the toolchain files of this folder share: Debian's cross compilers, which
# `tools/packages --cross` installs, and QEMU for what runs. The includer sets
# CMAKE_SYSTEM_PROCESSOR, and `emulated`, the processor that QEMU is.
set(CMAKE_SYSTEM_NAME Linux)
set(tools /usr/bin/${CMAKE_SYSTEM_PROCESSOR}-linux-gnu)
set(CMAKE_C_COMPILER ${tools}-gcc)
set(CMAKE_CXX_COMPILER ${tools}-g++)
set(CMAKE_CROSSCOMPILING_EMULATOR
    qemu-${CMAKE_SYSTEM_PROCESSOR} -cpu ${emulated}
    -L /usr/${CMAKE_SYSTEM_PROCESSOR}-linux-gnu)
# Of JPEG, PNG, zlib, OpenSSL and curl the headers alone are needed. The host's
# serve: what differs between 64-bit systems of Linux is not in them. Its
# libraries are found with them, and nothing is linked with those.
set(host ${CMAKE_HOST_SYSTEM_PROCESSOR}-linux-gnu)
set(CMAKE_LIBRARY_PATH /usr/lib/${host})
set(CMAKE_C_FLAGS_INIT "-idirafter /usr/include/${host}")
set(CMAKE_CXX_FLAGS_INIT "-idirafter /usr/include/${host}")
