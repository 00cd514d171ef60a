// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "frontend/onnx/export.h"

namespace mxc::onnx {
namespace {

int AxisOf(const Export& e, std::string_view name, int rank) {
  const auto axis = static_cast<int>(e.Int(name));
  return axis < 0 ? axis + rank : axis;
}

std::vector<std::string> AllInputs(const Export& e) {
  std::vector<std::string> inputs;
  for (int i = 0; i < e.inputs(); ++i) inputs.push_back(e.In(i));
  return inputs;
}

void Reduction(Export& e, std::string_view op) {
  const int rank = e.ShapeOf(0).rank();
  Extents axes;
  if (e.Says("axis")) axes = e.Ints("axis");
  for (int64_t& axis : axes) axis = axis < 0 ? axis + rank : axis;
  if (e.Flag("exclude") || axes.empty()) {
    Extents others;
    for (int axis = 0; axis < rank; ++axis) {
      if (std::ranges::count(axes, axis) == 0) others.push_back(axis);
    }
    axes = others;
  }
  // MXNet's result of all axes is of one element, of rank 1.
  const bool keep = e.Flag("keepdims");
  const bool all = static_cast<int>(axes.size()) == rank;
  ExportAttributes attributes;
  attributes.Int("keepdims", keep ? 1 : 0);
  std::vector<std::string> inputs = {e.In(0)};
  if (op == "ReduceSum" || e.opset() >= 18) {
    inputs.push_back(e.Ints(axes, "axes"));
  } else {
    attributes.Ints("axes", axes);
  }
  if (!all || keep || e.OutShape().rank() == 0) {
    return e.Emit(op, inputs, attributes);
  }
  const std::string sum = e.EmitBetween(op, inputs, "reduced", attributes);
  e.Emit("Reshape", {sum, e.Ints({1}, "shape")});
}

}  // namespace

void ExportSum(Export& e) { Reduction(e, "ReduceSum"); }
void ExportMean(Export& e) { Reduction(e, "ReduceMean"); }
void ExportMax(Export& e) { Reduction(e, "ReduceMax"); }
void ExportMin(Export& e) { Reduction(e, "ReduceMin"); }

void ExportConcat(Export& e) {
  e.Emit("Concat", AllInputs(e),
         ExportAttributes().Int("axis", AxisOf(e, "dim", e.ShapeOf(0).rank())));
}

void ExportStack(Export& e) {
  const int axis = AxisOf(e, "axis", e.OutShape().rank());
  const std::string axes = e.Ints({axis}, "axes");
  std::vector<std::string> parts;
  for (int i = 0; i < e.inputs(); ++i) {
    parts.push_back(
        e.EmitBetween("Unsqueeze", {e.In(i), axes}, fmt::format("part{}", i)));
  }
  e.Emit("Concat", parts, ExportAttributes().Int("axis", axis));
}

void ExportFlatten(Export& e) {
  e.Emit("Flatten", {e.In(0)}, ExportAttributes().Int("axis", 1));
}

// 0 and -1 mean the same to both; other codes and forms are written as the shape
// that they give, with the batch open where it stays the first axis.
void ExportReshape(Export& e) {
  Extents shape = e.Ints("shape");
  const bool plain =
      !shape.empty() && !e.Flag("reverse") &&
      std::ranges::all_of(shape, [](int64_t v) { return v >= -1; });
  if (!plain) {
    shape = e.OutShape().dims();
    const bool kept = !shape.empty() && e.ShapeOf(0).rank() > 0 &&
                      shape[0] == e.ShapeOf(0)[0];
    if (kept) {
      shape[0] = 0;
    } else {
      e.FixBatch();
    }
  } else if (shape[0] > 0) {
    e.FixBatch();
  }
  e.Emit("Reshape", {e.In(0), e.Ints(shape, "shape")});
}

void ExportExpandDims(Export& e) {
  const int axis = AxisOf(e, "axis", e.OutShape().rank());
  e.Emit("Unsqueeze", {e.In(0), e.Ints({axis}, "axes")});
}

void ExportSqueeze(Export& e) {
  const Shape& from = e.ShapeOf(0);
  Extents axes = e.Ints("axis");
  if (axes.empty()) {
    for (int axis = 0; axis < from.rank(); ++axis) {
      if (from[axis] == 1) axes.push_back(axis);
    }
    if (from[0] == 1) e.FixBatch();
  }
  e.Emit("Squeeze", {e.In(0), e.Ints(axes, "axes")});
}

void ExportTranspose(Export& e) {
  Extents axes = e.Ints("axes");
  if (axes.empty()) {
    for (int axis = e.ShapeOf(0).rank() - 1; axis >= 0; --axis) {
      axes.push_back(axis);
    }
  }
  e.Emit("Transpose", {e.In(0)}, ExportAttributes().Ints("perm", axes));
}

void ExportSwapAxis(Export& e) {
  const int rank = e.ShapeOf(0).rank();
  Extents axes;
  for (int axis = 0; axis < rank; ++axis) axes.push_back(axis);
  std::swap(axes[AxisOf(e, "dim1", rank)], axes[AxisOf(e, "dim2", rank)]);
  e.Emit("Transpose", {e.In(0)}, ExportAttributes().Ints("perm", axes));
}

// The size of crop_like, which is known.
void ExportCrop(Export& e) {
  const Shape &from = e.ShapeOf(0), &to = e.OutShape();
  const Extents offset = e.Ints("offset");
  Extents starts, ends;
  for (int d = 0; d < 2; ++d) {
    starts.push_back(e.Flag("center_crop") ? (from[2 + d] - to[2 + d]) / 2
                                           : offset[static_cast<size_t>(d)]);
    ends.push_back(starts.back() + to[2 + d]);
  }
  e.Emit("Slice", {e.In(0), e.Ints(starts, "starts"), e.Ints(ends, "ends"),
                   e.Ints({2, 3}, "axes")});
}

void ExportSliceAxis(Export& e) {
  const int axis = AxisOf(e, "axis", e.ShapeOf(0).rank());
  const int64_t end =
      e.Says("end") ? e.Int("end") : std::numeric_limits<int64_t>::max();
  e.Emit("Slice", {e.In(0), e.Ints({e.Int("begin")}, "starts"),
                   e.Ints({end}, "ends"), e.Ints({axis}, "axes")});
}

void ExportSliceChannel(Export& e) {
  const int axis = AxisOf(e, "axis", e.ShapeOf(0).rank());
  const auto count = static_cast<size_t>(e.Int("num_outputs"));
  const bool squeezes = e.Flag("squeeze_axis");
  const int64_t part = e.ShapeOf(0)[axis] / static_cast<int64_t>(count);
  std::vector<std::string> parts;
  for (size_t k = 0; k < count; ++k) {
    parts.push_back(squeezes ? e.Between(fmt::format("part{}", k))
                             : e.Out(static_cast<int>(k)));
  }
  e.Emit("Split", {e.In(0), e.Ints(Extents(count, part), "split")},
         ExportAttributes().Int("axis", axis), parts);
  if (!squeezes) return;
  const std::string axes = e.Ints({axis}, "axes");
  for (size_t k = 0; k < count; ++k) {
    e.Emit("Squeeze", {parts[k], axes}, {}, {e.Out(static_cast<int>(k))});
  }
}

void ExportTake(Export& e) {
  if (e.Text("mode") == "raise") e.Refuse("mode is raise");
  const std::string indices =
      IsFloat(e.TypeOf(1).dtype)
          ? e.EmitBetween("Cast", {e.In(1)}, "indices",
                          ExportAttributes().Int("to", 7))
          : e.In(1);
  e.Emit(
      "Gather", {e.In(0), indices},
      ExportAttributes().Int("axis", AxisOf(e, "axis", e.ShapeOf(0).rank())));
}

namespace {

std::string Turned(Export& e, int i, std::string_view flag) {
  if (!e.Flag(flag)) return e.In(i);
  const int rank = e.ShapeOf(i).rank();
  Extents axes;
  for (int axis = 0; axis < rank; ++axis) axes.push_back(axis);
  std::swap(axes[rank - 1], axes[rank - 2]);
  return e.EmitBetween("Transpose", {e.In(i)}, flag,
                       ExportAttributes().Ints("perm", axes));
}

}  // namespace

void ExportBatchDot(Export& e) {
  e.Emit("MatMul", {Turned(e, 0, "transpose_a"), Turned(e, 1, "transpose_b")});
}

void ExportDot(Export& e) {
  if (e.ShapeOf(1).rank() != 2 || e.ShapeOf(0).rank() < 1 ||
      (e.Flag("transpose_a") && e.ShapeOf(0).rank() != 2)) {
    e.Refuse("a product of {} by {}", ToString(e.ShapeOf(0)),
             ToString(e.ShapeOf(1)));
  }
  e.Emit("MatMul", {Turned(e, 0, "transpose_a"), Turned(e, 1, "transpose_b")});
}

void ExportDepthToSpace(Export& e) {
  e.Emit("DepthToSpace", {e.In(0)},
         ExportAttributes().Int("blocksize", e.Int("block_size")));
}
void ExportSpaceToDepth(Export& e) {
  e.Emit("SpaceToDepth", {e.In(0)},
         ExportAttributes().Int("blocksize", e.Int("block_size")));
}

}  // namespace mxc::onnx
