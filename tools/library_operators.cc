// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>

#include "ir/graph/library_operator.h"
#include "runtime/library/operators.h"
#include "tools/user_call.h"

namespace mxc {
namespace {

constexpr int kMostAxes = std::extent_v<decltype(mxc_type::dims)>;
// A library that never ends its list is stopped.
constexpr size_t kMostNames = size_t{1} << 17;

std::vector<std::string> Names(const mxc_operator& op,
                               const std::string& attributes,
                               mxc_operand kind) {
  if (op.list == nullptr) {
    if (kind == MXC_STATE) return {};
    return {kind == MXC_ARGUMENT ? "data" : "output"};
  }
  std::vector<std::string> names;
  while (names.size() < kMostNames) {
    const char* name = op.list(&op, attributes.c_str(), kind, names.size());
    if (name == nullptr) break;
    names.emplace_back(name);
  }
  return names;
}

mxc_type CType(const TensorType& type) {
  mxc_type c = {.dtype = static_cast<int>(type.dtype), .rank = -1, .dims = {}};
  if (!type.shape.known_rank()) return c;
  c.rank = type.shape.rank();
  for (int i = 0; i < c.rank; ++i) {
    c.dims[i] = type.shape.known(i) ? type.shape[i] : 0;
  }
  return c;
}

std::optional<TensorType> TypeOf(const mxc_type& c) {
  TensorType type;
  if (c.dtype >= 0) {
    const auto dtype = DTypeFromFlag(c.dtype);
    if (!dtype) return std::nullopt;
    type.dtype = *dtype;
  }
  if (c.rank < 0) return type;
  if (c.rank > kMostAxes) return std::nullopt;
  type.shape = Shape::OfRank(c.rank);
  for (int i = 0; i < c.rank; ++i) {
    if (c.dims[i] < 0) return std::nullopt;
    if (c.dims[i] > 0) type.shape[i] = c.dims[i];
  }
  return type;
}

class RegisteredOperators : public LibraryOperators {
 public:
  std::optional<LibraryOperator> Find(
      const std::string& name, const std::string& attributes) const override {
    const mxc_operator* op = runtime::FindOperator(name);
    if (op == nullptr) return std::nullopt;
    return LibraryOperator{
        .arguments = Names(*op, attributes, MXC_ARGUMENT),
        .outputs = Names(*op, attributes, MXC_OUTPUT),
        .states = Names(*op, attributes, MXC_STATE),
        .forward = runtime::ForwardOf(*op),
        .backward = op->backward != nullptr ? runtime::BackwardOf(*op) : "",
        .version = op->version,
        .loss_head = op->loss != 0};
  }

  std::optional<std::string> Infer(const std::string& name,
                                   const std::string& attributes,
                                   std::span<TensorType> types) const override {
    const mxc_operator* op = runtime::FindOperator(name);
    MXC_CHECK(op != nullptr, "operator '{}'", name);
    if (op->infer == nullptr) {
      const size_t outputs = Names(*op, attributes, MXC_OUTPUT).size();
      const size_t states = Names(*op, attributes, MXC_STATE).size();
      const size_t first = types.size() - states - outputs;
      for (size_t i = 0; i < outputs; ++i) types[first + i] = types[0];
      return std::nullopt;
    }
    std::vector<mxc_type> asked;
    for (const TensorType& type : types) asked.push_back(CType(type));
    const char* refused =
        op->infer(op, attributes.c_str(), asked.data(), asked.size());
    if (refused != nullptr) return refused;
    for (size_t i = 0; i < types.size(); ++i) {
      const auto type = TypeOf(asked[i]);
      if (!type) return "infer gives a type that no tensor has";
      types[i] = *type;
    }
    return std::nullopt;
  }
};

}  // namespace

void UseLibraryOperators() {
  static const RegisteredOperators kOperators;
  SetLibraryOperators(&kOperators);
}

}  // namespace mxc
