// SPDX-License-Identifier: Apache-2.0
#include "passes/lattice.h"

#include <numeric>
#include <optional>
#include <utility>
#include <vector>

namespace mxc {
namespace {

// Σ factor · variable + constant.
struct Linear {
  std::vector<std::pair<Expr, int64_t>> terms;
  int64_t constant = 0;
};

bool AddTo(Linear& sum, const Expr& e, int64_t factor) {
  if (e->kind == ExprKind::kConst) {
    sum.constant += factor * static_cast<int64_t>(e->number);
    return true;
  }
  if (e->kind == ExprKind::kVar) {
    sum.terms.emplace_back(e, factor);
    return true;
  }
  if (e->kind == ExprKind::kUnary && e->unary == UnaryOp::kNeg) {
    return AddTo(sum, e->args[0], -factor);
  }
  if (e->kind != ExprKind::kBinary) return false;
  const Expr &a = e->args[0], &b = e->args[1];
  switch (e->binary) {
    case BinaryOp::kAdd:
      return AddTo(sum, a, factor) && AddTo(sum, b, factor);
    case BinaryOp::kSub:
      return AddTo(sum, a, factor) && AddTo(sum, b, -factor);
    case BinaryOp::kMul:
      if (b->kind == ExprKind::kConst) {
        return AddTo(sum, a, factor * static_cast<int64_t>(b->number));
      }
      return a->kind == ExprKind::kConst &&
             AddTo(sum, b, factor * static_cast<int64_t>(a->number));
    default:
      return false;
  }
}

std::optional<Linear> LinearOf(const Expr& e) {
  Linear sum;
  if (!AddTo(sum, e, 1)) return std::nullopt;
  return sum;
}

}  // namespace

Lattice Lattice::Of(int64_t position, int64_t step) {
  if (step == 0) return {0, position};
  return {step, ((position % step) + step) % step};
}

Lattice Lattice::Of(const Expr& index) {
  const auto sum = LinearOf(index);
  if (!sum) return {};
  int64_t step = 0;
  for (const auto& [var, factor] : sum->terms) step = std::gcd(step, factor);
  return Of(sum->constant, step);
}

void Lattice::Join(const Lattice& other) {
  *this = Of(first, std::gcd(std::gcd(step, other.step), other.first - first));
}

int64_t Lattice::Count(int64_t extent) const {
  if (step == 0) return first >= 0 && first < extent ? 1 : 0;
  return first < extent ? (extent - first + step - 1) / step : 0;
}

int64_t Lattice::Number(int64_t position) const {
  return step == 0 ? 0 : (position - first) / step;
}

Expr Lattice::Number(const Expr& index) const {
  if (all()) return index;
  if (step == 0) return Expr(0);
  const Linear sum = *LinearOf(index);
  Expr number;
  for (const auto& [var, factor] : sum.terms) {
    const Expr term = var * Expr(factor / step);
    number = number ? number + term : term;
  }
  const Expr constant(Number(sum.constant));
  return number ? number + constant : constant;
}

Expr Lattice::Position(const Expr& k) const {
  return step == 0 ? Expr(first) : k * Expr(step) + Expr(first);
}

}  // namespace mxc
