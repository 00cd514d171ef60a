// SPDX-License-Identifier: Apache-2.0
#include "codegen/cpu/contraction/structure.h"

#include <algorithm>
#include <initializer_list>
#include <vector>

#include "codegen/cpu/contraction/taps.h"
#include "ir/program/steps/contraction.h"

namespace mxc::contraction {
namespace {

int Count(const std::vector<Role>& axes, Role role) {
  return static_cast<int>(std::ranges::count(axes, role));
}

}  // namespace

bool IsConvolution(const Contraction& c) {
  const auto matches = [&](const std::vector<Role>& axes, Role first,
                           std::initializer_list<Role> second) {
    if (axes.size() != c.kernel.size() + 2 || axes[0] != first) return false;
    if (std::ranges::find(second, axes[1]) == second.end()) return false;
    for (size_t i = 0; i < c.kernel.size(); ++i) {
      const auto role =
          static_cast<Role>(static_cast<int>(Role::kSpatial0) + i);
      if (axes[i + 2] != role) return false;
    }
    return true;
  };
  return !c.kernel.empty() && HasPhases(c) &&
         matches(c.data_axes, Role::kBatch, {Role::kGroupIn, Role::kIn}) &&
         (matches(c.weight_axes, Role::kGroupOut, {Role::kIn}) ||
          matches(c.weight_axes, Role::kOut, {Role::kIn}) ||
          matches(c.weight_axes, Role::kGroupIn, {Role::kOut})) &&
         matches(c.output_axes, Role::kBatch, {Role::kGroupOut, Role::kOut});
}

bool IsProduct(const Contraction& c) {
  const int groups = Count(c.data_axes, Role::kGroup);
  return c.kernel.empty() && c.input.empty() &&
         Count(c.data_axes, Role::kIn) == 1 &&
         Count(c.weight_axes, Role::kIn) == 1 &&
         Count(c.weight_axes, Role::kOut) == 1 && groups <= 1 &&
         Count(c.weight_axes, Role::kGroup) == groups &&
         Count(c.output_axes, Role::kGroup) == groups &&
         (groups == 1 || c.groups == 1) && !c.output_axes.empty() &&
         c.output_axes.back() == Role::kOut &&
         Count(c.data_axes, Role::kBatch) ==
             Count(c.output_axes, Role::kBatch) &&
         static_cast<int>(c.data_axes.size()) ==
             1 + groups + Count(c.data_axes, Role::kBatch) &&
         static_cast<int>(c.weight_axes.size()) == 2 + groups;
}

bool IsProductByRows(const Contraction& c) {
  using Axes = std::vector<Role>;
  const bool along_rows = c.data_axes == Axes{Role::kBatch, Role::kIn} &&
                          c.weight_axes == Axes{Role::kOut, Role::kIn};
  const bool across_rows = c.data_axes == Axes{Role::kIn, Role::kBatch} &&
                           c.weight_axes == Axes{Role::kIn, Role::kOut};
  return c.kernel.empty() && c.input.empty() && c.groups == 1 &&
         (along_rows || across_rows) &&
         c.output_axes == Axes{Role::kOut, Role::kBatch};
}

}  // namespace mxc::contraction
