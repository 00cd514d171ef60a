// SPDX-License-Identifier: Apache-2.0
// The networks on which every pass is held to leave the numbers alone: small,
// but with the structures that passes look for.
#pragma once

#include <vector>

#include "tests/passes/network.h"

namespace mxc {

Network Mlp();
Network Lenet();
Network ResidualV1();     // conv, batch norm, relu, add, relu
Network BottleneckV1();   // the same, strided in its 1x1 convolutions
Network ResidualV2();     // pre-activation: batch norm and relu before conv
Network Inception();      // branches of different width, joined by Concat
Network Branches();       // the same after larger layers, and a slice
Network DenseBlock();     // Concats of Concats, read by batch norms
Network SqueezeExcite();  // a broadcast product with a gate per channel
Network Detector();       // several outputs, slices, softmax over channels
Network Elementwise();    // scalars, broadcasts, views, casts, reductions
Network Outputs();        // outputs that are inputs, equal, or read again
Network Constants();      // subgraphs of constants, equal subexpressions

std::vector<Network> AllNetworks();

}  // namespace mxc
