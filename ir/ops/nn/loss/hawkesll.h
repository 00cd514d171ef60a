// SPDX-License-Identifier: Apache-2.0
// _contrib_hawkesll and its gradient: walks along the points of a marked Hawkes
// process. Inputs of both, K marks in N sequences of up to T points:
//   lda           f[N, K]   rates in the background, μ
//   alpha, beta   f[K]      how much a point excites, and how fast that decays
//   state         f[N, K]   excitement at the beginning
//   lags          f[N, T]   times from point to point
//   marks         i32[N, T] clipped to 0 … K − 1
//   valid_length  f[N]      points of each sequence, at most T
//   max_time      f[N]      when each sequence ends
// Source: MXNet 1.9.1 operator/contrib/hawkes_ll-inl.h.
#pragma once

#include <functional>
#include <vector>

#include "ir/ops/op.h"
#include "ir/program/procedure_builder.h"

namespace mxc {

inline constexpr const char* kHawkesInputs[] = {
    "lda",  "alpha", "beta",         "state",
    "lags", "marks", "valid_length", "max_time"};

// All types and shapes of those inputs, of which `first` is the first.
//   C1  lda has two axes, lags has as many rows
void HawkesInputTypes(TypeInference& t, int first);

// One sequence, in a task of its own; numbers are computed in f32, of f64 in f64.
class HawkesWalk {
 public:
  HawkesWalk(ProcedureBuilder& p, int first);

  // What is known of a mark at a time: how long ago its last point was, and what
  // is left of excitement since then.
  struct Point {
    Expr mark, distance, left;
  };
  // At every point, and then for every mark at the end.
  void Points(const std::function<void(const Point&)>& visit);
  void Ends(const std::function<void(const Point&)>& visit);

  const Expr& sequence() const { return sequence_; }
  int64_t marks() const { return marks_; }
  DType dtype() const { return dtype_; }
  Expr Zero() const { return Constant(0, dtype_); }
  Expr One() const { return Constant(1, dtype_); }
  Expr Rate(const Expr& mark) const { return At(0, {sequence_, mark}); }
  Expr Alpha(const Expr& mark) const { return At(1, {mark}); }
  Expr Beta(const Expr& mark) const { return At(2, {mark}); }
  Expr Start(const Expr& mark) const { return At(3, {sequence_, mark}); }
  // μ + α·β·excitement of a mark at a point.
  Expr Intensity(const Point& point, const Expr& excitement) const {
    const Expr& mark = point.mark;
    return Rate(mark) + Alpha(mark) * Beta(mark) * excitement * point.left;
  }
  // A local f[K].
  ProcedureArray PerMark(const std::function<Expr(const Expr& mark)>& initial);

 private:
  Expr At(int input, std::vector<Expr> index) const {
    return Cast(p_.In(first_ + input).At(std::move(index)), dtype_);
  }
  Point PointAt(const Expr& mark, const Expr& time);

  ProcedureBuilder& p_;
  const int first_;
  const int64_t marks_, points_;
  const DType dtype_;
  const Expr sequence_;
  const ProcedureArray last_;  // when each mark had its last point
};

}  // namespace mxc
