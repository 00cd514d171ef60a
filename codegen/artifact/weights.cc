// SPDX-License-Identifier: Apache-2.0
#include "codegen/artifact/weights.h"

#include <cstring>

#include "ir/program/kernel_basis.h"
#include "ir/program/memory.h"
#include "ir/program/quarter_sums.h"
#include "runtime/base/checksum.h"

namespace mxc {
namespace {

// Walks the layout's dimensions from the outermost to the innermost. The
// source offset and each axis's logical index are linear in the positions, so
// both are carried along; elements outside the tensor stay zero.
class Copier {
 public:
  Copier(const Tensor& tensor, const Layout& layout, std::byte* out)
      : size_(SizeOf(tensor.type().dtype)),
        source_(tensor.bytes()),
        out_(out),
        layout_(layout),
        dims_(tensor.shape().dims()),
        strides_(layout.strides()) {
    Extents source_strides(dims_.size(), 1);
    for (size_t axis = dims_.size(); axis-- > 1;) {
      source_strides[axis - 1] = source_strides[axis] * dims_[axis];
    }
    // The weight of a part in its axis's index: the product of the parts that
    // are less significant.
    Extents inner(dims_.size(), 1);
    steps_.resize(layout.dims.size());
    source_steps_.resize(layout.dims.size());
    for (size_t d = layout.dims.size(); d-- > 0;) {
      const auto& [axis, extent, span] = layout.dims[d];
      steps_[d] = inner[axis];
      source_steps_[d] = inner[axis] * source_strides[axis];
      inner[axis] *= extent;
    }
    index_.resize(dims_.size());
    for (size_t axis = 0; axis < dims_.size(); ++axis) {
      index_[axis] = -layout.halo_low[axis];
      start_ += index_[axis] * source_strides[axis];
    }
  }

  void Run() { Walk(0, start_, 0); }

 private:
  void Walk(size_t d, int64_t from, int64_t to) {
    if (d == layout_.dims.size()) {
      for (size_t axis = 0; axis < dims_.size(); ++axis) {
        if (index_[axis] < 0 || index_[axis] >= dims_[axis]) return;
      }
      std::memcpy(out_ + to * size_, source_ + from * size_, size_);
      return;
    }
    if (d + 1 == layout_.dims.size()) return Row(d, from, to);
    const auto& [axis, extent, span] = layout_.dims[d];
    const int64_t saved = index_[axis];
    for (int64_t i = 0; i < extent; ++i) {
      Walk(d + 1, from, to);
      index_[axis] += steps_[d];
      from += source_steps_[d];
      to += strides_[d];
    }
    index_[axis] = saved;
  }

  // The innermost dimension: which of its positions lie inside is an interval.
  void Row(size_t d, int64_t from, int64_t to) {
    const auto& [row_axis, extent, span] = layout_.dims[d];
    for (size_t axis = 0; axis < dims_.size(); ++axis) {
      if (static_cast<int>(axis) == row_axis) continue;
      if (index_[axis] < 0 || index_[axis] >= dims_[axis]) return;
    }
    for (int64_t i = 0; i < extent; ++i) {
      const int64_t index = index_[row_axis] + i * steps_[d];
      if (index < 0 || index >= dims_[row_axis]) continue;
      std::memcpy(out_ + (to + i) * size_,
                  source_ + (from + i * source_steps_[d]) * size_, size_);
    }
  }

