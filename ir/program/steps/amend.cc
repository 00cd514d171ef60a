// SPDX-License-Identifier: Apache-2.0
#include "ir/program/steps/amend.h"

#include <algorithm>

#include "ir/program/in_place.h"
#include "ir/program/procedure_builder.h"
#include "ir/program/program.h"
#include "ir/program/program_text.h"

namespace mxc {

StepBody ReadProcedure(ProgramReader& reader);  // steps/procedure.cc

namespace {

using Statements = std::vector<Statement>;

// The same one loop further in, where the variable of a loop in d others is
// number d + 1.
Statements FurtherIn(Statements statements) {
  const auto shifted = [](const Expr& e) {
    return e ? SubstituteVars(e, [](int var) { return Var(var + 1); }) : e;
  };
  for (Statement& s : statements) {
    for (Expr* e : {&s.target, &s.value, &s.begin, &s.end}) *e = shifted(*e);
    s.body = FurtherIn(std::move(s.body));
    s.otherwise = FurtherIn(std::move(s.otherwise));
  }
  return statements;
}

// The output becomes the last input, element by element.
void CopyAll(ProcedureBuilder& p, int input, std::vector<Expr>& index) {
  const auto axis = static_cast<int>(index.size());
  if (axis == p.OutShape().rank()) {
    p.Set(p.Out().At(index), p.In(input).At(index));
    return;
  }
  p.For(0, p.OutShape()[axis], [&](const Expr& i) {
    index.push_back(i);
    CopyAll(p, input, index);
    index.pop_back();
  });
}

// By one task, since the tasks of the procedure own what they write.
Procedure CopyingFirst(const Procedure& procedure, const Program& program,
                       const Step& step) {
  std::vector<TensorType> inputs;
  for (const int b : step.inputs) inputs.push_back(program.buffers[b].type);
  ProcedureBuilder p(inputs, {program.buffers[step.outputs[0]].type});
  std::vector<Expr> index;
  CopyAll(p, static_cast<int>(inputs.size()) - 1, index);
  Procedure whole = p.Finish();
  whole.locals = procedure.locals;
  Statement tasks;
  tasks.kind = Statement::Kind::kFor;
  tasks.begin = Expr(0);
  tasks.end = Expr(procedure.tasks);
  tasks.most = procedure.tasks;
  tasks.body = FurtherIn(procedure.body);
  whole.body.push_back(std::move(tasks));
  return whole;
}

bool LieTogether(const Program& program, const Step& step) {
  return HaveSameBytes(program, step.inputs.back(), step.outputs[0]);
}

// Returns whether a statement reads the buffer, under whichever number.
bool Reads(const Statements& statements, const Step& step, int buffer) {
  return std::ranges::any_of(statements, [&](const Statement& s) {
    bool reads =
        Reads(s.body, step, buffer) || Reads(s.otherwise, step, buffer);
    for (const Expr* e : {&s.target, &s.value, &s.begin, &s.end}) {
      if (!*e) continue;
      VisitLoads(*e, [&](const ExprNode& load) {
        const auto number = static_cast<size_t>(load.index);
        reads = reads ||
                (number < step.inputs.size() && step.inputs[number] == buffer);
      });
    }
    return reads;
  });
}

}  // namespace

std::string Amend::Print() const { return "    amend\n" + procedure.Print(); }

StepBody ReadAmend(ProgramReader& reader) {
  reader.lex().Expect("amend");
  const StepBody body = ReadProcedure(reader);
  return Amend{*body.As<Procedure>()};
}

std::optional<std::string> Amend::Verify(const Program& program,
                                         const Step& step) const {
  if (step.inputs.empty() || step.outputs.size() != 1) {
    return "what is amended is not one tensor";
  }
  if (program.buffers[step.inputs.back()].type !=
      program.buffers[step.outputs[0]].type) {
    return "what is amended becomes another type";
  }
  if (Reads(procedure.body, step, step.inputs.back())) {
    return "the procedure reads what is amended";
  }
  return procedure.Verify(program, step);
}

void Amend::Interpret(StepValues& values) const {
  CopyingFirst(procedure, values.program, values.step).Interpret(values);
}

std::string Amend::Key(const Program& program, const Step& step,
                       const ExprText& text) const {
  return (LieTogether(program, step) ? "|amend in place" : "|amend") +
         procedure.Key(program, step, text);
}

double Amend::Flops(const Program& program, const Step& step) const {
  return procedure.Flops(program, step);
}

int Amend::FixedOperands(const Step& step) const {
  return static_cast<int>(step.inputs.size()) - 1;
}

Procedure Amend::Lower(const Program& program, const Step& step) const {
  return LieTogether(program, step) ? procedure
                                    : CopyingFirst(procedure, program, step);
}

}  // namespace mxc
