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
#include "ir/ops/tensor/control/user_call.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/ops/op.h"
#include "ir/ops/tensor/control/call.h"
#include "ir/ops/tensor/shape/axes.h"
#include "ir/program/call_function.h"

namespace mxc {
namespace {

constexpr int64_t kMostWorkspace = int64_t{1} << 40;

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
  UserCallAttrs attrs = {.num_args = std::ssize(inputs),
                         .version = a.version,
                         .workspace = a.workspace,
                         .workspace_per_row = a.workspace_per_row,
                         .function = a.backward,
                         .attributes = a.attributes,
                         .shapes = PrintShapes(shapes)};
  return g.Ops<op::UserCall>(std::move(inputs), std::move(attrs), "backward");
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
