// SPDX-License-Identifier: Apache-2.0
// What an artifact says about itself: runtime/artifact/manifest.h.
#pragma once

#include "codegen/codegen.h"
#include "tools/plan.h"

namespace mxc {

Manifest MakeManifest(const PlanOptions& options, const Plan& plan);

}  // namespace mxc
