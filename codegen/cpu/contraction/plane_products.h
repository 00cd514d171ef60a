// SPDX-License-Identifier: Apache-2.0
// PlaneProducts: the product of one plane of transformed data with the same
// plane of the weights (plane_work.h), both in scratch or packed. Tiles are
// cut into register tiles, each of which fetches a part of the next plane's
// weights.
#pragma once

#include <functional>

#include "codegen/cpu/contraction/flat_memory.h"
#include "codegen/cpu/contraction/nest.h"

namespace mxc::contraction {

class PlaneProducts : private FlatMemory {
 public:
  // `nest`: of one plane (PlaneNest), outlives this. `pixels`: of a register
  // tile.
  PlaneProducts(KernelFunction& kernel, const Nest& nest, int pixels)
      : FlatMemory(kernel, nest.types.sum, nest.lanes),
        nest_(nest),
        pixels_(pixels) {}

  // Of one plane: where its parts begin.
  struct Factors {
    llvm::Value *data, *weight, *products;
  };
  // Of the first `tiles` tiles with a panel of so many vectors of channels.
  void Emit(int64_t tiles, int vectors, const Factors& factors);

  // Some tiles beside each other whose sums are in registers, and which lines
  // of each step's weights they fetch ahead.
  struct RegisterTiles {
    int64_t width;
    llvm::Value *first, *line;
    int64_t lines;
  };
  void EachTile(int64_t tiles,
                const std::function<void(const RegisterTiles&)>& body);

 private:
  void EmitTile(const RegisterTiles& tiles, int vectors,
                const Factors& factors);

  const Nest& nest_;
  const int pixels_;
};

}  // namespace mxc::contraction
