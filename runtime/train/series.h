// SPDX-License-Identifier: Apache-2.0
// Holds the curves of a training run, as journals store and charts draw them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace mxc::train {

struct Point {
  int64_t step;
  double value;
  double time = 0;  // when, in seconds since 1970; 0: nobody knows
};

// Curves by name, "train/loss"; each in the order of its steps.
using SeriesMap = std::map<std::string, std::vector<Point>>;

}  // namespace mxc::train
