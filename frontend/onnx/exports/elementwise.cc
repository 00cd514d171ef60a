// SPDX-License-Identifier: Apache-2.0
#include "frontend/onnx/export.h"
#include "frontend/onnx/tensor_data.h"

namespace mxc::onnx {

#define MXC_ONNX_SAME(name, op) \
  void Export##name(Export& e) { e.Emit(op, {e.In(0)}); }
MXC_ONNX_SAME(Identity, "Identity")
MXC_ONNX_SAME(Abs, "Abs")
MXC_ONNX_SAME(Ceil, "Ceil")
MXC_ONNX_SAME(Cos, "Cos")
MXC_ONNX_SAME(Erf, "Erf")
MXC_ONNX_SAME(Exp, "Exp")
MXC_ONNX_SAME(Floor, "Floor")
MXC_ONNX_SAME(Log, "Log")
MXC_ONNX_SAME(Negative, "Neg")
MXC_ONNX_SAME(Reciprocal, "Reciprocal")
MXC_ONNX_SAME(Relu, "Relu")
MXC_ONNX_SAME(Sigmoid, "Sigmoid")
MXC_ONNX_SAME(Sign, "Sign")
MXC_ONNX_SAME(Sin, "Sin")
MXC_ONNX_SAME(Softsign, "Softsign")
MXC_ONNX_SAME(Sqrt, "Sqrt")
MXC_ONNX_SAME(Tanh, "Tanh")
#undef MXC_ONNX_SAME

#define MXC_ONNX_TWO(name, op) \
  void Export##name(Export& e) { e.Emit(op, {e.In(0), e.In(1)}); }
MXC_ONNX_TWO(Add, "Add")
MXC_ONNX_TWO(Sub, "Sub")
MXC_ONNX_TWO(Mul, "Mul")
MXC_ONNX_TWO(Div, "Div")
MXC_ONNX_TWO(Maximum, "Max")
MXC_ONNX_TWO(Minimum, "Min")
MXC_ONNX_TWO(Power, "Pow")
#undef MXC_ONNX_TWO

namespace {

std::string ScalarOf(Export& e) {
  return e.Scalar(e.Number("scalar"), e.TypeOf(0).dtype, "scalar");
}

}  // namespace

#define MXC_ONNX_SCALAR(name, op) \
  void Export##name##Scalar(Export& e) { e.Emit(op, {e.In(0), ScalarOf(e)}); }
MXC_ONNX_SCALAR(Plus, "Add")
MXC_ONNX_SCALAR(Minus, "Sub")
MXC_ONNX_SCALAR(Mul, "Mul")
MXC_ONNX_SCALAR(Div, "Div")
MXC_ONNX_SCALAR(Power, "Pow")
MXC_ONNX_SCALAR(Maximum, "Max")
MXC_ONNX_SCALAR(Minimum, "Min")
#undef MXC_ONNX_SCALAR
void ExportRminusScalar(Export& e) { e.Emit("Sub", {ScalarOf(e), e.In(0)}); }
void ExportRdivScalar(Export& e) { e.Emit("Div", {ScalarOf(e), e.In(0)}); }

void ExportSquare(Export& e) { e.Emit("Mul", {e.In(0), e.In(0)}); }
void ExportRsqrt(Export& e) {
  e.Emit("Reciprocal", {e.EmitBetween("Sqrt", {e.In(0)}, "sqrt")});
}

void ExportAddN(Export& e) {
  std::vector<std::string> inputs;
  for (int i = 0; i < e.inputs(); ++i) inputs.push_back(e.In(i));
  e.Emit("Sum", inputs);
}

void ExportClip(Export& e) {
  const DType dtype = e.TypeOf(0).dtype;
  e.Emit("Clip", {e.In(0), e.Scalar(e.Number("a_min"), dtype, "min"),
                  e.Scalar(e.Number("a_max"), dtype, "max")});
}

void ExportHardSigmoid(Export& e) {
  e.Emit("HardSigmoid", {e.In(0)},
         ExportAttributes()
             .Float("alpha", e.Number("alpha"))
             .Float("beta", e.Number("beta")));
}

void ExportCast(Export& e) {
  e.Emit("Cast", {e.In(0)},
         ExportAttributes().Int("to", DataTypeOf(e.node().types[0].dtype)));
}

}  // namespace mxc::onnx
