// SPDX-License-Identifier: Apache-2.0
// A diagram in Graphviz's language.
#pragma once

#include <string>

#include "tools/diagram/diagram.h"

namespace mxc {

// Blocks that are folded are one box, others a frame. The forward phase of a
// training step runs down, the backward phase up beside it, so that a gradient
// stands beside the layer that it belongs to.
std::string GraphvizText(const Diagram& diagram);

// "&lt;" for "<" and so on: text for HTML and SVG.
std::string EscapeMarkup(std::string_view text);

}  // namespace mxc
