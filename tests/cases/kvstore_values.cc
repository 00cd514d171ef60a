// SPDX-License-Identifier: Apache-2.0
#include "tests/cases/kvstore_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "runtime/data/files/npz.h"
#include "tools/run/failure.h"

namespace mxc {

WorkerArrays ReadWorker(const std::string& path) {
  WorkerArrays arrays;
  for (const data::NpzMember& member : run::Take(data::ReadNpz(path))) {
    std::vector<float>& values = arrays[member.name];
    values.resize(member.array.elements.size() / sizeof(float));
    std::memcpy(values.data(), member.array.elements.data(),
                values.size() * sizeof(float));
  }
  return arrays;
}

std::string DifferenceOf(const std::vector<float>& got,
                         const std::vector<float>& want) {
  constexpr double kLargest = 1e-6;
  if (got.size() != want.size()) return " has another size";
  for (size_t i = 0; i < want.size(); ++i) {
    const double scale = std::max(1.0, std::fabs(double(want[i])));
    if (!(std::fabs(double(got[i]) - double(want[i])) <= kLargest * scale)) {
      return fmt::format("[{}] is {}, expected {}", i, got[i], want[i]);
    }
  }
  return "";
}

}  // namespace mxc
