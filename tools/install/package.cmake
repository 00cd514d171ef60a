# SPDX-License-Identifier: Apache-2.0
# `cpack -G DEB`, in a build folder configured with -DCMAKE_INSTALL_PREFIX=/usr
# and -DBUILD_TESTING=OFF: one package with programs, libraries and headers. What
# it depends on is read from the programs themselves.
set(MXC_MAINTAINER "mxc authors <mxc@localhost.localdomain>" CACHE STRING
    "who answers for the package")
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME mxc)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_CONTACT "${MXC_MAINTAINER}")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY
    "ahead-of-time compiler for symbolic neural networks")
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
    "mxc compiles a symbolic neural network, as Apache MXNet's JSON or its own,
into one native file: the forward pass and, to train, the backward pass and
the optimizer. mxc-run, libmxc_runtime and its C and C++ headers run and train
such files; libmxc is the compiler as a library.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# What is loaded when it is needed: pictures, signatures and jobs, and, seldom,
# LAPACK, drawings, URLs and a job that sums by gloo.
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "libjpeg62-turbo, libpng16-16, libssl3, libutf8proc2")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS
    "libopenblas0-serial, graphviz, libcurl4, libgloo0")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(control ${CMAKE_CURRENT_BINARY_DIR}/control)
file(WRITE ${control}/triggers "activate-noawait ldconfig\n")
file(WRITE ${control}/shlibs
     "libmxc ${PROJECT_VERSION_MAJOR} mxc (>= ${PROJECT_VERSION})\n"
     "libmxc_runtime ${PROJECT_VERSION_MAJOR} mxc (>= ${PROJECT_VERSION})\n")
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${control}/triggers ${control}/shlibs)
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_LIST_DIR}/debian_files.cmake)
include(CPack)
