// SPDX-License-Identifier: Apache-2.0
// Into how many tasks a nest is cut, and along which loops: a fixed grid that
// does not depend on the number of threads.
#pragma once

#include "codegen/schedule/loop_nest.h"

namespace mxc {

// Returns whether a thread should have all channels of some rows rather than
// all rows of some channels, as the convolutions around have it
// (DataOverWeights in cpu/contraction/tiling.h): what the other thread wrote
// comes from its cache, slowly. Here the convolutions are thought of as
// pointwise ones between as many channels.
bool PrefersRows(const Shape& shape, const Layout& layout);

// Of a nest whose loops and lanes are final, with outputs of that shape and
// layout: sets its estimate, its tasks, and which loops they share.
void DealTasks(const Machine& machine, LoopNest& nest, const Shape& shape,
               const Layout& layout);

}  // namespace mxc
