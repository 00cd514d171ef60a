// SPDX-License-Identifier: Apache-2.0
#include "codegen/cpu/contraction/weight_transform.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "codegen/cpu/contraction/tile_transform.h"
#include "codegen/llvm/expr_emitter.h"
#include "ir/program/kernel_basis.h"
#include "ir/program/quarter_sums.h"
#include "ir/program/steps/map.h"
#include "ir/support/check.h"

namespace mxc {
namespace {

struct WeightTransform {
  // One of those that a transform is made of, from the first.
  struct Entry {
    int64_t out = 0, in = 0, row = 0, column = 0;
  };

  DType dtype = DType::kF32;
  Layout from, to;
  Expr value;                  // of the kernel's element at the output's index
  int64_t out_channels = 1;    // of the first entries
  int64_t panel_channels = 1;  // from a panel's first to the next panel's
  std::vector<Entry> entries;
  int64_t rows = 1, columns = 1;  // of a kernel
  int lanes = 1;

  // Panels, two spatial axes, input channels, a panel's output channels.
  const Layout::Dim& panels() const { return to.dims[0]; }
  const Layout::Dim& in() const { return to.dims[3]; }
  int64_t panel_width() const { return to.dims[4].extent; }
};

class WeightTransformEmitter {
 public:
  WeightTransformEmitter(KernelFunction& kernel, const WeightTransform& shape)
      : kernel_(kernel),
        b_(kernel.b()),
        shape_(shape),
        strides_(shape.to.strides()),
        emitter_(kernel,
                 {{kernel.operand(0), shape.dtype, shape.from},
                  {kernel.operand(1), shape.dtype, shape.to}},
                 shape.lanes) {}

  void Emit() {
    const int64_t vectors = shape_.panel_width() / shape_.lanes;
    kernel_.Loop(kernel_.begin(), kernel_.end(), 1, [&](llvm::Value* panel) {
      kernel_.Loop(kernel_.Int(0), kernel_.Int(shape_.in().extent), 1,
                   [&](llvm::Value* channel) {
                     kernel_.Loop(kernel_.Int(0), kernel_.Int(vectors), 1,
                                  [&](llvm::Value* v) {
                                    EmitKernels(panel, channel, v);
                                  });
                   });
    });
  }

 private:
  // A vector of kernels: output channels from (panel, v) on, input `channel`.
  void EmitKernels(llvm::Value* panel, llvm::Value* channel, llvm::Value* v) {
    ExprEmitter::Scope scope(emitter_);
    const int64_t width = shape_.panel_width(), lanes = shape_.lanes;
    const Expr lane = emitter_.BindLanes(kernel_.Int(0), {0, lanes - 1});
    const Expr out = emitter_.Bind(panel, {0, shape_.panels().extent - 1}) *
                         Expr(shape_.panel_channels) +
                     emitter_.Bind(v, {0, width / lanes - 1}) * Expr(lanes) +
                     lane;
    const Expr in = emitter_.Bind(channel, {0, shape_.in().extent - 1});
    llvm::Value* first =
        b_.CreateNSWAdd(b_.CreateNSWMul(panel, kernel_.Int(width)),
                        b_.CreateNSWMul(v, kernel_.Int(lanes)));
    llvm::Value* mask = nullptr;
    if (shape_.out_channels % width != 0) {
      mask = emitter_.TailMask(first, kernel_.Int(shape_.out_channels));
    }
    emitter_.SetTail(mask);
    std::vector<llvm::Value*> kernels;
    for (const WeightTransform::Entry& entry : shape_.entries) {
      std::vector<Expr> index(shape_.to.halo_low.size());
      index[static_cast<size_t>(shape_.panels().axis)] = out + Expr(entry.out);
      index[static_cast<size_t>(shape_.in().axis)] = in + Expr(entry.in);
      index[static_cast<size_t>(shape_.to.dims[1].axis)] = Expr(entry.row);
      index[static_cast<size_t>(shape_.to.dims[2].axis)] = Expr(entry.column);
      emitter_.SetIndices(std::move(index));
      kernels.push_back(Masked(emitter_.EmitLanes(shape_.value), mask));
    }
    emitter_.SetTail(nullptr);
    Store(kernels, panel, channel, v);
  }

  llvm::Value* Masked(llvm::Value* value, llvm::Value* mask) {
    if (mask == nullptr) return value;
    return b_.CreateSelect(mask, value,
                           llvm::Constant::getNullValue(value->getType()));
  }

