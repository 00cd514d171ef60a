// SPDX-License-Identifier: Apache-2.0
// Records in a plan what the user's network was, before passes change it.
#pragma once

#include "frontend/frontend.h"
#include "tools/driver/plan.h"

namespace mxc {

// What a plan says about the user's network, which passes then change.
void NoteNetwork(const Model& model, Plan& plan);

}  // namespace mxc
