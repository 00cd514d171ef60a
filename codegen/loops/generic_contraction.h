// SPDX-License-Identifier: Apache-2.0
// Contractions for which a back end has no kernel of its own, as Maps.
#pragma once

#include "codegen/schedule/dealing.h"
#include "ir/program/program.h"

namespace mxc {

// A contraction written out as a sum, with its epilogue around it.
Map MapOfContraction(const Program& program, const Step& step,
                     const Dealing& dealing);

}  // namespace mxc
