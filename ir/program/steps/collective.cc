// SPDX-License-Identifier: Apache-2.0
#include "ir/program/steps/collective.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/program/program.h"
#include "ir/program/program_text.h"
#include "runtime/abi/collective.h"

namespace mxc {

bool Collective::IsPure() const {
  const CollectiveFacts* facts = FindCollective(operation);
  return facts == nullptr || facts->gives != CollectiveGives::kOneWay;
}

std::string Collective::Print() const {
  return fmt::format("    collective {} of {}\n", Quoted(operation), members);
}

StepBody ReadCollective(ProgramReader& reader) {
  Lexer& lex = reader.lex();
  lex.Expect("collective");
  Collective collective;
  collective.operation = lex.QuotedString();
  lex.Expect("of");
  collective.members = lex.Integer();
  return collective;
}

std::optional<std::string> Collective::Verify(const Program& program,
                                              const Step& step) const {
  const CollectiveFacts* facts = FindCollective(operation);
  if (facts == nullptr) return "a collective that is unknown";
  if (members < 0) return "a collective of fewer devices than none";
  if (facts->gives == CollectiveGives::kOneWay) {
    if (step.outputs.size() == 1) return std::nullopt;
    return "a value that goes one way to several places";
  }
  if (step.inputs.size() != step.outputs.size()) {
    return "a collective of tensors without what becomes of them";
  }
  for (size_t i = 0; i < step.inputs.size(); ++i) {
    const TensorType& from = program.buffers[step.inputs[i]].type;
    const TensorType& to = program.buffers[step.outputs[i]].type;
    if (from.dtype != to.dtype || (facts->adds && !IsFloat(from.dtype))) {
      return "a collective of another element type";
    }
    if (!IsGiven(facts->gives, static_cast<uint64_t>(from.shape.elements()),
                 static_cast<uint64_t>(to.shape.elements()),
                 static_cast<uint64_t>(members))) {
      return "a collective of another size";
    }
  }
  return std::nullopt;
}

void Collective::Interpret(StepValues& values) const {
  if (FindCollective(operation)->gives == CollectiveGives::kOneWay) {
    std::ranges::fill(values.outputs[0], Element{0});
    return;
  }
  for (size_t i = 0; i < values.inputs.size(); ++i) {
    std::vector<Element>& to = values.outputs[i];
    const std::vector<Element>& from = *values.inputs[i];
    std::copy_n(from.begin(), std::min(from.size(), to.size()), to.begin());
  }
}

std::string Collective::Key(const Program&, const Step&,
                            const ExprText&) const {
  return fmt::format("|collective {} {}", operation, members);
}

double Collective::Flops(const Program&, const Step&) const { return 0; }

}  // namespace mxc
