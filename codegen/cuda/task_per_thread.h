// SPDX-License-Identifier: Apache-2.0
// How the threads of a device share a step: each computes one task, a vector of
// the output or a row of vectors where terms are kept.
#pragma once

#include "codegen/schedule/dealing.h"

namespace mxc {

extern const Dealing kTaskPerThread;

}  // namespace mxc
