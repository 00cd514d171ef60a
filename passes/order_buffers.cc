// SPDX-License-Identifier: Apache-2.0
#include "passes/order_buffers.h"

#include <utility>

#include "ir/support/check.h"

namespace mxc {

void OrderBuffers(Program& program, const std::vector<int>& order) {
  std::vector<Buffer> buffers;
  std::vector<int> number(program.buffers.size(), -1);
  for (const int b : order) {
    number[b] = static_cast<int>(buffers.size());
    buffers.push_back(std::move(program.buffers[b]));
    MXC_CHECK(buffers.back().alias_of < 0, "{}", buffers.back().name);
  }
  for (Buffer& buffer : buffers) {
    if (buffer.state >= 0) buffer.state = number[buffer.state];
  }
  program.buffers = std::move(buffers);
  for (Step& step : program.steps) {
    for (std::vector<int>* operands : {&step.inputs, &step.outputs}) {
      for (int& b : *operands) {
        b = number[b];
        MXC_CHECK(b >= 0, "step '{}' lost an operand", step.name);
      }
    }
  }
}

}  // namespace mxc
