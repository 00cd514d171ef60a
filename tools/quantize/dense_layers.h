// SPDX-License-Identifier: Apache-2.0
// Products of a tensor and a matrix of parameters, which is what other programs
// write for a dense layer, become MXNet's FullyConnected, which 8-bit numbers
// can compute:
//
//   dot(x[…, k], w[k, m]) (+ b[m])  ⇒  FullyConnected(x, wᵀ[m, k], b)
#pragma once

#include "frontend/frontend.h"

namespace mxc {

// The model has its parameters, and types as far as they follow. A turned matrix
// is a parameter of its own, "NAME_turned" if that is free; one that nothing else reads leaves the
// graph.
void UseFullyConnected(Model& model);

}  // namespace mxc
