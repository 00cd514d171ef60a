// SPDX-License-Identifier: Apache-2.0
#include "ir/program/steps/call.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "ir/program/call_function.h"
#include "ir/program/program.h"
#include "ir/program/program_text.h"
#include "ir/support/check.h"

namespace mxc {
namespace {

// Of the operands that hold values.
std::vector<TensorType> TypesOf(const Program& program, const Step& step) {
  std::vector<TensorType> types;
  for (const int b : step.operands()) types.push_back(program.buffers[b].type);
  types.pop_back();
  return types;
}

}  // namespace

std::string Call::Print() const {
  return fmt::format("    call {} version {} {}\n", Quoted(function), version,
                     Quoted(attributes));
}

StepBody ReadCall(ProgramReader& reader) {
  Lexer& lex = reader.lex();
  lex.Expect("call");
  Call call;
  call.function = lex.QuotedString();
  lex.Expect("version");
  call.version = static_cast<int>(lex.Integer());
  call.attributes = lex.QuotedString();
  return call;
}

std::optional<std::string> Call::Verify(const Program& program,
                                        const Step& step) const {
  const CallFunction* known = FindCallFunction(function, version);
  const int64_t bytes =
      known == nullptr ? 1 : known->workspace(TypesOf(program, step));
  const Buffer& workspace = program.buffers[step.outputs.back()];
  if (workspace.type.dtype != DType::kU8 ||
      workspace.kind != BufferKind::kInternal || workspace.bytes() < bytes) {
    return "a call without room to work in";
  }
  return std::nullopt;
}

void Call::Interpret(StepValues& values) const {
  const CallFunction* known = FindCallFunction(function, version);
  if (known != nullptr) return known->interpret(*this, values);
  if (FindUserCall() != nullptr) return FindUserCall()(*this, values);
  for (std::vector<Element>& output : values.outputs) {
    std::ranges::fill(output, std::numeric_limits<double>::quiet_NaN());
  }
}

std::string Call::Key(const Program&, const Step&, const ExprText&) const {
  return fmt::format("|call {} {} {}", function, version, attributes);
}

double Call::Flops(const Program& program, const Step& step) const {
  const CallFunction* known = FindCallFunction(function, version);
  return known == nullptr ? 0 : known->flops(TypesOf(program, step));
}

}  // namespace mxc
