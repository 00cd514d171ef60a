// SPDX-License-Identifier: Apache-2.0
#include "codegen/modelled_time.h"

#include <algorithm>

namespace mxc {

double ModelledNanoseconds(const Machine& machine, const Program& program,
                           const Step& step, double planned, bool of_units) {
  if (step.body.work() == Work::kSteps) return 0;
  if (step.body.work() == Work::kTransfer) {
    const Buffer& to = program.buffers[step.outputs[0]];
    return 1e9 * static_cast<double>(to.bytes()) /
           machine.copy_bytes_per_second;
  }
  int64_t bytes = 0;
  for (const int operand : step.operands()) {
    bytes += program.buffers[operand].bytes();
  }
  // The other cores, or blocks, work on the same operands.
  const double memory =
      static_cast<double>(bytes) / machine.busy_l3_bytes_per_second;
  double arithmetic = 1e9 * static_cast<double>(step.flops(program)) /
                      machine.contraction_flops_per_second;
  arithmetic =
      of_units && planned > 0 ? planned : std::max(planned, arithmetic);
  return 1e9 * machine.step_seconds + std::max(arithmetic, 1e9 * memory);
}

}  // namespace mxc
