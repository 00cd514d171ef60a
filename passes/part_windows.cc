// SPDX-License-Identifier: Apache-2.0
#include "passes/part_windows.h"

#include <utility>
#include <vector>

#include "ir/program/steps/map.h"
#include "ir/program/steps/tile_loop.h"
#include "passes/step_operands.h"

namespace mxc {
namespace {

// Shorter runs of bytes are not worth a step between them.
constexpr int64_t kLeastRun = 64;

// Of the bytes of a window that lie in one piece.
int64_t RunOf(const Layout& layout, DType dtype) {
  size_t dim = layout.dims.size();
  while (dim > 0 && !layout.has_gaps(dim - 1)) --dim;
  if (dim == 0) return layout.elements() * SizeOf(dtype);
  return layout.dims[dim - 1].extent * layout.strides()[dim - 1] *
         SizeOf(dtype);
}

}  // namespace

std::optional<Layout> LayoutOfPart(const Buffer& whole, const Extents& begin,
                                   const Extents& extent) {
  if (whole.layout.basis != KernelBasis::kPlain) return std::nullopt;
  const auto window = whole.layout.Window(whole.type.shape, begin, extent);
  const bool pieces = window && window->has_gaps() &&
                      RunOf(*window, whole.type.dtype) < kLeastRun;
  return pieces ? std::nullopt : window;
}

std::optional<Buffer> InStridesOf(Buffer buffer, const Layout& window) {
  if (!window.has_gaps()) return buffer;
  const Layout& own = buffer.layout;
  if (own.dims.size() != window.dims.size()) return std::nullopt;
  const Extents before = window.WithoutGaps().strides();
  const Extents after = window.strides(), strides = own.strides();
  int64_t begin = buffer.alias_begin / SizeOf(buffer.type.dtype), moved = 0;
  for (size_t i = 0; i < before.size(); ++i) {
    const Layout::Dim &dim = own.dims[i], &larger = window.dims[i];
    const bool alike = dim.axis == larger.axis && dim.extent <= larger.extent &&
                       (dim.extent == 1 || strides[i] == before[i]);
    if (!alike) return std::nullopt;
    moved += begin / before[i] * after[i];
    begin %= before[i];
  }
  buffer.alias_begin = moved * SizeOf(buffer.type.dtype);
  buffer.layout = own.InStridesOf(window);
  return buffer;
}

Step SplitStore(Program& program, Step& step, size_t k) {
  Store& store = step.map()->stores[k];
  const Buffer& whole = program.buffers[step.outputs[store.output]];
  Buffer part;
  part.name = whole.name + "/part";
  part.type = {whole.type.dtype, Shape(store.extent)};
  part.layout = LayoutOfPart(whole, store.begin, store.extent)->WithoutGaps();
  program.buffers.push_back(std::move(part));
  const int buffer = static_cast<int>(program.buffers.size()) - 1;

  std::vector<Expr> own;
  for (size_t axis = 0; axis < store.begin.size(); ++axis) {
    own.push_back(Var(static_cast<int>(axis)) + Expr(-store.begin[axis]));
  }
  Step computing = step;
  computing.outputs = {buffer};
  const Expr value = SubstituteVars(store.value, [&](int var) {
    return static_cast<size_t>(var) < store.begin.size()
               ? Var(var) + Expr(store.begin[static_cast<size_t>(var)])
               : Expr();
  });
  computing.map()->stores = {
      {0, Extents(store.begin.size(), 0), store.extent, value}};
  TidyOperands(computing);
  store.value = Load(static_cast<int>(step.inputs.size()), store.value->dtype,
                     std::move(own));
  step.inputs.push_back(buffer);
  return computing;
}

}  // namespace mxc
