// SPDX-License-Identifier: Apache-2.0
// How long a step takes by the model of the machine that is compiled for. The
// runtime deals steps to threads by it, and knows no machine of its own.
#pragma once

#include "ir/program/program.h"
#include "ir/target/machine.h"

namespace mxc {

// On one core, or on the device with the launch; 0 for a step that holds others,
// or of which nothing is known. `planned`: what the kernel's plan says, 0 if
// nothing; `of_units`: KernelFacts::of_units.
double ModelledNanoseconds(const Machine& machine, const Program& program,
                           const Step& step, double planned, bool of_units);

}  // namespace mxc
