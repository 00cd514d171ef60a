// SPDX-License-Identifier: Apache-2.0
// Makes a network's parameter of the arrays of another program's file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "frontend/frontend.h"
#include "frontend/native/weight_table.h"

namespace mxc {

class WeightMaker {
 public:
  // Of `file`, whose arrays are `arrays`; the name outlives it. All that is made takes at most eight
  // times their bytes: a table names one array as often as it likes.
  WeightMaker(const std::string& file, const ParameterArrays& arrays);

  // The arrays, each widened to float32 where it has 16 bits and transposed
  // where the row says so, joined, and the row's rows of that.
  Result<runtime::Array> Make(
      const WeightRow& row,
      const std::vector<const runtime::NamedArray*>& from);

 private:
  const std::string& file_;
  uint64_t left_;  // bytes that may be made
};

}  // namespace mxc
