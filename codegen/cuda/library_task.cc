// SPDX-License-Identifier: Apache-2.0
#include "codegen/cuda/library_task.h"

#include <algorithm>

#include "codegen/cuda/library_convolution.h"
#include "codegen/cuda/matrix_product.h"
#include "codegen/cuda/product_shape.h"
#include "codegen/cuda/role_strides.h"

namespace mxc {

bool MayBeOfLibrary(const Contraction& c) {
  return MayBeMatrixProduct(c) || MayBeConvolution(c);
}

// Engines take apart, transpose and widen what they read: a few times what the
// operands have.
int64_t LibraryWorkspace(const Contraction& c) {
  constexpr int64_t kMost = 64 << 20, kTimesOperands = 4;
  const auto elements = [](const Extents& extents) {
    int64_t product = 1;
    for (const int64_t extent : extents) product *= extent;
    return product;
  };
  const double bytes = 4.0 * static_cast<double>(c.groups) *
                       (static_cast<double>(c.batch * c.in) *
                            static_cast<double>(elements(c.input)) +
                        static_cast<double>(c.out * c.in) *
                            static_cast<double>(elements(c.kernel)) +
                        static_cast<double>(c.batch * c.out) *
                            static_cast<double>(elements(c.output)));
  return static_cast<int64_t>(std::min<double>(kMost, kTimesOperands * bytes));
}

std::string LibraryTaskOf(const Program& program, const Step& step,
                          const std::string& alignments) {
  if (const auto product = MatrixProductOf(program, step)) {
    return TextOf(*product);
  }
  const bool aligned = std::ranges::all_of(
      alignments, [](char alignment) { return alignment == 'v'; });
  if (!aligned) return "";
  const auto convolution = ConvolutionOf(program, step);
  return convolution ? TextOf(*convolution) : "";
}

bool StoresSums(const Program& program, const Step& step) {
  const ContractionStep& contraction = *step.contraction();
  const Contraction& c = contraction.contraction;
  const auto bias = c.kernel.empty() ? BiasOf(program, step, c.out)
                                     : ConvolutionBias(program, step);
  return contraction.maxima.empty() && bias.has_value();
}

bool IsOfLibrary(const Program& program, const Step& step) {
  const ContractionStep* contraction = step.contraction();
  return contraction != nullptr && IsOfLibrary(contraction->choice) &&
         (MatrixProductOf(program, step) || ConvolutionOf(program, step));
}

}  // namespace mxc
