// SPDX-License-Identifier: Apache-2.0
// A loop as a `_scan`.
#pragma once

#include <vector>

#include "frontend/mxnet/subgraphs/expansion.h"
#include "ir/ops/tensor/control/scan.h"

namespace mxc {

// Expands the control flow in the graph of a loop whose variables have these
// types, as far as they are known.
Status ExpandInside(Subgraph& subgraph, const std::vector<TensorType>& types);
// Of what a turn sees of such a tensor.
TensorType SliceOf(TensorType stacked);

// Returns whether the graph of a loop can run within a turn: no operator of it
// has states, is a loss, or lacks a gradient.
bool MayBeTurn(const Subgraph& subgraph);

// Adds the scan to the node's graph, whose types need not be known yet.
ScanBuilder::Outputs AddScan(ScanBuilder& scan, Expansion& expansion);

}  // namespace mxc
