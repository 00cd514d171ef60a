// SPDX-License-Identifier: Apache-2.0
// A step with what another one stores computed in place of its Loads.
#pragma once

#include <optional>
#include <vector>

#include "ir/program/program.h"
#include "ir/program/steps/map.h"

namespace mxc {

// The value of an output of `producer`, as boxes over the output's index.
struct Produced {
  int buffer;
  std::vector<Store> boxes;
  const Step* producer;
};

// By output of a Map.
std::vector<Produced> OutputsOf(const Step& producer);

// The reader without Loads of the produced buffer; nullopt where it cannot be,
// or where what it computes would be too large. A producer made of boxes splits
// the reader into boxes. Names and origins stay as they are.
std::optional<Step> Inlined(const Program& program, const Produced& produced,
                            const Step& reader);

}  // namespace mxc
