// SPDX-License-Identifier: Apache-2.0
#include "ir/program/steps/procedure.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/program/flops.h"
#include "ir/program/memory.h"
#include "ir/program/program.h"
#include "ir/program/program_text.h"

namespace mxc {
namespace {

using StatementKind = Statement::Kind;
using Statements = std::vector<Statement>;

constexpr int kMaxStatementNesting = 32;  // of statements in each other

bool HasConstantBounds(const Statement& loop) {
  return loop.begin->kind == ExprKind::kConst &&
         loop.end->kind == ExprKind::kConst;
}

double RoundsOf(const Statement& loop) {
  return loop.end->number - loop.begin->number;
}

std::string MostOf(const Statement& loop) {
  const bool known = HasConstantBounds(loop) &&
                     RoundsOf(loop) == static_cast<double>(loop.most);
  return known ? "" : fmt::format(" at most {}", loop.most);
}

// Statements as lines, each of them `indent` further to the right.
class StatementPrinter {
 public:
  explicit StatementPrinter(const ExprText& text) : text_(text) {}

  std::string Print(const Statements& list, int indent, int loops) {
    std::string out;
    for (const Statement& s : list) out += Print(s, indent, loops);
    return out;
  }

 private:
  std::string Print(const Statement& s, int indent, int loops) {
    const std::string margin(static_cast<size_t>(indent), ' ');
    switch (s.kind) {
      case StatementKind::kStore:
        return fmt::format("{}set {} = {}\n", margin, text_(s.target),
                           text_(s.value));
      case StatementKind::kFor:
        return fmt::format("{}for i{} in {} .. {}{} {{\n{}{}}}\n", margin,
                           loops + 1, text_(s.begin), text_(s.end), MostOf(s),
                           Print(s.body, indent + 2, loops + 1), margin);
      case StatementKind::kIf: {
        std::string out =
            fmt::format("{}if {} {{\n{}{}}}", margin, text_(s.value),
                        Print(s.body, indent + 2, loops), margin);
        if (!s.otherwise.empty()) {
          out += fmt::format(" else {{\n{}{}}}",
                             Print(s.otherwise, indent + 2, loops), margin);
        }
        return out + "\n";
      }
      case StatementKind::kBreak:
        return margin + "break\n";
    }
    return "";
  }

  const ExprText& text_;
};

std::string PrintWith(const Procedure& procedure, const ExprText& text) {
  std::string out = fmt::format("    procedure {} {{\n", procedure.tasks);
  for (const TensorType& local : procedure.locals) {
    out += fmt::format("      local {}\n", ToString(local));
  }
  return out + StatementPrinter(text).Print(procedure.body, 6, 0) + "    }\n";
}

class StatementReader {
 public:
  explicit StatementReader(ProgramReader& reader)
      : reader_(reader), lex_(reader.lex()) {}

  // Up to the closing brace.
  Statements ReadBlock(int nesting, int loops) {
    Statements list;
    if (nesting > kMaxStatementNesting) lex_.Fail("fewer nested statements");
    lex_.Expect("{");
    while (!lex_.AtEnd() && !lex_.Accept("}")) {
      list.push_back(ReadStatement(nesting, loops));
    }
    return list;
  }

  Statement ReadStatement(int nesting, int loops) {
    Statement s;
    if (lex_.Accept("break")) return s;
    if (lex_.Accept("for")) {
      ReadFor(s, nesting, loops);
    } else if (lex_.Accept("if")) {
      s.kind = StatementKind::kIf;
      s.value = reader_.Value();
      s.body = ReadBlock(nesting + 1, loops);
      if (lex_.Accept("else")) s.otherwise = ReadBlock(nesting + 1, loops);
    } else {
      lex_.Expect("set");
      s.kind = StatementKind::kStore;
      s.target = reader_.Value();
      if (s.target->kind != ExprKind::kLoad) lex_.Fail("an element to write");
      lex_.Expect("=");
      s.value = reader_.Value();
    }
    return s;
  }

 private:
  void ReadFor(Statement& s, int nesting, int loops) {
    s.kind = StatementKind::kFor;
    lex_.Expect(fmt::format("i{}", loops + 1));
    lex_.Expect("in");
    s.begin = reader_.Value();
    lex_.Expect("..");
    s.end = reader_.Value();
    if (lex_.Accept("at")) {
      lex_.Expect("most");
      s.most = lex_.Integer();
    } else if (HasConstantBounds(s) && RoundsOf(s) >= 0 &&
               RoundsOf(s) <= Statement::kMostRounds) {
      s.most = static_cast<int64_t>(RoundsOf(s));
    } else {
      lex_.Fail("'at most' and how many rounds");
    }
    s.body = ReadBlock(nesting + 1, loops + 1);
  }

  ProgramReader& reader_;
  Lexer& lex_;
};

// f(statement, how often a task runs it at most), of all statements.
template <class F>
void VisitStatements(const Statements& list, double times, const F& f) {
  for (const Statement& s : list) {
    f(s, times);
    const double inner = s.kind == StatementKind::kFor
                             ? times * static_cast<double>(s.most)
                             : times;
    VisitStatements(s.body, inner, f);
    VisitStatements(s.otherwise, inner, f);
  }
}

}  // namespace

std::string Procedure::Print() const {
  return PrintWith(*this, [](const Expr& e) { return mxc::Print(e); });
}

StepBody ReadProcedure(ProgramReader& reader) {
  Lexer& lex = reader.lex();
  lex.Expect("procedure");
  Procedure procedure;
  procedure.tasks = lex.Integer();
  lex.Expect("{");
  reader.DeclareOutputs();
  while (lex.Accept("local")) {
    procedure.locals.push_back(reader.Type());
    reader.Declare(procedure.locals.back().dtype);
  }
  StatementReader statements(reader);
  while (!lex.AtEnd() && !lex.Accept("}")) {
    procedure.body.push_back(statements.ReadStatement(1, 0));
  }
  return procedure;
}

std::string Procedure::Key(const Program&, const Step&,
                           const ExprText& text) const {
  return "|" + PrintWith(*this, text);
}

double Procedure::Flops(const Program&, const Step&) const {
  double total = 0;
  VisitStatements(body, static_cast<double>(tasks),
                  [&](const Statement& s, double times) {
                    if (!s.value) return;
                    // Indices vary outside of the expression.
                    const Extents once(kMaxStatementNesting + 1, 1);
                    total += times * OperationsOf(s.value, once);
                  });
  return total;
}

double Procedure::MostStatements() const {
  double total = 0;
  VisitStatements(body, 1,
                  [&](const Statement&, double times) { total += times; });
  return total;
}

std::vector<int64_t> Procedure::ScratchOffsets() const {
  std::vector<int64_t> offsets = {0};
  for (const TensorType& local : locals) {
    const int64_t bytes = local.shape.rank() == 0 ? 0 : local.bytes();
    offsets.push_back(offsets.back() + AlignedBytes(bytes));
  }
  return offsets;
}

}  // namespace mxc
