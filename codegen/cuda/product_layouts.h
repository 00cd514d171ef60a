// SPDX-License-Identifier: Apache-2.0
// Which layouts a product's operands may have on a device, and what it takes a
// block of threads to read them.
#pragma once

#include <array>
#include <cstdint>

#include "codegen/cuda/product_form.h"
#include "ir/program/kernel_catalog.h"
#include "ir/program/program.h"
#include "ir/target/machine.h"

namespace mxc {

// Operands whose channels are the innermost axis; else they are row-major.
struct ProductLayouts {
  bool data = false, weight = false, output = false;
  bool any() const { return data || weight || output; }
};

// Channels last where a convolution's operand then is read or written in wider
// pieces.
ProductLayouts ChannelsLast(const Contraction& c);

// What the kernel asks of its operands, and what it costs to bring a weight that
// is no activation into that layout.
void AskFor(const ProductLayouts& layouts, const Contraction& c,
            const Machine& machine, KernelCandidate& candidate);

// Of operands that begin where vectors may be read.
class ProductReading {
 public:
  ProductReading(const Contraction& c, const ProductLayouts& layouts);

  // Elements that a thread copies at once into a tile's lines.
  int VectorOf(int side, int64_t elements, int threads) const;
  // Instructions of a warp that copy what a block of rows x columns needs for
  // each element of the depth.
  double Instructions(int rows, int columns, int depth, int threads) const;

 private:
  const std::array<DType, 2> dtypes_;
  const ProductForm form_;
};

// That the whole device starts in a second.
double InstructionsPerSecond(const Machine& machine);

}  // namespace mxc
