// SPDX-License-Identifier: Apache-2.0
// Contractions for which a back end has no kernel of its own, as Maps.
#pragma once

#include "ir/program/program.h"

namespace mxc {

// A contraction written out as a sum, with its epilogue around it. `in_vectors`:
// of outputs that lie side by side, for each of which a loop would otherwise run
// through all data that one of them meets.
Map MapOfContraction(const Program& program, const Step& step,
                     bool in_vectors = false);

}  // namespace mxc
