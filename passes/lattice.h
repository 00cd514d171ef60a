// SPDX-License-Identifier: Apache-2.0
// Lattice: which positions of an axis are read.
#pragma once

#include <cstdint>

#include "ir/program/expr.h"

namespace mxc {

// The positions first + k·step for all integers k; an axis of n positions has
// those in 0 ≤ i < n. With step 0 there is one position, with step 1 (the
// default) all.
struct Lattice {
  int64_t step = 1, first = 0;  // 0 ≤ first < step, where step > 0

  // Every `step` positions from this one on, both ways.
  static Lattice Of(int64_t position, int64_t step);
  // What the variables of `index` can make it, whatever their ranges; all where
  // it is not linear in them.
  static Lattice Of(const Expr& index);

  // The smallest lattice that holds both.
  void Join(const Lattice& other);

  bool all() const { return step == 1; }
  // How many lie in 0 ≤ i < extent.
  int64_t Count(int64_t extent) const;
  // The k of a position on the lattice; of an index that Of(index) is part of.
  int64_t Number(int64_t position) const;
  Expr Number(const Expr& index) const;
  // The position of number k.
  Expr Position(const Expr& k) const;
};

}  // namespace mxc
