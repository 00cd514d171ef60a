// SPDX-License-Identifier: Apache-2.0
#include "codegen/cpu/contraction/output_halo.h"

namespace mxc::contraction {

void OutputHalo::Zero(llvm::Value* base, const Part& part) {
  const int64_t image_stride = shape_.output().strides()[0];
  kernel_.Loop(part.first_image, part.last_image, 1, [&](llvm::Value* image) {
    kernel_.Loop(part.first_vector, part.last_vector, 1,
                 [&](llvm::Value* vector) {
                   ZeroBorder(Advance(Advance(base, image, image_stride),
                                      vector, shape_.nest.output_vector_stride),
                              2);
                 });
  });
}

// Zeroes the border of dims `dim` and further in; `base` is the first element
// of the box that they span.
void OutputHalo::ZeroBorder(llvm::Value* base, size_t dim) {
  const Layout& layout = shape_.output();
  if (dim >= layout.dims.size()) return;
  const Layout::Dim& d = layout.dims[dim];
  const int64_t stride = layout.strides()[dim];
  const int64_t low = layout.halo_low[d.axis];
  const int64_t high = layout.halo_high[d.axis];
  ZeroPositions(base, dim, low);
  ZeroPositions(Advance(base, kernel_.Int((d.extent - high) * stride), 1), dim,
                high);
  bool inner = false;
  for (size_t i = dim + 1; i < layout.dims.size(); ++i) {
    const int axis = layout.dims[i].axis;
    inner |= layout.halo_low[axis] + layout.halo_high[axis] > 0;
  }
  if (!inner) return;
  kernel_.Loop(
      kernel_.Int(low), kernel_.Int(d.extent - high), 1,
      [&](llvm::Value* i) { ZeroBorder(Advance(base, i, stride), dim + 1); });
}

// The first `count` positions of dim `dim`, with all further in.
void OutputHalo::ZeroPositions(llvm::Value* base, size_t dim, int64_t count) {
  const Layout& layout = shape_.output();
  const int64_t stride = layout.strides()[dim];
  if (!layout.has_gaps(dim + 1)) return ZeroFill(base, count * stride);
  kernel_.Loop(kernel_.Int(0), kernel_.Int(count), 1, [&](llvm::Value* i) {
    ZeroPositions(Advance(base, i, stride), dim + 1,
                  layout.dims[dim + 1].extent);
  });
}

void OutputHalo::ZeroFill(llvm::Value* base, int64_t elements) {
  if (elements == 0) return;
  const DType dtype = shape_.nest.types.output;
  llvm::Type* type =
      kernel_.VectorOf(kernel_.MemoryType(dtype), shape_.nest.lanes);
  kernel_.Loop(kernel_.Int(0), kernel_.Int(elements), shape_.nest.lanes,
               [&](llvm::Value* i) {
                 kernel_.b().CreateAlignedStore(
                     llvm::Constant::getNullValue(type), Advance(base, i, 1),
                     llvm::Align(SizeOf(dtype)));
               });
}

llvm::Value* OutputHalo::Advance(llvm::Value* base, llvm::Value* index,
                                 int64_t stride) {
  return kernel_.ElementAddress(
      base, kernel_.b().CreateNSWMul(index, kernel_.Int(stride)),
      SizeOf(shape_.nest.types.output));
}

}  // namespace mxc::contraction
