// SPDX-License-Identifier: Apache-2.0
// Expressions made anew from others; shared subtrees stay shared.
#include <unordered_map>

#include "ir/program/expr.h"
#include "ir/program/expr_table.h"

namespace mxc {
namespace {

// Rebuilds a node around new children, folding what became constant.
Expr WithChildren(const Expr& e, std::vector<Expr> args,
                  std::vector<Range> ranges) {
  switch (e->kind) {
    case ExprKind::kUnary:
      return Unary(e->unary, args[0]);
    case ExprKind::kBinary:
      return Binary(e->binary, args[0], args[1]);
    case ExprKind::kSelect:
      return Select(args[0], args[1], args[2]);
    case ExprKind::kCast:
      return Cast(args[0], e->dtype);
    case ExprKind::kLoad:
      return Load(e->index, e->dtype, std::move(args));
    case ExprKind::kReduce:
      return Reduce(e->reduce, std::move(ranges), args[0]);
    default:
      return e;
  }
}

using Memo = ExprTable<Expr>;

Expr RewriteMemo(const Expr& e, const std::function<Expr(const Expr&)>& f,
                 Memo& memo) {
  if (const Expr* known = memo.Find(e.get())) return *known;
  std::vector<Expr> args;
  std::vector<Range> ranges;
  args.reserve(e->args.size());
  bool changed = false;
  for (const Expr& arg : e->args) {
    args.push_back(RewriteMemo(arg, f, memo));
    changed |= args.back().get() != arg.get();
  }
  for (const Range& range : e->ranges) {
    ranges.push_back({range.var, RewriteMemo(range.begin, f, memo),
                      RewriteMemo(range.end, f, memo)});
    changed |= ranges.back().begin.get() != range.begin.get() ||
               ranges.back().end.get() != range.end.get();
  }
  Expr rebuilt =
      changed ? WithChildren(e, std::move(args), std::move(ranges)) : e;
  Expr replaced = f(rebuilt);
  Expr result = replaced ? replaced : rebuilt;
  memo.Add(e.get(), result);
  return result;
}

using VarMap = std::unordered_map<int, Expr>;

Expr Substitute(const Expr& e, const std::function<Expr(int)>& with,
                const std::function<int()>& fresh, VarMap& renamed,
                Memo& memo) {
  if (e->kind == ExprKind::kVar) {
    if (const auto it = renamed.find(e->index); it != renamed.end()) {
      return it->second;
    }
    Expr replacement = with(e->index);
    return replacement ? replacement : e;
  }
  if (e->kind == ExprKind::kConst || e->kind == ExprKind::kAcc) return e;
  if (const Expr* known = memo.Find(e.get())) return *known;
  std::vector<Expr> args;
  std::vector<Range> ranges;
  args.reserve(e->args.size());
  for (const Range& range : e->ranges) {
    ranges.push_back({fresh(),
                      Substitute(range.begin, with, fresh, renamed, memo),
                      Substitute(range.end, with, fresh, renamed, memo)});
  }
  // Reduction variables are unique in the process, so a renaming never has to
  // be undone: no other binder uses the same number.
  for (size_t i = 0; i < e->ranges.size(); ++i) {
    renamed[e->ranges[i].var] = Var(ranges[i].var);
  }
  for (const Expr& arg : e->args) {
    args.push_back(Substitute(arg, with, fresh, renamed, memo));
  }
  Expr result = WithChildren(e, std::move(args), std::move(ranges));
  memo.Add(e.get(), result);
  return result;
}

}  // namespace

Expr Rewrite(const Expr& e, const std::function<Expr(const Expr&)>& f) {
  Memo memo;
  return RewriteMemo(e, f, memo);
}

Expr SubstituteVars(const Expr& e, const std::function<Expr(int var)>& with) {
  VarMap renamed;
  Memo memo;
  return Substitute(e, with, FreshReductionVar, renamed, memo);
}

Expr Canonical(const Expr& e) {
  VarMap renamed;
  Memo memo;
  int next = kFirstReductionVar;
  return Substitute(
      e, [](int) { return Expr(); }, [&] { return next++; }, renamed, memo);
}

}  // namespace mxc
