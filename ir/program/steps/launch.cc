// SPDX-License-Identifier: Apache-2.0
#include "ir/program/steps/launch.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "ir/program/inner_program.h"
#include "ir/program/interpreter.h"
#include "ir/program/program.h"
#include "ir/program/program_text.h"
#include "ir/program/verify.h"

namespace mxc {

std::string Launch::Print() const { return "    launch" + PrintInner(*inside); }

StepBody ReadLaunch(ProgramReader& reader) {
  reader.lex().Expect("launch");
  return Launch{reader.Inner()};
}

std::optional<std::string> Launch::Verify(const Program& program,
                                          const Step& step) const {
  const std::vector<int> operands = step.operands();
  if (inside == nullptr || inside->buffers.size() != operands.size()) {
    return "a launch without a buffer for each operand";
  }
  for (size_t i = 0; i < operands.size(); ++i) {
    const Buffer& own = inside->buffers[i];
    const Buffer& operand = program.buffers[operands[i]];
    const BufferKind kind =
        i < step.inputs.size() ? BufferKind::kInput : BufferKind::kOutput;
    if (own.kind != kind || own.type != operand.type ||
        own.layout != operand.layout) {
      return fmt::format("operand {}: a buffer of another kind, type or layout",
                         i);
    }
  }
  return VerifyInner(*inside, operands.size());
}

void Launch::Interpret(StepValues& values) const {
  std::vector<std::vector<Element>> own(inside->buffers.size());
  std::vector<const std::vector<Element>*> at;
  for (size_t i = 0; i < own.size(); ++i) {
    at.push_back(i < values.inputs.size() ? values.inputs[i] : &own[i]);
  }
  for (const Step& step : inside->steps) {
    InterpretStep(*inside, step, at, values.arithmetic, own);
  }
  for (size_t i = 0; i < values.outputs.size(); ++i) {
    values.outputs[i] = std::move(own[values.inputs.size() + i]);
  }
}

std::string Launch::Key(const Program&, const Step&,
                        const ExprText& text) const {
  return "|launch" + InnerKey(*inside, inside->buffers.size(), text);
}

double Launch::Flops(const Program&, const Step&) const {
  return InnerFlops(*inside);
}

bool Launch::IsPure() const { return mxc::IsPure(*inside); }

bool Launch::MayFail() const { return mxc::MayFail(*inside); }

}  // namespace mxc
