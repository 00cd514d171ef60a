// SPDX-License-Identifier: Apache-2.0
// Describes the kernels of a program for people, and lists them for the
// manifest.
#pragma once

#include <string>
#include <vector>

#include "ir/program/kernel_catalog.h"
#include "ir/program/program.h"

namespace mxc {

// By which algorithm a step is computed, for people: "winograd4 8c", "loops",
// "view", "64 turns of 3 steps"; the target's catalog knows algorithms.
std::string KernelName(const Step& step, const KernelCatalog& catalog);

// Those of all steps and of those inside of them, in the order of an artifact's
// tables, as a line of the manifest has them (KernelsOf reads it).
std::string KernelNames(const Program& program, const KernelCatalog& catalog);

// True if a contraction's own kernel computes the step, or a part of it.
bool ComputesContraction(const Step& step);

// The rows of an artifact's tables that are such steps, as a line of the
// manifest has them (runtime::RowsOf reads it): "0 3 4".
std::string ContractionRows(const Program& program);

}  // namespace mxc
