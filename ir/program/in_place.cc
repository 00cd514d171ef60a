// SPDX-License-Identifier: Apache-2.0
#include "ir/program/in_place.h"

#include <algorithm>
#include <map>
#include <utility>

#include "ir/program/steps/map.h"
#include "ir/program/steps/tile_loop.h"

namespace mxc {
namespace {

// Where `index` begins on an axis: variable `axis` plus a constant, or a
// constant where the box has one index only.
std::optional<int64_t> BeginOf(const Expr& index, int axis, int64_t begin,
                               int64_t extent) {
  if (index->kind == ExprKind::kConst && extent == 1) {
    return static_cast<int64_t>(index->number);
  }
  const bool sum = index->kind == ExprKind::kBinary &&
                   index->binary == BinaryOp::kAdd &&
                   index->args[1]->kind == ExprKind::kConst;
  const Expr& var = sum ? index->args[0] : index;
  if (var->kind != ExprKind::kVar || var->index != axis) return std::nullopt;
  return begin + (sum ? static_cast<int64_t>(index->args[1]->number) : 0);
}

}  // namespace

std::optional<BoxCopy> MatchBoxCopy(const Store& store) {
  const Expr& load = store.value;
  if (load->kind != ExprKind::kLoad) return std::nullopt;
  if (load->args.size() != store.extent.size()) return std::nullopt;
  BoxCopy copy;
  copy.input = load->index;
  for (size_t axis = 0; axis < load->args.size(); ++axis) {
    const auto from = BeginOf(load->args[axis], static_cast<int>(axis),
                              store.begin[axis], store.extent[axis]);
    if (!from) return std::nullopt;
    copy.from.push_back(*from);
  }
  return copy;
}

std::optional<int64_t> BytesBetween(const Buffer& from,
                                    const Extents& from_begin, const Buffer& to,
                                    const Extents& to_begin,
                                    const Extents& extent) {
  const Layout &a = from.layout, &b = to.layout;
  const bool alike = a.dims.size() == b.dims.size() && a.basis == b.basis &&
                     a.basis == KernelBasis::kPlain &&
                     from.type.dtype == to.type.dtype;
  if (!alike) return std::nullopt;
  const Extents a_strides = a.strides(), b_strides = b.strides();
  for (size_t i = 0; i < a.dims.size(); ++i) {
    const int axis = a.dims[i].axis;
    if (axis != b.dims[i].axis) return std::nullopt;
    const auto at = static_cast<size_t>(axis);
    const int64_t block = a.block(axis);
    const bool moves = extent[at] > 1;
    const bool unit = a.dims[i].extent == 1 && b.dims[i].extent == 1;
    if (moves && !unit && a_strides[i] != b_strides[i]) return std::nullopt;
    if (!moves) continue;
    if (block != b.block(axis)) return std::nullopt;
    const int64_t ahead =
        to_begin[at] + b.halo_low[at] - from_begin[at] - a.halo_low[at];
    if (ahead % block != 0) return std::nullopt;
  }
  return (b.Offset(to_begin) - a.Offset(from_begin)) * SizeOf(from.type.dtype);
}

std::optional<WindowBytes> BytesOf(const Window& window, const Buffer& operand,
                                   const Buffer& part) {
  if (window.is_whole()) {
    if (operand.layout != part.layout) return std::nullopt;
    return WindowBytes();
  }
  const Extents& extent = part.type.shape.dims();
  Extents begin(extent.size(), 0);
  std::vector<bool> cut(extent.size(), false);
  for (const Slide& slide : window.slides) {
    begin[static_cast<size_t>(slide.axis)] = slide.begin;
    cut[static_cast<size_t>(slide.axis)] = true;
  }
  for (size_t axis = 0; axis < extent.size(); ++axis) {
    if (cut[axis]) continue;
    if (operand.layout.halo_low[axis] != part.layout.halo_low[axis] ||
        operand.layout.halo_high[axis] != part.layout.halo_high[axis]) {
      return std::nullopt;
    }
  }
  const Extents first(extent.size(), 0);
  const auto first_bytes = BytesBetween(part, first, operand, begin, extent);
  if (!first_bytes) return std::nullopt;
  WindowBytes bytes = {*first_bytes, window.slides};
  for (Slide& slide : bytes.slides) {
    Extents next = begin;
    next[static_cast<size_t>(slide.axis)] += slide.advance;
    const auto next_bytes = BytesBetween(part, first, operand, next, extent);
    if (!next_bytes) return std::nullopt;
    slide.advance = *next_bytes - *first_bytes;
  }
  return bytes;
}

std::vector<WindowRun> RunsOf(const Window& window, int64_t tile,
                              const Shape& operand, const Shape& part) {
  const auto rank = static_cast<size_t>(part.rank());
  // Where the window begins; the positions of it that exist.
  Extents begin(rank, 0), first(rank, 0), end = part.dims();
  for (const Slide& slide : window.slides) {
    const auto axis = static_cast<size_t>(slide.axis);
    begin[axis] = slide.At(tile);
    first[axis] = std::max<int64_t>(0, -begin[axis]);
    end[axis] = std::min(part[slide.axis], operand[slide.axis] - begin[axis]);
    if (first[axis] >= end[axis]) return {};
  }
  size_t last = 0;  // the innermost axis that is cut
  for (const Slide& slide : window.slides) {
    last = std::max(last, static_cast<size_t>(slide.axis));
  }
  if (window.is_whole()) return {{0, 0, part.elements()}};
  const auto position = [&](const Shape& shape, const Extents& index) {
    int64_t at = 0;
    for (size_t axis = 0; axis < rank; ++axis) {
      at = at * shape[static_cast<int>(axis)] + index[axis];
    }
    return at;
  };
  int64_t count = end[last] - first[last];
  for (size_t axis = last + 1; axis < rank; ++axis) count *= end[axis];
  std::vector<WindowRun> runs;
  Extents at = first;
  while (true) {
    Extents there = at;
    for (size_t axis = 0; axis < rank; ++axis) there[axis] += begin[axis];
    runs.push_back({position(operand, there), position(part, at), count});
    size_t axis = last;
    while (axis > 0 && ++at[axis - 1] == end[axis - 1]) {
      at[axis - 1] = first[axis - 1];
      axis -= 1;
    }
    if (axis == 0) return runs;
  }
}

namespace {

bool IsInPlace(const Program& program, const Step& step, const Store& store) {
  const std::optional<BoxCopy> copy = MatchBoxCopy(store);
  if (!copy) return false;
  const int input = step.inputs[static_cast<size_t>(copy->input)];
  const int output = step.outputs[static_cast<size_t>(store.output)];
  if (program.Root(input) != program.Root(output)) return false;
  const auto between =
      BytesBetween(program.buffers[input], copy->from, program.buffers[output],
                   store.begin, store.extent);
  return between ==
         program.BytesIntoRoot(input) - program.BytesIntoRoot(output);
}

}  // namespace

bool HaveSameBytes(const Program& program, int a, int b) {
  return program.Root(a) == program.Root(b) &&
         program.BytesIntoRoot(a) == program.BytesIntoRoot(b);
}

bool IsInPlace(const Program& program, const Step& step) {
  return step.map() != nullptr &&
         std::ranges::all_of(step.map()->stores, [&](const Store& store) {
           return IsInPlace(program, step, store);
         });
}

bool IsIdle(const Program& program, const Step& step) {
  const bool lies = step.view && program.Root(step.outputs[0]) ==
                                     program.Root(step.inputs[0]);
  return lies || IsInPlace(program, step);
}

bool SweepsKeepApart(const Program& program, const Step& step) {
  if (step.map() == nullptr || step.outputs.size() == 1) return true;
  const std::vector<std::vector<int>> sweeps = SweepsOf(program, step);
  if (sweeps.size() == 1 || IsInPlace(program, step)) return true;
  std::vector<size_t> sweep_of(step.outputs.size());
  for (size_t i = 0; i < sweeps.size(); ++i) {
    for (const int output : sweeps[i]) sweep_of[output] = i;
  }
  // Which sweep writes from where on.
  std::map<std::pair<int, int64_t>, size_t> writer;
  const auto place = [&](int b) {
    return std::pair(program.Root(b), program.BytesIntoRoot(b));
  };
  for (size_t i = 0; i < step.outputs.size(); ++i) {
    writer[place(step.outputs[i])] = sweep_of[i];
  }
  return std::ranges::all_of(step.map()->stores, [&](const Store& store) {
    bool apart = true;
    VisitLoads(store.value, [&](const ExprNode& load) {
      const auto found = writer.find(place(step.inputs[load.index]));
      apart = apart && (found == writer.end() ||
                        found->second == sweep_of[store.output]);
    });
    return apart;
  });
}

}  // namespace mxc
