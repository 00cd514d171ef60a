// SPDX-License-Identifier: Apache-2.0
#include "ir/program/cast_step.h"

#include <utility>

#include "ir/program/copy_step.h"
#include "ir/program/steps/map.h"

namespace mxc {

Step CastStep(const Program& program, int from, int to, std::string name,
              const Step& reader) {
  Step step =
      CopyStep(program, from, to, std::move(name), reader.origins, reader.loc);
  step.backward = reader.backward;
  Store& store = step.map()->stores[0];
  store.value = Cast(store.value, program.buffers[to].type.dtype);
  return step;
}

}  // namespace mxc
