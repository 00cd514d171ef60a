// SPDX-License-Identifier: Apache-2.0
#include "ir/program/procedure_builder.h"

#include <algorithm>

#include "ir/support/check.h"

namespace mxc {

namespace {

std::vector<TensorType> InputTypesOf(const Node& node) {
  std::vector<TensorType> types;
  for (const Value& input : node.inputs) types.push_back(input.type());
  return types;
}

}  // namespace

ProcedureBuilder::ProcedureBuilder(const Node& node)
    : ProcedureBuilder(InputTypesOf(node), node.types) {}

ProcedureBuilder::ProcedureBuilder(std::vector<TensorType> inputs,
                                   std::vector<TensorType> outputs)
    : types_(std::move(inputs)),
      inputs_(static_cast<int>(types_.size())),
      list_(&procedure_.body) {
  types_.insert(types_.end(), outputs.begin(), outputs.end());
}

Expr ProcedureBuilder::Tasks(int64_t count) {
  procedure_.tasks = count;
  return Var(0);
}

ProcedureArray ProcedureBuilder::Array(DType dtype, Extents extents) {
  procedure_.locals.push_back({dtype, Shape(std::move(extents))});
  types_.push_back(procedure_.locals.back());
  return ArrayOf(static_cast<int>(types_.size()) - 1);
}

Statement& ProcedureBuilder::Add(Statement::Kind kind) {
  list_->emplace_back().kind = kind;
  return list_->back();
}

std::vector<Statement> ProcedureBuilder::Collect(
    const std::function<void()>& body) {
  std::vector<Statement> list;
  std::vector<Statement>* outer = std::exchange(list_, &list);
  if (body) body();
  list_ = outer;
  return list;
}

void ProcedureBuilder::Set(const Expr& element, const Expr& value) {
  MXC_CHECK(element->kind == ExprKind::kLoad, "{} is set", Print(element));
  Statement& s = Add(Statement::Kind::kStore);
  s.target = element;
  s.value = Cast(value, element->dtype);
}

Expr ProcedureBuilder::Let(const Expr& value) {
  const Expr scalar = Scalar(value->dtype);
  Set(scalar, value);
  return scalar;
}

void ProcedureBuilder::For(const Expr& begin, const Expr& end, int64_t most,
                           const Body& body) {
  const Expr i = Var(++loops_);
  std::vector<Statement> inner = Collect([&] { body(i); });
  --loops_;
  Statement& s = Add(Statement::Kind::kFor);
  s.begin = begin;
  s.end = end;
  s.most = most;
  s.body = std::move(inner);
}

void ProcedureBuilder::For(int64_t begin, int64_t end, const Body& body) {
  For(Expr(begin), Expr(end), std::max<int64_t>(end - begin, 0), body);
}

void ProcedureBuilder::If(const Expr& condition,
                          const std::function<void()>& then,
                          const std::function<void()>& otherwise) {
  std::vector<Statement> yes = Collect(then), no = Collect(otherwise);
  Statement& s = Add(Statement::Kind::kIf);
  s.value = condition;
  s.body = std::move(yes);
  s.otherwise = std::move(no);
}

void ProcedureBuilder::Break() { Add(Statement::Kind::kBreak); }

}  // namespace mxc
