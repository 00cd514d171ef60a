// SPDX-License-Identifier: Apache-2.0
// call: a function of the user's, which the artifact imports by name and
// version; runtime/mxc.h, mxc_function, says how it is written.
//   data0 …      of one element type, or of any where dtypes are given
//   output0 …   of that type, or of these, and of the shapes given
// Backward calls another function of the same version and attributes:
//   gradients of output0 …, data0 …, output0 …   →   gradients of data0 …
// C1  the function has a name, and is none that the compiler knows
// C2  shapes is a list of them
// C3  where an extent is 0, data0 has that axis
// C4  the workspace has at most 2^40 bytes
// C5  dtypes is a list of them, one for each output; gradients have one type
// Source: ours; MXNet's Custom (src/operator/custom/custom.cc), whose functions
// are Python's, hands the same arrays to backward.
#include <fmt/format.h>

#include <algorithm>

#include "ir/ops/op.h"
#include "ir/ops/tensor/axes.h"
#include "ir/ops/tensor/call.h"
#include "ir/program/call_function.h"

namespace mxc {
namespace {

constexpr int64_t kMostWorkspace = int64_t{1} << 40;

struct UserCallAttrs {
  int64_t num_args = 1, version = 1, workspace = 0, workspace_per_row = 0;
  std::string function, backward, attributes;
  std::string shapes = "like", dtypes;

  void Describe(Fields& f) {
    f("num_args", num_args).Range(1, kMaxOperands).Doc("number of inputs");
    f("function", function).Required().Doc("its name, as it is registered");
    f("version", version)
        .Range(1, std::numeric_limits<int32_t>::max())
        .Doc("that it is registered with");
    f("backward", backward)
        .Doc(
            "the function that computes the gradients of the inputs; without "
            "it none passes");
    f("attributes", attributes).Doc("text for the functions");
    f("shapes", shapes)
        .Doc(
            "of the outputs: 64x10,64; 0: as data0 has it on that axis; like: "
            "one output, shaped as data0");
    f("dtypes", dtypes)
        .Doc(
            "of the outputs: float32,int64; empty: all operands have one type");
    f("workspace", workspace)
        .Range(0, 1LL << 30)
        .Doc("bytes that either function needs beside its operands");
    f("workspace_per_row", workspace_per_row)
        .Range(0, 1LL << 30)
        .Doc("bytes for each sample more, of data0's first axis");
  }

  bool like() const { return shapes == "like"; }
  size_t outputs() const {
    if (like()) return 1;
    return ParseShapes(shapes).value_or(std::vector<Shape>(1)).size();
  }
  // kUnknown for a word that names none.
  std::vector<DType> output_dtypes() const {
    std::vector<DType> types;
    for (size_t at = 0; at < dtypes.size() + !dtypes.empty();) {
      const size_t end = std::min(dtypes.find(',', at), dtypes.size());
      types.push_back(DTypeFromMxnetName(dtypes.substr(at, end - at))
                          .value_or(DType::kUnknown));
      at = end + 1;
    }
    return types;
  }
};

std::optional<std::string> CheckUserCall(const UserCallAttrs& a) {
  for (const std::string& name : {a.function, a.backward}) {
    const int version = static_cast<int>(a.version);
    if (FindCallFunction(name, version) != nullptr) {
      return fmt::format(
          "C1: function '{}' is the runtime's own; expected a name of yours",
          name);
    }
  }
  if (a.function.empty()) return "C1: function is empty, expected a name";
  if (!a.like() && !ParseShapes(a.shapes)) {
    return fmt::format(
        "C2: shapes is '{}', expected like or shapes as in 64x10,64", a.shapes);
  }
  const std::vector<DType> dtypes = a.output_dtypes();
  if (!dtypes.empty() && (dtypes.size() != a.outputs() ||
                          std::ranges::count(dtypes, DType::kUnknown) > 0)) {
    return fmt::format(
        "C5: dtypes is '{}', expected {} types as in float32,int64", a.dtypes,
        a.outputs());
  }
  if (!dtypes.empty() && !a.backward.empty()) {
    return "C5: dtypes are given, expected none beside backward";
  }
  return std::nullopt;
}

// Extents of 0 are those of `first`.
void FillShape(Shape& shape, const Shape& first, TypeInference& t) {
  for (int axis = 0; axis < shape.rank(); ++axis) {
    if (shape[axis] != 0) continue;
    if (!t.Require(axis < first.rank(),
                   "C3: an output has the extent 0 on axis {}, which data0, of "
                   "shape {}, lacks",
                   axis, ToString(first))) {
      return;
    }
    shape[axis] = first[axis];
  }
}

void UserCallTypes(const UserCallAttrs& a, TypeInference& t) {
  const std::vector<DType> dtypes = a.output_dtypes();
  if (dtypes.empty()) t.AllSameDType();
  for (size_t i = 0; i < dtypes.size(); ++i) {
    t.SetOutDType(static_cast<int>(i), dtypes[i]);
  }
  if (a.like()) {
    t.SetOut(0, t.In(0));
    t.SetIn(0, t.Out(0));
  }
  if (!t.In(0).known()) return;
  const Shape& first = t.In(0);
  const int64_t rows = first.rank() > 0 ? first[0] : 1;
  t.Require(a.workspace_per_row <= kMostWorkspace / rows,
            "C4: workspace_per_row is {}, for {} rows; expected at most 2^40 "
            "bytes in all",
            a.workspace_per_row, rows);
  if (a.like()) return;
  std::vector<Shape> shapes = *ParseShapes(a.shapes);
  for (size_t i = 0; i < shapes.size(); ++i) {
    FillShape(shapes[i], first, t);
    t.SetOut(static_cast<int>(i), shapes[i]);
  }
}

std::vector<Value> UserCallGradient(const UserCallAttrs& a,
                                    GradientBuilder& g) {
  if (a.backward.empty()) return g.None();
  std::vector<Value> inputs;
  std::vector<Shape> shapes;
  for (int i = 0; i < g.outputs(); ++i) inputs.push_back(g.Head(i));
  for (int i = 0; i < g.inputs(); ++i) {
    inputs.push_back(g.In(i));
    shapes.push_back(g.In(i).shape());
  }
  for (int i = 0; i < g.outputs(); ++i) inputs.push_back(g.Out(i));
  const std::string count = std::to_string(inputs.size());
  return g.Ops("call", std::move(inputs),
               {{"num_args", count},
                {"function", a.backward},
                {"version", std::to_string(a.version)},
                {"attributes", a.attributes},
                {"shapes", PrintShapes(shapes)},
                {"workspace", std::to_string(a.workspace)},
                {"workspace_per_row", std::to_string(a.workspace_per_row)}},
               "backward");
}

}  // namespace

MXC_OP(UserCall) {
  return Op<UserCallAttrs>("call")
      .Doc("calls a function of yours, registered with the runtime")
      .InputsOf(
          [](const UserCallAttrs& a) { return NumberedInputs(a.num_args); })
      .OutputsOf(
          [](const UserCallAttrs& a) { return NumberedOutputs(a.outputs()); })
      .Variadic()
      .Check(CheckUserCall)
      .Types(UserCallTypes)
      .AsCall([](const UserCallAttrs& a) {
        return CallForm{.function = a.function,
                        .version = static_cast<int>(a.version),
                        .attributes = a.attributes,
                        .workspace = a.workspace,
                        .workspace_per_row = a.workspace_per_row};
      })
      .Gradient(UserCallGradient);
}

}  // namespace mxc
