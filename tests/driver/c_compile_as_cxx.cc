// SPDX-License-Identifier: Apache-2.0
// The header and the program are C++, too.
#include "tests/driver/c_compile.c"
