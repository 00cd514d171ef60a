// SPDX-License-Identifier: Apache-2.0
// _npi_ediff1d: differences of neighbours in row-major order, after to_begin and
// before to_end, numbers or tensors, if they are given.
//   output  t[begin + n − 1 + end]
// C1  input1 has an element
#include "ir/ops/numpy/np_composition.h"

namespace mxc {
namespace {

struct NpiEdiff1dAttrs {
  bool to_begin_arr_given = false, to_end_arr_given = false;
  std::optional<double> to_begin_scalar, to_end_scalar;

  void Describe(Fields& f) {
    f("to_begin_arr_given", to_begin_arr_given).Doc("whether input2 is first");
    f("to_end_arr_given", to_end_arr_given)
        .Doc("whether the last input is last");
    f("to_begin_scalar", to_begin_scalar).Doc("the first number");
    f("to_end_scalar", to_end_scalar).Doc("the last number");
  }
};

std::vector<InputSpec> NpiEdiff1dInputs(const NpiEdiff1dAttrs& a) {
  std::vector<InputSpec> inputs = {{"input1"}};
  if (a.to_begin_arr_given) inputs.push_back({"input2"});
  if (a.to_end_arr_given) {
    inputs.push_back({fmt::format("input{}", inputs.size() + 1)});
  }
  return inputs;
}

void NpiEdiff1dTypes(const NpiEdiff1dAttrs& a, TypeInference& t) {
  t.AllSameDType();
  int64_t count = (!a.to_begin_arr_given && a.to_begin_scalar ? 1 : 0) +
                  (!a.to_end_arr_given && a.to_end_scalar ? 1 : 0) - 1;
  for (int i = 0; i < t.inputs(); ++i) {
    if (!t.In(i).known()) return;
    count += t.In(i).elements();
  }
  if (t.Require(count > 0, "C1: the output has {} elements", count)) {
    t.SetOut(0, Shape{count});
  }
}

std::vector<Value> NpiEdiff1dParts(const NpiEdiff1dAttrs& a, const Node& node,
                                   GraphBuilder& b) {
  const DType dtype = node.types[0].dtype;
  const auto& inputs = node.inputs;
  const Value x = Flattened(b, inputs[0]);
  const int64_t n = x.shape()[0];
  std::vector<Value> parts;
  if (a.to_begin_arr_given) {
    parts.push_back(Flattened(b, inputs[1]));
  } else if (a.to_begin_scalar) {
    parts.push_back(b.Cast(b.Scalar(*a.to_begin_scalar, DType::kF64), dtype));
  }
  if (n > 1) {
    parts.push_back(
        b.Sub(b.SliceAxis(x, 0, 1, n), b.SliceAxis(x, 0, 0, n - 1)));
  }
  if (a.to_end_arr_given) {
    parts.push_back(Flattened(b, inputs.back()));
  } else if (a.to_end_scalar) {
    parts.push_back(b.Cast(b.Scalar(*a.to_end_scalar, DType::kF64), dtype));
  }
  return {b.Concat(parts, 0)};
}

}  // namespace

MXC_OP(NpiEdiff1d) {
  return Op<NpiEdiff1dAttrs>("_npi_ediff1d")
      .Doc("numpy.ediff1d")
      .InputsOf(NpiEdiff1dInputs)
      .Types(NpiEdiff1dTypes)
      .Decompose(NpiEdiff1dParts);
}

}  // namespace mxc
