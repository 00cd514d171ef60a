// SPDX-License-Identifier: Apache-2.0
// Converts the options of mxc_compile.h, of any version, to a CompileRequest.
#pragma once

#include "ir/support/result.h"
#include "tools/driver/mxc_compile.h"
#include "tools/driver/request.h"

namespace mxc {

// The options of this version: those that the caller does not know have their
// defaults, and those that we do not know must be zero.
Result<mxc_compile_options> OptionsFrom(const mxc_compile_options* given);

// The request that the options are, or all that is wrong with them.
Result<CompileRequest> RequestFrom(const mxc_compile_options& options);

}  // namespace mxc
