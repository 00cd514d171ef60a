// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>

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

class Registry {
 public:
  Registry() {
#define MXC_OPTIMIZER(Id) optimizers_.push_back(Define##Id##Optimizer());
#include "ir/optimizers/optimizers.def"
#undef MXC_OPTIMIZER
    for (const Optimizer& optimizer : optimizers_) {
      list_.push_back(&optimizer);
      Name(optimizer.name, optimizer);
      for (const std::string& alias : optimizer.aliases) Name(alias, optimizer);
    }
  }

  const Optimizer* Find(std::string_view name) const {
    const auto found = by_name_.find(LowerCase(name));
    return found == by_name_.end() ? nullptr : found->second;
  }
  std::span<const Optimizer* const> list() const { return list_; }
  std::span<const std::string_view> names() const { return names_; }

 private:
  void Name(const std::string& name, const Optimizer& optimizer) {
    MXC_CHECK(by_name_.emplace(name, &optimizer).second,
              "two optimizers are called '{}'", name);
    names_.push_back(name);
  }

  std::vector<Optimizer>
      optimizers_;  // complete before anything points into it
  std::vector<const Optimizer*> list_;
  std::vector<std::string_view> names_;
  std::map<std::string, const Optimizer*, std::less<>> by_name_;
};

const Registry& TheRegistry() {
  static const Registry registry;
  return registry;
}

}  // namespace

const Optimizer* FindOptimizer(std::string_view name) {
  return TheRegistry().Find(name);
}

std::span<const Optimizer* const> AllOptimizers() {
  return TheRegistry().list();
}

std::string_view NearestOptimizer(std::string_view name) {
  return Nearest(LowerCase(name), TheRegistry().names());
}

}  // namespace mxc
