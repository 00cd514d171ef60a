// SPDX-License-Identifier: Apache-2.0
// The smallest back end: a machine with a grid of one lane, where each element
// of an output is a task, launched by itself. It has no kernel of its own, so
// what it computes are the loops that every back end can run.
#pragma once

#include "codegen/backend.h"
#include "ir/target/target.h"

namespace mxc::test {

const Backend& ToyBackend();
// Its kernels are compiled for the processor at hand.
Target ToyTarget();

}  // namespace mxc::test
