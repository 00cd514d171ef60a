// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "frontend/onnx/export.h"

namespace mxc::onnx {
namespace {

// An attribute for each spatial axis, `otherwise` where the list is empty.
Extents Entries(const Export& e, std::string_view name, size_t count,
                int64_t otherwise) {
  Extents entries = e.Ints(name);
  if (entries.empty()) entries.assign(count, otherwise);
  entries.resize(count, otherwise);
  return entries;
}

Extents Twice(const Extents& pads) {
  Extents both = pads;
  both.insert(both.end(), pads.begin(), pads.end());
  return both;
}

void RequireChannelsFirst(const Export& e) {
  const std::string layout = e.Text("layout");
  if (layout != "None" && !layout.empty() && layout[1] != 'C') {
    e.Refuse("its layout is {}, and ONNX's channels come first", layout);
  }
}

void RequireAxisOne(const Export& e) {
  const int64_t axis = e.Int("axis");
  const int rank = e.ShapeOf(0).rank();
  if ((axis < 0 ? axis + rank : axis) != 1) e.Refuse("its axis is {}", axis);
}

}  // namespace

namespace {

// Of a convolution or its transpose; `more` has what is its own.
void ConvolutionAs(Export& e, std::string_view op, ExportAttributes more) {
  RequireChannelsFirst(e);
  const Extents kernel = e.Ints("kernel");
  std::vector<std::string> inputs = {e.In(0), e.In(1)};
  if (!e.Flag("no_bias")) inputs.push_back(e.In(2));
  e.Emit(op, inputs,
         more.Ints("kernel_shape", kernel)
             .Ints("strides", Entries(e, "stride", kernel.size(), 1))
             .Ints("dilations", Entries(e, "dilate", kernel.size(), 1))
             .Ints("pads", Twice(Entries(e, "pad", kernel.size(), 0)))
             .Int("group", e.Int("num_group")));
}

}  // namespace

void ExportConvolution(Export& e) { ConvolutionAs(e, "Conv", {}); }

void ExportDeconvolution(Export& e) {
  if (!e.Ints("target_shape").empty()) e.Refuse("it has a target_shape");
  const size_t rank = e.Ints("kernel").size();
  ConvolutionAs(
      e, "ConvTranspose",
      ExportAttributes().Ints("output_padding", Entries(e, "adj", rank, 0)));
}

void ExportFullyConnected(Export& e) {
  const Shape& data = e.ShapeOf(0);
  const bool biased = !e.Flag("no_bias");
  if (!e.Flag("flatten") && data.rank() != 2) {
    const std::string turned =
        e.EmitBetween("Transpose", {e.In(1)}, "weight_transposed",
                      ExportAttributes().Ints("perm", {1, 0}));
    if (!biased) return e.Emit("MatMul", {e.In(0), turned});
    return e.Emit("Add", {e.EmitBetween("MatMul", {e.In(0), turned}, "product"),
                          e.In(2)});
  }
  const std::string rows =
      data.rank() == 2 ? e.In(0)
                       : e.EmitBetween("Flatten", {e.In(0)}, "flat",
                                       ExportAttributes().Int("axis", 1));
  std::vector<std::string> inputs = {rows, e.In(1)};
  if (biased) inputs.push_back(e.In(2));
  e.Emit("Gemm", inputs, ExportAttributes().Int("transB", 1));
}

void ExportActivation(Export& e) {
  const std::string type = e.Text("act_type");
  const char* op = type == "relu"       ? "Relu"
                   : type == "sigmoid"  ? "Sigmoid"
                   : type == "tanh"     ? "Tanh"
                   : type == "softrelu" ? "Softplus"
                   : type == "softsign" ? "Softsign"
                                        : nullptr;
  if (op == nullptr) e.Refuse("its act_type is {}", type);
  e.Emit(op, {e.In(0)});
}

void ExportLeakyReLU(Export& e) {
  const std::string type = e.Text("act_type");
  const double slope = e.Number("slope");
  if (type == "leaky") {
    return e.Emit("LeakyRelu", {e.In(0)},
                  ExportAttributes().Float("alpha", slope));
  }
  if (type == "elu") {
    return e.Emit("Elu", {e.In(0)}, ExportAttributes().Float("alpha", slope));
  }
  if (type == "selu") return e.Emit("Selu", {e.In(0)});
  if (type == "rrelu") {  // the middle of its bounds where nothing is drawn
    const double middle =
        (e.Number("lower_bound") + e.Number("upper_bound")) / 2;
    return e.Emit("LeakyRelu", {e.In(0)},
                  ExportAttributes().Float("alpha", middle));
  }
  const DType dtype = e.TypeOf(0).dtype;
  if (type == "gelu") {
    if (e.opset() >= 20) return e.Emit("Gelu", {e.In(0)});
    const std::string part = e.EmitBetween(
        "Mul", {e.In(0), e.Scalar(0.70710678118654752, dtype, "root")},
        "scaled");
    const std::string sum = e.EmitBetween(
        "Add", {e.EmitBetween("Erf", {part}, "erf"), e.Scalar(1, dtype, "one")},
        "sum");
    const std::string half =
        e.EmitBetween("Mul", {e.In(0), e.Scalar(0.5, dtype, "half")}, "halved");
    return e.Emit("Mul", {half, sum});
  }
  if (type != "prelu") e.Refuse("its act_type is {}", type);
  std::string slopes = e.In(1);
  const int more = e.ShapeOf(0).rank() - 2;
  if (e.ShapeOf(1).rank() == 1 && e.ShapeOf(1)[0] > 1 && more > 0) {
    Extents shape(static_cast<size_t>(more) + 1, 1);
    shape[0] = -1;
    slopes = e.EmitBetween("Reshape", {slopes, e.Ints(shape, "slopes_shape")},
                           "slopes");
  }
  e.Emit("PRelu", {e.In(0), slopes});
}

void ExportPooling(Export& e) {
  const std::string type = e.Text("pool_type");
  if (e.Says("layout")) RequireChannelsFirst(e);
  const bool average = type == "avg";
  if (!average && type != "max") e.Refuse("its pool_type is {}", type);
  if (e.Flag("global_pool")) {
    return e.Emit(average ? "GlobalAveragePool" : "GlobalMaxPool", {e.In(0)});
  }
  const Extents kernel = e.Ints("kernel");
  const Extents stride = Entries(e, "stride", kernel.size(), 1);
  const Extents pad = Entries(e, "pad", kernel.size(), 0);
  // MXNet rounds up and keeps windows that start behind the data; ONNX's engines
  // leave them out. Pads at the end that are written out say the same to all.
  Extents after = pad;
  for (size_t d = 0; d < kernel.size(); ++d) {
    const auto axis = static_cast<int>(d) + 2;
    const int64_t last = (e.OutShape()[axis] - 1) * stride[d] + kernel[d];
    const int64_t needed = last - e.ShapeOf(0)[axis] - pad[d];
    if (needed <= pad[d]) continue;
    if (average && e.Says("count_include_pad") && e.Flag("count_include_pad")) {
      e.Refuse("its last windows, which are rounded up, count pads");
    }
    if (needed >= kernel[d]) e.Refuse("its last window has no data");
    after[d] = needed;
  }
  Extents pads = pad;
  pads.insert(pads.end(), after.begin(), after.end());
  ExportAttributes attributes;
  attributes.Ints("kernel_shape", kernel)
      .Ints("strides", stride)
      .Ints("pads", pads);
  if (average) {
    const bool counts =
        !e.Says("count_include_pad") || e.Flag("count_include_pad");
    attributes.Int("count_include_pad", counts ? 1 : 0);
  }
  e.Emit(average ? "AveragePool" : "MaxPool", {e.In(0)}, attributes);
}

void ExportBatchNorm(Export& e) {
  RequireAxisOne(e);
  const std::string gamma =
      e.Flag("fix_gamma") ? e.Filled(e.TypeOf(1), 1, "gamma") : e.In(1);
  e.Emit("BatchNormalization", {e.In(0), gamma, e.In(2), e.In(3), e.In(4)},
         ExportAttributes()
             .Float("epsilon", e.Number("eps"))
             .Float("momentum", e.Number("momentum")));
}

void ExportInstanceNorm(Export& e) {
  e.Emit("InstanceNormalization", {e.In(0), e.In(1), e.In(2)},
         ExportAttributes().Float("epsilon", e.Number("eps")));
}

void ExportLayerNorm(Export& e) {
  const int64_t axis = e.Int("axis");
  const int rank = e.ShapeOf(0).rank();
  if ((axis < 0 ? axis + rank : axis) != rank - 1) {
    e.Refuse("its axis is {}, and not the last one", axis);
  }
  if (e.opset() < 17) e.Refuse("it needs operators of version 17");
  e.Emit("LayerNormalization", {e.In(0), e.In(1), e.In(2)},
         ExportAttributes().Int("axis", -1).Float("epsilon", e.Number("eps")));
}

void ExportLRN(Export& e) {
  e.Emit("LRN", {e.In(0)},
         ExportAttributes()
             .Int("size", e.Int("nsize"))
             .Float("alpha", e.Number("alpha"))
             .Float("beta", e.Number("beta"))
             .Float("bias", e.Number("knorm")));
}

// x / √(Σ x² + ε)
void ExportL2Normalization(Export& e) {
  const std::string mode = e.Text("mode");
  const int rank = e.ShapeOf(0).rank();
  Extents axes;
  for (int axis = mode == "spatial" ? 2 : 1; axis < rank; ++axis) {
    if (mode != "channel" || axis == 1) axes.push_back(axis);
  }
  const std::string squares =
      e.EmitBetween("Mul", {e.In(0), e.In(0)}, "squares");
  const std::string sum =
      e.EmitBetween("ReduceSum", {squares, e.Ints(axes, "axes")}, "sum",
                    ExportAttributes().Int("keepdims", 1));
  const std::string shifted = e.EmitBetween(
      "Add", {sum, e.Scalar(e.Number("eps"), e.TypeOf(0).dtype, "eps")},
      "shifted");
  e.Emit("Div", {e.In(0), e.EmitBetween("Sqrt", {shifted}, "norm")});
}

void ExportDropout(Export& e) { e.Emit("Identity", {e.In(0)}); }

// Numbers beyond the table are those of its ends.
void ExportEmbedding(Export& e) {
  const int64_t rows = e.ShapeOf(1)[0];
  const std::string whole = e.EmitBetween("Cast", {e.In(0)}, "indices",
                                          ExportAttributes().Int("to", 7));
  const std::string inside = e.EmitBetween(
      "Clip",
      {whole, e.Scalar(0, DType::kI64, "first"),
       e.Scalar(static_cast<double>(rows - 1), DType::kI64, "last")},
      "clipped");
  e.Emit("Gather", {e.In(1), inside}, ExportAttributes().Int("axis", 0));
}

namespace {

void SoftmaxOver(Export& e, std::string_view op, int64_t axis) {
  e.Emit(op, {e.In(0)}, ExportAttributes().Int("axis", axis));
}

void SoftmaxAlongAxis(Export& e, std::string_view op) {
  const double temperature =
      e.Says("temperature") ? e.Number("temperature") : 1;
  if (temperature != 1) e.Refuse("its temperature is {}", temperature);
  if (e.inputs() > 1) e.Refuse("it has lengths");
  SoftmaxOver(e, op, e.Int("axis"));
}

}  // namespace

void ExportSoftmax(Export& e) { SoftmaxAlongAxis(e, "Softmax"); }
void ExportLogSoftmax(Export& e) { SoftmaxAlongAxis(e, "LogSoftmax"); }
void ExportSoftmaxActivation(Export& e) {
  const bool channel = e.Text("mode") == "channel";
  if (!channel && e.ShapeOf(0).rank() != 2) e.Refuse("it is over all axes");
  SoftmaxOver(e, "Softmax", 1);
}
void ExportSoftmaxOutput(Export& e) {
  const int rank = e.ShapeOf(0).rank();
  if (e.Flag("multi_output") || rank == 2) return SoftmaxOver(e, "Softmax", 1);
  if (e.Flag("preserve_shape")) return SoftmaxOver(e, "Softmax", -1);
  const std::string rows = e.EmitBetween("Flatten", {e.In(0)}, "flat",
                                         ExportAttributes().Int("axis", 1));
  Extents shape = e.OutShape().dims();
  shape[0] = 0;
  const std::string even = e.EmitBetween("Softmax", {rows}, "rows",
                                         ExportAttributes().Int("axis", 1));
  e.Emit("Reshape", {even, e.Ints(shape, "shape")});
}
void ExportLogisticOutput(Export& e) { e.Emit("Sigmoid", {e.In(0)}); }

void ExportUpSampling(Export& e) {
  if (e.Text("sample_type") != "nearest" || e.inputs() != 1) {
    e.Refuse("it is not of one input by the nearest element");
  }
  const double scale = e.Number("scale");
  const std::string scales = e.Between("scales");
  std::vector<float> four = {1, 1, static_cast<float>(scale),
                             static_cast<float>(scale)};
  e.Emit("Constant", {}, ExportAttributes().Floats("value_floats", four),
         {scales});
  e.Emit("Resize", {e.In(0), "", scales},
         ExportAttributes()
             .String("mode", "nearest")
             .String("coordinate_transformation_mode", "asymmetric")
             .String("nearest_mode", "floor"));
}

}  // namespace mxc::onnx
