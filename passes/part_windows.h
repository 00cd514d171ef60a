// SPDX-License-Identifier: Apache-2.0
// Parts of tensors as windows of the whole (ir/program/layout.h), as
// place-parts makes them.
#pragma once

#include <optional>

#include "ir/program/program.h"

namespace mxc {

// The layout of a part of `whole` as a window of it; nothing if it cannot be
// one, or would lie in pieces that are too short.
std::optional<Layout> LayoutOfPart(const Buffer& whole, const Extents& begin,
                                   const Extents& extent);

// A buffer that lies in one of the layout `window.WithoutGaps()`, if that
// becomes `window`; nothing if its elements lie otherwise.
std::optional<Buffer> InStridesOf(Buffer buffer, const Layout& window);

// Store `k` of a Map computes a box that can be a part of its output. It
// becomes a step that writes the part, a new buffer, which is returned; `step`
// copies the part, its last input now.
Step SplitStore(Program& program, Step& step, size_t k);

}  // namespace mxc
