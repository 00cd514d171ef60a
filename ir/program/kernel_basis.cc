// SPDX-License-Identifier: Apache-2.0
#include "ir/program/kernel_basis.h"

#include "ir/support/check.h"

namespace mxc {
namespace {

constexpr double kKernel2[] = {1, 0, 0, .5, .5, .5, .5, -.5, .5, 0, 0, 1};
constexpr double kData2[] = {1, 0, -1, 0, 0, 1, 1, 0, 0, -1, 1, 0, 0, 1, 0, -1};
constexpr double kOutput2[] = {1, 1, 1, 0, 0, 1, -1, -1};

constexpr double kKernel4[] = {1. / 4,  0,       0,       -1. / 6,  -1. / 6,
                               -1. / 6, -1. / 6, 1. / 6,  -1. / 6,  1. / 24,
                               1. / 12, 1. / 6,  1. / 24, -1. / 12, 1. / 6,
                               0,       0,       1};
constexpr double kData4[] = {4, 0, -5, 0,  1, 0, 0, -4, -4, 1,  1, 0,
                             0, 4, -4, -1, 1, 0, 0, -2, -1, 2,  1, 0,
                             0, 2, -1, -2, 1, 0, 0, 4,  0,  -5, 0, 1};
constexpr double kOutput4[] = {1, 1, 1, 1, 1, 0, 0, 1, -1, 2, -2, 0,
                               0, 1, 1, 4, 4, 0, 0, 1, -1, 8, -8, 1};

constexpr double kWideKernel2[] = {1, 0, .5, .5, .5, -.5, 0, 1};
constexpr double kWideOutput2[] = {1, 1, 1, 0, 0, 1, -1, 0, 0, 1, 1, -1};

constexpr double kWideKernel4[] = {
    1. / 4,  0,        0,       0,       -1. / 6, -1. / 6, -1. / 6, -1. / 6,
    -1. / 6, 1. / 6,   -1. / 6, 1. / 6,  1. / 24, 1. / 12, 1. / 6,  1. / 3,
    1. / 24, -1. / 12, 1. / 6,  -1. / 3, 0,       0,       0,       1};
constexpr double kWideOutput4[] = {1, 1,  1, 1, 1, 0, 0, 1, -1,
                                   2, -2, 0, 0, 1, 1, 4, 4, 1};

}  // namespace

int TileOutputs(KernelBasis basis) {
  return basis == KernelBasis::kPlain       ? 1
         : basis == KernelBasis::kWinograd2 ? 2
                                            : 4;
}

std::span<const double> KernelMatrix(KernelBasis basis) {
  MXC_CHECK(basis != KernelBasis::kPlain);
  return basis == KernelBasis::kWinograd2 ? std::span<const double>(kKernel2)
                                          : std::span<const double>(kKernel4);
}

std::span<const double> DataMatrix(KernelBasis basis) {
  MXC_CHECK(basis != KernelBasis::kPlain);
  return basis == KernelBasis::kWinograd2 ? std::span<const double>(kData2)
                                          : std::span<const double>(kData4);
}

std::span<const double> OutputMatrix(KernelBasis basis) {
  MXC_CHECK(basis != KernelBasis::kPlain);
  return basis == KernelBasis::kWinograd2 ? std::span<const double>(kOutput2)
                                          : std::span<const double>(kOutput4);
}

std::span<const double> WideKernelMatrix(KernelBasis basis) {
  MXC_CHECK(basis != KernelBasis::kPlain);
  return basis == KernelBasis::kWinograd2
             ? std::span<const double>(kWideKernel2)
             : std::span<const double>(kWideKernel4);
}

std::span<const double> WideOutputMatrix(KernelBasis basis) {
  MXC_CHECK(basis != KernelBasis::kPlain);
  return basis == KernelBasis::kWinograd2
             ? std::span<const double>(kWideOutput2)
             : std::span<const double>(kWideOutput4);
}

}  // namespace mxc
