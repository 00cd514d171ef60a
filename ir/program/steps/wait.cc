// SPDX-License-Identifier: Apache-2.0
#include "ir/program/steps/wait.h"

#include "ir/program/program.h"
#include "ir/program/program_text.h"

namespace mxc {

std::string Wait::Print() const { return "    wait\n"; }

StepBody ReadWait(ProgramReader& reader) {
  reader.lex().Expect("wait");
  return Wait();
}

std::optional<std::string> Wait::Verify(const Program& program,
                                        const Step& step) const {
  if (step.outputs.size() > step.inputs.size()) {
    return "a wait for more than was started";
  }
  const size_t first = step.inputs.size() - step.outputs.size();
  for (size_t i = 0; i < step.outputs.size(); ++i) {
    const int begun = step.inputs[first + i];
    const Buffer& from = program.buffers[begun];
    const Buffer& to = program.buffers[step.outputs[i]];
    if (to.alias_of != begun || to.alias_begin != 0 || from.type != to.type ||
        from.layout != to.layout) {
      return "a wait whose output is not what was started";
    }
  }
  return std::nullopt;
}

void Wait::Interpret(StepValues& values) const {
  const size_t first = values.inputs.size() - values.outputs.size();
  for (size_t i = 0; i < values.outputs.size(); ++i) {
    values.outputs[i] = *values.inputs[first + i];
  }
}

std::string Wait::Key(const Program&, const Step&, const ExprText&) const {
  return "|wait";
}

double Wait::Flops(const Program&, const Step&) const { return 0; }

}  // namespace mxc
