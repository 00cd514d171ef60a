// SPDX-License-Identifier: Apache-2.0
// What a tensor's values are like: for whoever looks for weights that are dead,
// huge or no number.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "ir/graph/tensor.h"

namespace mxc {

struct TensorStatistics {
  static constexpr size_t kBars = 24;

  std::string name;
  TensorType type;
  int64_t count = 0;       // of elements, padding aside
  int64_t zeros = 0;       // among them
  int64_t not_finite = 0;  // nan or infinite; of the others are what follows
  double least = 0, most = 0, mean = 0, deviation = 0;
  // How many lie in each of equal parts of what is between least and most.
  std::array<int64_t, kBars> bars = {};
};

// Of elements as they lie in memory, in any order. Where they are more than the
// type has, the others are zeros that pad.
TensorStatistics StatisticsOf(std::string name, const TensorType& type,
                              std::span<const std::byte> elements);

}  // namespace mxc
