# SPDX-License-Identifier: Apache-2.0
# find_package(mxc) gives mxc::runtime, mxc::runtime_static and mxc::compiler.
include(CMakeFindDependencyMacro)
find_dependency(Threads)
include(${CMAKE_CURRENT_LIST_DIR}/mxc-targets.cmake)
