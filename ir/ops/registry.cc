// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <string_view>
#include <vector>

#include "ir/ops/op.h"
#include "ir/support/nearest.h"

namespace mxc {

#define MXC_OPERATOR(family, Id) Operator Define##Id();
#include "ir/ops/ops.def"
#undef MXC_OPERATOR

namespace {

class Registry {
 public:
  Registry() {
#define MXC_OPERATOR(family, Id) operators_.push_back(Define##Id());
#include "ir/ops/ops.def"
#undef MXC_OPERATOR
    for (Operator& op : operators_) {
      if (!op.visible_outputs) {
        op.visible_outputs = [outputs = op.outputs](const void* attrs) {
          return static_cast<int>(outputs(attrs).size());
        };
      }
      list_.push_back(&op);
      Name(op.name, op);
      for (const std::string& alias : op.aliases) Name(alias, op);
    }
  }

  const Operator* Find(std::string_view name) const {
    const auto found = by_name_.find(name);
    return found == by_name_.end() ? nullptr : found->second;
  }
  std::span<const Operator* const> list() const { return list_; }
  std::span<const std::string_view> names() const { return names_; }

 private:
  void Name(const std::string& name, const Operator& op) {
    MXC_CHECK(by_name_.emplace(name, &op).second,
              "two operators are called '{}'", name);
    if (!op.internal) names_.push_back(name);
  }

  std::vector<Operator> operators_;  // complete before anything points into it
  std::vector<const Operator*> list_;
  std::vector<std::string_view> names_;
  std::map<std::string_view, const Operator*> by_name_;
};

const Registry& TheRegistry() {
  static const Registry registry;
  return registry;
}

}  // namespace

const Operator* FindOperator(std::string_view name) {
  return TheRegistry().Find(name);
}

const Operator* FindPublicOperator(std::string_view name) {
  const Operator* op = FindOperator(name);
  return op == nullptr || op->internal ? nullptr : op;
}

std::span<const Operator* const> AllOperators() { return TheRegistry().list(); }

std::string_view NearestOperator(std::string_view name) {
  return Nearest(name, TheRegistry().names());
}

}  // namespace mxc
