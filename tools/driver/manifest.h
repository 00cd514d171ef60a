// SPDX-License-Identifier: Apache-2.0
// What an artifact says about itself: runtime/artifact/manifest.h.
#pragma once

#include "codegen/codegen.h"
#include "tools/driver/plan.h"

namespace mxc {

Manifest MakeManifest(const CompileRequest& request, const Plan& plan);

}  // namespace mxc