  void Store(const std::vector<llvm::Value*>& kernels, llvm::Value* panel,
             llvm::Value* channel, llvm::Value* v) {
    const auto planes = Transformed(kernels);
    llvm::Value* base = Advance(kernel_.operand(1), panel, strides_[0]);
    base = Advance(base, channel, strides_[3]);
    base = Advance(base, v, shape_.lanes);
    const int64_t columns = shape_.to.dims[2].extent;
    for (int64_t i = 0; i < static_cast<int64_t>(planes.size()); ++i) {
      const int64_t offset =
          i / columns * strides_[1] + i % columns * strides_[2];
      b_.CreateAlignedStore(
          planes[static_cast<size_t>(i)],
          kernel_.ElementAddress(base, kernel_.Int(offset), ElementBytes()),
          llvm::Align(ElementBytes()));
    }
  }

  // Winograd's along the axes where kernels have more than one position.
  std::vector<llvm::Value*> Transformed(
      const std::vector<llvm::Value*>& kernels) {
    if (shape_.to.basis == KernelBasis::kStrassen) {
      return contraction::Multiply(kernel_, kWeightQuarters, kernels);
    }
    const int64_t side = std::max(shape_.rows, shape_.columns);
    const auto matrix = KernelMatrix(shape_.to.basis, side);
    if (shape_.rows != shape_.columns) {
      return contraction::Multiply(kernel_, matrix, kernels);
    }
    return contraction::MultiplyBothSides(kernel_, matrix,
                                          static_cast<int>(side), kernels);
  }

  llvm::Value* Advance(llvm::Value* base, llvm::Value* i, int64_t stride) {
    return kernel_.ElementAddress(base, b_.CreateNSWMul(i, kernel_.Int(stride)),
                                  ElementBytes());
  }
  int64_t ElementBytes() const { return SizeOf(shape_.dtype); }

  KernelFunction& kernel_;
  KernelFunction::Builder& b_;
  const WeightTransform& shape_;
  const Extents strides_;
  ExprEmitter emitter_;
};

// The positions of a kernel, or the quarters of a matrix.
std::vector<WeightTransform::Entry> EntriesOf(const TensorType& type,
                                              const Layout& to) {
  std::vector<WeightTransform::Entry> entries;
  if (to.basis == KernelBasis::kStrassen) {
    const int64_t panel = to.dims[4].extent;
    const int64_t in = type.shape[to.dims[3].axis] / 2;
    for (int64_t q = 0; q < kQuarters; ++q) {
      entries.push_back({ChannelOfHalf(q % 2, 0, panel), q / 2 * in});
    }
    return entries;
  }
  for (int64_t y = 0; y < type.shape[to.dims[1].axis]; ++y) {
    for (int64_t x = 0; x < type.shape[to.dims[2].axis]; ++x) {
      entries.push_back({0, 0, y, x});
    }
  }
  return entries;
}

}  // namespace

std::optional<FunctionPlan> PlanWeightTransform(const Program& program,
                                                const Step& step,
                                                const Target& target) {
  const Buffer& to = program.buffers[static_cast<size_t>(step.outputs[0])];
  if (to.layout.basis == KernelBasis::kPlain) return std::nullopt;
  const Map* map = step.map();
  MXC_CHECK(map != nullptr && map->stores.size() == 1 &&
                step.inputs.size() == 1 && to.layout.dims.size() == 5 &&
                IsFloat(to.type.dtype) && SizeOf(to.type.dtype) >= 4,
            "{}: into {}", step.name, ToString(to.layout));
  auto shape = std::make_shared<WeightTransform>();
  shape->from = program.buffers[static_cast<size_t>(step.inputs[0])].layout;
  shape->dtype = to.type.dtype;
  shape->to = to.layout;
  shape->value = map->stores[0].value;
  shape->out_channels = to.type.shape[to.layout.dims[0].axis];
  shape->panel_channels = shape->panel_width();
  if (to.layout.basis == KernelBasis::kStrassen) {
    shape->out_channels /= 2;
    shape->panel_channels =
        ChannelOfHalf(0, shape->panel_width(), shape->panel_width());
  }
  shape->entries = EntriesOf(to.type, to.layout);
  shape->rows = to.type.shape[to.layout.dims[1].axis];
  shape->columns = to.type.shape[to.layout.dims[2].axis];
  shape->lanes = target.machine.lanes(shape->dtype);
  FunctionPlan plan;
  plan.tasks = shape->panels().extent;
  plan.emit = [shape](KernelFunction& kernel) {
    WeightTransformEmitter(kernel, *shape).Emit();
  };
  return plan;
}

}  // namespace mxc
