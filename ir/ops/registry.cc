// SPDX-License-Identifier: Apache-2.0
#include "ir/support/registry.h"

#include <cstddef>
#include <string_view>
#include <vector>

#include "ir/ops/familiar_names.h"
#include "ir/ops/op.h"
#include "ir/ops/operators.h"
#include "ir/support/nearest.h"

namespace mxc {

#define MXC_OPERATOR(family, Id) Operator Define##Id();
#include "ir/ops/ops.def"
#undef MXC_OPERATOR

namespace {

std::vector<Operator> Define() {
  std::vector<Operator> operators;
#define MXC_OPERATOR(family, Id) operators.push_back(Define##Id());
#include "ir/ops/ops.def"
#undef MXC_OPERATOR
  for (Operator& op : operators) {
    if (op.visible_outputs) continue;
    op.visible_outputs = [outputs = op.outputs,
                          states = op.next_states](const void* attrs) {
      const auto count = static_cast<int>(outputs(attrs).size());
      return states ? count - states(attrs) : count;
    };
  }
  return operators;
}

// The place of each in ops.def.
enum class OperatorPlace : size_t {
#define MXC_OPERATOR(family, Id) k##Id,
#include "ir/ops/ops.def"
#undef MXC_OPERATOR
};

const Registry<Operator>& Operators() {
  static const Registry<Operator> registry(Define());
  return registry;
}

// MXNet's second name of what also takes sparse tensors
// (MXNET_ADD_SPARSE_OP_ALIAS); the values are the same.
constexpr std::string_view kSparse = "_sparse_";

}  // namespace

const Operator* FindOperator(std::string_view name) {
  return Operators().Find(name);
}

const Operator* FindPublicOperator(std::string_view name) {
  const Operator* op = FindOperator(name);
  if (op == nullptr && name.starts_with(kSparse)) {
    op = FindOperator(name.substr(kSparse.size()));
  }
  return op == nullptr || op->internal ? nullptr : op;
}

#define MXC_OPERATOR(family, Id)                                           \
  template <>                                                              \
  const Operator& OperatorOf<op::Id>() {                                   \
    return *Operators().list()[static_cast<size_t>(OperatorPlace::k##Id)]; \
  }
#include "ir/ops/ops.def"
#undef MXC_OPERATOR

std::span<const Operator* const> AllOperators() { return Operators().list(); }

std::string_view NearestOperator(std::string_view name) {
  static const std::vector<std::string_view> names =
      Operators().Names([](const Operator& op) { return !op.internal; });
  const std::string_view familiar = FamiliarOperator(name);
  return familiar.empty() ? Nearest(name, names) : familiar;
}

}  // namespace mxc