  int64_t size_;
  const std::byte* source_;
  std::byte* out_;
  const Layout& layout_;
  Extents dims_, strides_, steps_, source_steps_, index_;
  int64_t start_ = 0;
};

// The sums of a matrix's quarters, in double, as a tensor [out / 2, in / 2, 7,
// 1].
Tensor QuarterSums(const Tensor& kernels, int64_t panel) {
  const int64_t out = kernels.shape()[0] / 2, in = kernels.shape()[1] / 2;
  const Shape shape = {out, in, kQuarterProducts, 1};
  std::byte* to = nullptr;
  const DType dtype = kernels.type().dtype;
  Tensor sums = Tensor::Allocate({dtype, shape}, &to);
  for (int64_t i = 0; i < out * in; ++i) {
    const int64_t o = i / in, k = i % in;
    for (int64_t p = 0; p < kQuarterProducts; ++p) {
      double sum = 0;
      for (int64_t q = 0; q < kQuarters; ++q) {
        const int64_t row = ChannelOfHalf(q % 2, o, panel);
        const int64_t column = k + q / 2 * in;
        sum += kWeightQuarters[p * kQuarters + q] *
               kernels.At(row * 2 * in + column);
      }
      StoreElement(to + (i * kQuarterProducts + p) * SizeOf(dtype), dtype, sum);
    }
  }
  return sums;
}

// G g Gᵀ of every kernel g, in double, as a tensor with axes of n; G g where g
// has one position along an axis.
Tensor ToBasis(const Tensor& kernels, KernelBasis basis) {
  const Shape& shape = kernels.shape();
  const int rank = shape.rank();
  MXC_CHECK(rank >= 2, "{}", ToString(shape));
  const auto matrix = [&](int64_t r) {
    return r == 1 ? std::vector<double>{1} : KernelMatrix(basis, r);
  };
  const int64_t r = shape[rank - 2], s = shape[rank - 1];
  const std::vector<double> g = matrix(r), h = matrix(s);
  const auto n = static_cast<int64_t>(g.size()) / r;
  const auto m = static_cast<int64_t>(h.size()) / s;
  Shape transformed = shape;
  transformed[rank - 2] = n;
  transformed[rank - 1] = m;
  std::byte* to = nullptr;
  const DType dtype = kernels.type().dtype;
  Tensor planes = Tensor::Allocate({dtype, transformed}, &to);
  std::vector<double> half(static_cast<size_t>(n * s));
  std::vector<double> kernel(static_cast<size_t>(r * s));
  for (int64_t k = 0; k < shape.elements() / (r * s); ++k) {
    for (int64_t e = 0; e < r * s; ++e) kernel[e] = kernels.At(k * r * s + e);
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = 0; j < s; ++j) {
        half[i * s + j] = 0;
        for (int64_t q = 0; q < r; ++q) {
          half[i * s + j] += g[i * r + q] * kernel[q * s + j];
        }
      }
    }
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = 0; j < m; ++j) {
        double sum = 0;
        for (int64_t q = 0; q < s; ++q) sum += half[i * s + q] * h[j * s + q];
        StoreElement(to + ((k * n + i) * m + j) * SizeOf(dtype), dtype, sum);
      }
    }
  }
  return planes;
}

}  // namespace

std::vector<std::byte> LayOut(const Tensor& tensor, const Layout& layout) {
  if (layout.basis != KernelBasis::kPlain) {
    Layout plain = layout;
    plain.basis = KernelBasis::kPlain;
    return LayOut(layout.basis == KernelBasis::kStrassen
                      ? QuarterSums(tensor, layout.dims.back().extent)
                      : ToBasis(tensor, layout.basis),
                  plain);
  }
  std::vector<std::byte> bytes(layout.elements() * SizeOf(tensor.type().dtype));
  if (layout.row_major()) {
    std::memcpy(bytes.data(), tensor.bytes(), bytes.size());
  } else {
    Copier(tensor, layout, bytes.data()).Run();
  }
  return bytes;
}

uint64_t WeightsSection::Add(const Buffer& constant) {
  const std::vector<std::byte> laid =
      LayOut(constant.constant, constant.layout);
  const std::pair<uint64_t, uint64_t> key = {runtime::Checksum(laid),
                                             laid.size()};
  for (auto [it, end] = stored_.equal_range(key); it != end; ++it) {
    if (std::memcmp(bytes_.data() + it->second, laid.data(), laid.size()) ==
        0) {
      return it->second;
    }
  }
  const uint64_t offset = AlignedBytes(static_cast<int64_t>(bytes_.size()));
  bytes_.resize(offset);
  bytes_.insert(bytes_.end(), laid.begin(), laid.end());
  stored_.emplace(key, offset);
  return offset;
}

}  // namespace mxc
