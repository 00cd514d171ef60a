// SPDX-License-Identifier: Apache-2.0
// What the phases of a compilation have to say, each in one line.
#pragma once

#include <string>

#include "codegen/codegen.h"
#include "tools/driver/plan.h"

namespace mxc {

// "437 nodes, 161 parameters, 97.5 MiB"
std::string DescribeNetwork(const Plan& plan);

// "176 operators → 71 steps; merged 53 BatchNorm, 49 Activation"
std::string DescribeFusion(const Plan& plan);

// "peak 4.9 MiB, lower bound 4.6 MiB, 32.1 MiB without sharing"
std::string DescribeMemory(const Plan& plan);

// "38 kernels, 30 from the cache"
std::string DescribeKernels(const CodeImage& code);

}  // namespace mxc
