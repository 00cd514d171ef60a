// SPDX-License-Identifier: Apache-2.0
#include "ir/support/registry.h"

#include <algorithm>

#include "ir/optimizers/optimizer.h"
#include "ir/support/check.h"
#include "ir/support/nearest.h"

namespace mxc {

#define MXC_OPTIMIZER(Id) Optimizer Define##Id##Optimizer();
#include "ir/optimizers/optimizers.def"
#undef MXC_OPTIMIZER

namespace {

std::string LowerCase(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

std::vector<Optimizer> Define() {
  std::vector<Optimizer> optimizers;
#define MXC_OPTIMIZER(Id) optimizers.push_back(Define##Id##Optimizer());
#include "ir/optimizers/optimizers.def"
#undef MXC_OPTIMIZER
  return optimizers;
}

const Registry<Optimizer>& Optimizers() {
  static const Registry<Optimizer> registry(Define());
  return registry;
}

}  // namespace

const Optimizer* FindOptimizer(std::string_view name) {
  return Optimizers().Find(LowerCase(name));
}

std::span<const Optimizer* const> AllOptimizers() {
  return Optimizers().list();
}

std::string_view NearestOptimizer(std::string_view name) {
  static const std::vector<std::string_view> names =
      Optimizers().Names([](const Optimizer&) { return true; });
  return Nearest(LowerCase(name), names);
}

}  // namespace mxc
