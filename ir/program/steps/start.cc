// SPDX-License-Identifier: Apache-2.0
#include "ir/program/steps/start.h"

#include "ir/program/program.h"
#include "ir/program/program_text.h"

namespace mxc {

// "    start\n" and the lines of the body.
std::string Start::Print() const { return "    start\n" + body.Print(); }

StepBody ReadStart(ProgramReader& reader) {
  Lexer& lex = reader.lex();
  lex.Expect("start");
  if (lex.Peek() == "start") lex.Fail("a step that may run beside others");
  return Start{lex.failed() ? StepBody() : reader.Body()};
}

std::optional<std::string> Start::Verify(const Program& program,
                                         const Step& step) const {
  if (!body.beside()) return "starts what may not run beside other steps";
  return body.Verify(program, step);
}

void Start::Interpret(StepValues& values) const { body.Interpret(values); }

std::string Start::Key(const Program& program, const Step& step,
                       const ExprText& text) const {
  return "|start" + body.Key(program, step, text);
}

double Start::Flops(const Program& program, const Step& step) const {
  return body.Flops(program, step);
}

}  // namespace mxc
