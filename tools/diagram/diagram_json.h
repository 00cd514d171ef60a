// SPDX-License-Identifier: Apache-2.0
// A diagram for a page's script: boxes, arrows, groups, and the steps and
// buffers that they name by number.
#pragma once

#include <string>

#include "tools/diagram/diagram.h"

namespace mxc {

// May stand in <script type="application/json">: no '<' is in it.
std::string DiagramJson(const Diagram& diagram, const Overview& overview);

}  // namespace mxc
