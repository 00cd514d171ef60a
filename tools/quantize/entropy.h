// SPDX-License-Identifier: Apache-2.0
// Up to which magnitude 8-bit numbers should reach, so that they say most about
// the distribution of a tensor's values (S. Migacz, 8-bit inference with
// TensorRT, GTC 2017, as MXNet 1.9.1's calib_mode "entropy" computes it).
#pragma once

#include <cstdint>
#include <span>

namespace mxc {

// `histogram`: an odd number of bins of equal width over [-greatest, greatest].
// `levels` of 8-bit numbers: 255 for both signs, 511 where there are no negative
// values, as the bins of these are half of the histogram. For each threshold
// between so many bins and all of them, the values, limited to the threshold,
// are compared with what the levels keep of them; returned is the threshold of
// the least Kullback-Leibler divergence, the lowest of several.
double EntropyThreshold(std::span<const int64_t> histogram, double greatest,
                        int levels);

}  // namespace mxc
