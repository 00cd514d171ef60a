// SPDX-License-Identifier: Apache-2.0
// Convolutions of random geometry, whose kernels often cover most of their
// input, as networks of one operator: forward, and both gradients.
#pragma once

#include <fmt/format.h>

#include <random>
#include <string>
#include <vector>

#include "tests/passes/network.h"

namespace mxc {

struct RandomConvolution {
  std::vector<AttrText> attrs;
  Shape data, weight, output;
  Extents extent;  // of data's spatial axes

  explicit RandomConvolution(uint32_t seed) : random_(seed) {
    const int64_t rank = Pick(1, 3), groups = Pick(0, 2) == 0 ? Pick(2, 3) : 1;
    const int64_t depth = Pick(1, 4), filters = groups * Pick(1, 4);
    const bool last = rank > 1 && Pick(0, 4) == 0;
    Extents kernel, stride, dilate, pad, positions;
    for (int64_t d = 0; d < rank; ++d) {
      kernel.push_back(Pick(1, rank == 3 ? 4 : 8));
      stride.push_back(Pick(0, 2) == 0 ? Pick(2, 4) : 1);
      dilate.push_back(Pick(0, 3) == 0 ? Pick(2, 3) : 1);
      const int64_t span = dilate[d] * (kernel[d] - 1) + 1;
      pad.push_back(Pick(0, 2) == 0 ? Pick(0, span / 2) : 0);
      const int64_t room = Pick(0, 1) == 0 ? 0 : Pick(1, 6);
      extent.push_back(std::max<int64_t>(1, span - 2 * pad[d] + room));
      positions.push_back((extent[d] + 2 * pad[d] - span) / stride[d] + 1);
    }
    const auto shape = [&](int64_t first, int64_t channels,
                           const Extents& rest) {
      Extents dims = rest;
      dims.insert(last ? dims.end() : dims.begin(), channels);
      dims.insert(dims.begin(), first);
      return Shape(dims);
    };
    const int64_t batch = Pick(1, 3);
    data = shape(batch, groups * depth, extent);
    weight = shape(filters, depth, kernel);
    output = shape(batch, filters, positions);
    attrs = {{"kernel", ToString(kernel)},
             {"stride", ToString(stride)},
             {"dilate", ToString(dilate)},
             {"pad", ToString(pad)},
             {"num_filter", std::to_string(filters)},
             {"num_group", std::to_string(groups)},
             {"layout", !last       ? "None"
                        : rank == 2 ? "NHWC"
                                    : "NDHWC"}};
  }

  Network Forward() const {
    return OneOperator("Convolution", data, weight, {{"no_bias", "True"}});
  }
  Network DataGradient() const {
    return OneOperator("_convolution_backward_data", output, weight,
                       {{"extent", ToString(extent)}});
  }
  Network WeightGradient() const {
    return OneOperator("_convolution_backward_weight", data, output, {});
  }

  std::string text() const {
    std::string all = ToString(data) + " → " + ToString(output);
    for (const auto& [name, value] : attrs) all += " " + name + value;
    return all;
  }

 private:
  int64_t Pick(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random_);
  }

  // Of inputs a and b.
  Network OneOperator(const std::string& op, const Shape& a, const Shape& b,
                      const std::vector<AttrText>& more) const {
    Network net("convolution");
    std::vector<AttrText> all = attrs;
    all.insert(all.end(), more.begin(), more.end());
    net.Output(net.Op(op, "op", {net.Input("a", a), net.Input("b", b)}, all));
    return net;
  }

  std::mt19937 random_;
};

}  // namespace mxc
