// SPDX-License-Identifier: Apache-2.0
// Makes the Map steps that passes insert between two types.
#pragma once

#include <string>

#include "ir/program/program.h"

namespace mxc {

// A step that writes the elements of buffer `from` into `to` in the type of
// that, for `reader`, whose origins, place and direction it has.
Step CastStep(const Program& program, int from, int to, std::string name,
              const Step& reader);

}  // namespace mxc
