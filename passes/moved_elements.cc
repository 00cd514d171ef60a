// SPDX-License-Identifier: Apache-2.0
#include "passes/moved_elements.h"

#include <cstring>
#include <memory>
#include <utility>

#include "ir/program/steps/map.h"
#include "ir/support/check.h"

namespace mxc {
namespace {

// begin + Σ factor[k] · variable k
struct LinearIndex {
  int64_t begin = 0;
  Extents factor;
};

std::optional<LinearIndex> LinearIndexOf(const Expr& e, size_t variables) {
  LinearIndex linear = {0, Extents(variables, 0)};
  if (e->kind == ExprKind::kConst) {
    linear.begin = static_cast<int64_t>(e->number);
    return linear;
  }
  if (e->kind == ExprKind::kVar) {
    if (e->index < 0 || static_cast<size_t>(e->index) >= variables) {
      return std::nullopt;
    }
    linear.factor[e->index] = 1;
    return linear;
  }
  if (e->kind != ExprKind::kBinary) return std::nullopt;
  auto a = LinearIndexOf(e->args[0], variables);
  auto b = LinearIndexOf(e->args[1], variables);
  if (!a || !b) return std::nullopt;
  if (e->binary == BinaryOp::kMul) {
    if (e->args[0]->kind == ExprKind::kConst) std::swap(a, b);
    if (e->args[0]->kind != ExprKind::kConst &&
        e->args[1]->kind != ExprKind::kConst) {
      return std::nullopt;
    }
    for (int64_t& factor : a->factor) factor *= b->begin;
    a->begin *= b->begin;
    return a;
  }
  const int64_t sign = e->binary == BinaryOp::kSub ? -1 : 1;
  if (e->binary != BinaryOp::kAdd && e->binary != BinaryOp::kSub) {
    return std::nullopt;
  }
  a->begin += sign * b->begin;
  for (size_t k = 0; k < variables; ++k) a->factor[k] += sign * b->factor[k];
  return a;
}

Extents RowMajorStrides(const Shape& shape) {
  Extents strides(shape.dims().size(), 1);
  for (int axis = shape.rank() - 1; axis > 0; --axis) {
    strides[axis - 1] = strides[axis] * shape[axis];
  }
  return strides;
}

// Where the elements of a store's box lie in its source: element `begin` for
// the box's first, `strides` further on for each step along an axis.
struct Move {
  int input = 0;
  int64_t begin = 0;
  Extents strides;
};

std::optional<Move> MoveOf(const Store& store, const TensorType& out,
                           const std::vector<Tensor>& inputs) {
  const Expr& load = store.value;
  if (load->kind != ExprKind::kLoad || load->dtype != out.dtype) {
    return std::nullopt;
  }
  const size_t variables = store.extent.size();
  Move move = {load->index, 0, Extents(variables, 0)};
  const Tensor& source = inputs[static_cast<size_t>(load->index)];
  if (source.empty() || source.type().dtype != out.dtype) return std::nullopt;
  const Extents strides = RowMajorStrides(source.shape());
  for (size_t axis = 0; axis < load->args.size(); ++axis) {
    const auto index = LinearIndexOf(load->args[axis], variables);
    if (!index) return std::nullopt;
    move.begin += strides[axis] * index->begin;
    for (size_t k = 0; k < variables; ++k) {
      move.strides[k] += strides[axis] * index->factor[k];
      move.begin += strides[axis] * index->factor[k] * store.begin[k];
    }
  }
  return move;
}

void CopyBox(const Extents& extent, size_t axis, int64_t size,
             const std::byte* from, const Extents& from_strides, std::byte* to,
             const Extents& to_strides) {
  if (axis == extent.size()) {
    std::memcpy(to, from, static_cast<size_t>(size));
    return;
  }
  const int64_t count = extent[axis];
  const bool run = axis + 1 == extent.size() && from_strides[axis] == 1 &&
                   to_strides[axis] == 1;
  if (run) {
    std::memcpy(to, from, static_cast<size_t>(count * size));
    return;
  }
  for (int64_t i = 0; i < count; ++i) {
    CopyBox(extent, axis + 1, size, from + i * from_strides[axis] * size,
            from_strides, to + i * to_strides[axis] * size, to_strides);
  }
}

// Returns whether the moved box is the whole output, in order.
bool SharesBytes(const Move& move, const Store& store, const TensorType& out) {
  if (store.extent != out.shape.dims()) return false;
  const Extents strides = RowMajorStrides(out.shape);
  for (size_t axis = 0; axis < strides.size(); ++axis) {
    if (store.extent[axis] > 1 && move.strides[axis] != strides[axis]) {
      return false;
    }
  }
  return true;
}

std::optional<Tensor> Moved(const std::vector<Store>& stores, int output,
                            const TensorType& type,
                            const std::vector<Tensor>& inputs) {
  const int64_t size = SizeOf(type.dtype);
  const Extents strides = RowMajorStrides(type.shape);
  std::byte* bytes = nullptr;
  Tensor result;
  for (const Store& store : stores) {
    if (store.output != output) continue;
    const auto move = MoveOf(store, type, inputs);
    if (!move) return std::nullopt;
    const Tensor& source = inputs[static_cast<size_t>(move->input)];
    if (SharesBytes(*move, store, type)) {
      const auto owner = std::make_shared<Tensor>(source);
      return Tensor(type, owner, owner->bytes() + move->begin * size);
    }
    if (result.empty()) result = Tensor::Allocate(type, &bytes);
    int64_t to = 0;
    for (size_t axis = 0; axis < strides.size(); ++axis) {
      to += strides[axis] * store.begin[axis];
    }
    CopyBox(store.extent, 0, size, source.bytes() + move->begin * size,
            move->strides, bytes + to * size, strides);
  }
  if (result.empty()) return std::nullopt;
  return result;
}

}  // namespace

Tensor Reshaped(const Tensor& source, const TensorType& type) {
  MXC_CHECK(type.bytes() == source.size_bytes(), "{}", ToString(type));
  return Tensor(type, std::make_shared<Tensor>(source), source.bytes());
}

std::optional<std::vector<Tensor>> MovedElements(const Program& program) {
  std::vector<Tensor> values;
  for (const Buffer& buffer : program.buffers) {
    values.push_back(buffer.constant);
  }
  for (const Step& step : program.steps) {
    if (step.map() == nullptr) return std::nullopt;
    std::vector<Tensor> inputs;
    for (const int input : step.inputs) inputs.push_back(values[input]);
    for (size_t i = 0; i < step.outputs.size(); ++i) {
      const TensorType& type = program.buffers[step.outputs[i]].type;
      auto moved = step.view ? std::optional(Reshaped(inputs[0], type))
                             : Moved(step.map()->stores, static_cast<int>(i),
                                     type, inputs);
      if (!moved) return std::nullopt;
      values[step.outputs[i]] = std::move(*moved);
    }
  }
  std::vector<Tensor> outputs;
  for (const int output : program.BuffersOf(BufferKind::kOutput)) {
    outputs.push_back(values[output]);
  }
  return outputs;
}

}  // namespace mxc
