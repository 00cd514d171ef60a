// SPDX-License-Identifier: Apache-2.0
// The transpose of a convolution, of which data's gradient and Deconvolution
// are made, by other ways than a sum over all taps for each element. That sum
// multiplies extent · kernel along an axis where the convolution multiplies
// positions · stride · kernel: far more where few windows cover all of data.
#pragma once

#include <vector>

#include "ir/ops/nn/convolution/convolution_geometry.h"

namespace mxc {

// The transpose of `a` for `gradient` f[N, num_filter, o…], of spatial extents
// `extent`, by operators that multiply at most 2.5 times as often as the
// convolution; empty where the plain sum does, too.
//   narrow axes (one position)  their taps become channels of the output
//   otherwise                   products of all taps, then _fold_windows
std::vector<Value> TransposedByColumns(const ConvolutionGeometry& a,
                                       const Extents& extent,
                                       const Value& gradient,
                                       const Value& weight, GraphBuilder& b);

}  // namespace mxc
