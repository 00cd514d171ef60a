// SPDX-License-Identifier: Apache-2.0
// The same samples in each source, in the order of their classes.
#pragma once

#include <string>
#include <vector>

#include "tests/data/batches.h"

namespace mxc::data {

constexpr int kClasses = 3, kOfClass = 21;

struct SortedSource {
  std::string spec;
  Settings settings;
  std::string file;  // that stays mapped while samples are read, if any does
};

std::vector<SortedSource> WriteSources(const TestFolder& folder);

}  // namespace mxc::data
