// SPDX-License-Identifier: Apache-2.0
#include "ir/program/steps/copy.h"

#include "ir/program/program.h"
#include "ir/program/program_text.h"

namespace mxc {

std::string Copy::Print() const { return "    copy\n"; }

StepBody ReadCopy(ProgramReader& reader) {
  reader.lex().Expect("copy");
  return Copy();
}

std::optional<std::string> Copy::Verify(const Program& program,
                                        const Step& step) const {
  if (step.inputs.size() != 1 || step.outputs.size() != 1) {
    return "a copy that is not of one buffer to another";
  }
  const Buffer& from = program.buffers[step.inputs[0]];
  const Buffer& to = program.buffers[step.outputs[0]];
  if (from.type != to.type || from.layout != to.layout ||
      from.layout.has_gaps()) {
    return "a copy between buffers that differ or have gaps";
  }
  return std::nullopt;
}

void Copy::Interpret(StepValues& values) const {
  values.outputs[0] = *values.inputs[0];
}

std::string Copy::Key(const Program&, const Step&, const ExprText&) const {
  return "|copy";
}

double Copy::Flops(const Program&, const Step&) const { return 0; }

}  // namespace mxc
