// SPDX-License-Identifier: Apache-2.0
#include "ir/program/copy_step.h"

#include <utility>

#include "ir/program/steps/map.h"

namespace mxc {

Step CopyStep(const Program& program, int from, int to, std::string name,
              std::vector<std::string> origins, const SourceLoc& loc) {
  const TensorType& type = program.buffers[from].type;
  std::vector<Expr> index;
  for (int axis = 0; axis < type.shape.rank(); ++axis) {
    index.push_back(Var(axis));
  }
  Step step;
  step.name = std::move(name);
  step.origins = std::move(origins);
  step.loc = loc;
  step.inputs = {from};
  step.outputs = {to};
  step.body = Map{{Store{0, Extents(type.shape.rank(), 0), type.shape.dims(),
                         Load(0, type.dtype, index)}}};
  return step;
}

}  // namespace mxc
