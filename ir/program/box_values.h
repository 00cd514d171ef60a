// SPDX-License-Identifier: Apache-2.0
// Interprets the stores of Maps and of contractions' epilogues. Used by one
// thread; it starts others where there is much to do.
#pragma once

#include <vector>

#include "ir/program/evaluator.h"
#include "ir/program/steps/map.h"

namespace mxc {

// Evaluates a step's stores over their boxes, on all processors where that is
// worth it.
class BoxValues {
 public:
  explicit BoxValues(const StepValues& values);

  // Writes the store's values into `out`, which is row-major in `dims`, as
  // `sums` is: what Acc reads.
  void Compute(const Store& store, const Extents& dims,
               std::vector<Element>& out,
               const std::vector<Element>& sums = {});

 private:
  Evaluator evaluator_;
  bool by_one_;  // thread: noise is drawn in an order
};

}  // namespace mxc
