// SPDX-License-Identifier: Apache-2.0
#include "frontend/csr_inputs.h"

#include <algorithm>
#include <charconv>
#include <string>
#include <utility>
#include <vector>

#include "ir/ops/operators.h"
#include "ir/ops/tensor/sparse/csr.h"

namespace mxc {
namespace {

constexpr const char* kCsr = "2";  // MXNet's number of the storage type

bool IsBoundedCsr(const Node& input) {
  const std::string* stype = input.written.Annotation("__storage_type__");
  return stype != nullptr && *stype == kCsr &&
         input.written.Annotation(kNonzerosAnnotation) != nullptr;
}

Result<int64_t> NonzerosOf(const Node& input) {
  const std::string& text = *input.written.Annotation(kNonzerosAnnotation);
  int64_t most = 0;
  const char* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, most);
  if (parsed.ec == std::errc() && parsed.ptr == end && most > 0) return most;
  return Error(input.loc,
               "'{}': {} is '{}', expected how many elements of a row are not "
               "zero at most",
               input.name, kNonzerosAnnotation, text);
}

// Takes what the options say of the matrix.
Result<TensorType> TypeOf(const Node& input, BuildOptions& options) {
  TensorType type = input.types[0];
  if (auto given = options.input_shapes.extract(input.name)) {
    type.shape = std::move(given.mapped());
  } else if (auto known = options.known_shapes.extract(input.name);
             known && !type.shape.known_rank()) {
    type.shape = std::move(known.mapped());
  }
  if (auto given = options.input_types.extract(input.name)) {
    type.dtype = given.mapped();
  }
  if (type.dtype == DType::kUnknown) type.dtype = DType::kF32;
  const Shape& shape = type.shape;
  const bool matrix = !shape.known_rank() || shape.rank() == 2;
  const bool fits = !matrix || !shape.known_rank() || !shape.known(1) ||
                    (shape[1] >= 1 && shape[1] <= INT32_MAX);
  if (matrix && fits && IsFloat(type.dtype)) return type;
  return Error(input.loc,
               "csr input '{}' is {}, expected a matrix of floats with fewer "
               "than 2^31 columns",
               input.name, ToString(type));
}

Result<Value> AddElements(Graph& graph, const Node& input, const char* what,
                          TensorType type) {
  const std::string name = input.name + "_" + what;
  if (graph.FindVariable(name) != nullptr) {
    return Error(input.loc,
                 "the name '{}' belongs to the elements of the csr input '{}'",
                 name, input.name);
  }
  Node* node = graph.AddVariable(name);
  node->op_name = "null";
  node->types = {std::move(type)};
  node->loc = input.loc;
  return node->out();
}

Status Take(Graph& graph, Node& input, BuildOptions& options,
            Replacements& replaced) {
  MXC_ASSIGN(int64_t most, NonzerosOf(input));
  MXC_ASSIGN(const TensorType type, TypeOf(input, options));
  const bool known = type.shape.known_rank();
  const int64_t rows = known ? type.shape[0] : Shape::kUnknownDim;
  const bool counted = known && type.shape.known(1);
  if (counted) most = std::min(most, type.shape[1]);
  const Shape shape(Extents{rows, most});
  MXC_ASSIGN(const Value indices,
             AddElements(graph, input, "indices", {DType::kI32, shape}));
  MXC_ASSIGN(const Value values,
             AddElements(graph, input, "values", {type.dtype, shape}));
  auto attrs = std::make_shared<CsrAttrs>();
  if (counted) attrs->columns = type.shape[1];
  Node* matrix = graph.AddOperator(&OperatorOf<op::Csr>(), input.name,
                                   std::move(attrs), {indices, values});
  matrix->op_name = matrix->op->name;
  matrix->types = {{type.dtype, Shape::Unknown()}};
  matrix->loc = input.loc;
  matrix->written = input.written;
  indices.node->declared = values.node->declared = input.declared;
  input.declared = false;
  replaced.Add(input.out(), matrix->out());
  return Done{};
}

}  // namespace

bool IsCsrInput(const Node& node) {
  return node.op == &OperatorOf<op::Csr>() &&
         node.written.Annotation(kNonzerosAnnotation) != nullptr;
}

Status TakeCsrInputs(Graph& graph, BuildOptions& options) {
  Replacements replaced;
  for (Node* node : graph.TopologicalOrder()) {
    replaced.ApplyTo(*node);
    const bool input = node->kind == Node::Kind::kVariable &&
                       node->role == VariableRole::kInput;
    if (!input || !IsBoundedCsr(*node)) continue;
    MXC_RETURN_IF_ERROR(Take(graph, *node, options, replaced));
  }
  graph.ReplaceUses(replaced);
  return Done{};
}

}  // namespace mxc
