// SPDX-License-Identifier: Apache-2.0
// Random networks of the operators that passes and kernels treat differently.
#pragma once

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "tests/passes/network.h"

namespace mxc {

// Values are pictures f[N, C, H, W]; each new one is made of earlier ones.
class RandomNetwork {
 public:
  // Up to `width` channels, in multiples of `block`: parts of Concat and slices
  // may then be whole blocks. `images`: the batch, or 1 or 2 by chance.
  RandomNetwork(int seed, int width, int block = 1, int images = 0)
      : width_(width), block_(block), random_(static_cast<unsigned>(seed)) {
    const int few = 1 + Pick(2);
    Keep(net_.Input("data", {images > 0 ? images : few, Channels(), 6, 5}));
    const int layers = 4 + Pick(10);
    for (int i = 0; i < layers; ++i) Keep(Layer("n" + std::to_string(i)));
    for (size_t i = 0; i < values_.size(); ++i) {
      if (reads_[i] == 0 || Pick(8) == 0) net_.Output(values_[i].value);
    }
  }
  const Network& network() const { return net_; }
  int Pick(int n) {
    return static_cast<int>(random_() % static_cast<unsigned>(n));
  }

 private:
  struct Picture {
    Value value;
    Shape shape;
  };

  int64_t Channels() { return block_ * (1 + Pick(width_ / block_)); }

  void Keep(Value value) {
    net_.graph.outputs.push_back(value);  // types of what an output needs
    const auto inferred = InferTypes(net_.graph, /*complete=*/true);
    MXC_CHECK(inferred.ok(), "{}", Render(inferred.errors()));
    net_.graph.outputs.pop_back();
    values_.push_back({value, value.shape()});
    reads_.push_back(0);
  }

  size_t Choose() {
    const size_t recent = std::min<size_t>(values_.size(), 4);
    const size_t i = values_.size() - 1 -
                     static_cast<size_t>(Pick(static_cast<int>(recent)));
    ++reads_[i];
    return i;
  }

  // Another value of equal shape, or of equal N, H, W.
  const Picture* Match(const Picture& with, bool same_channels) {
    for (size_t i = values_.size(); i-- > 0;) {
      const Shape& s = values_[i].shape;
      const bool fits = s[0] == with.shape[0] && s[2] == with.shape[2] &&
                        s[3] == with.shape[3] &&
                        (!same_channels || s[1] == with.shape[1]);
      if (fits && values_[i].value.node != with.value.node) {
        ++reads_[i];
        return &values_[i];
      }
    }
    return nullptr;
  }

  static int64_t Least(const Picture& x) {
    return std::min(x.shape[2], x.shape[3]);
  }

  Value Layer(const std::string& name) {
    const Picture x = values_[Choose()];
    const int64_t channels = x.shape[1];
    switch (Pick(15)) {
      case 0:
      case 1:
        return net_.Convolution(name, x.value, channels, Channels(), 3,
                                {{"pad", "(1, 1)"}});
      case 2:
        return net_.Convolution(name, x.value, channels,
                                width_ / block_ * block_, 1,
                                {{"stride", Pick(2) == 0 ? "(2, 2)" : "(1, 1)"},
                                 {"no_bias", Pick(2) == 0 ? "True" : "False"}});
      case 3:
        return net_.Convolution(name, x.value, channels, channels, 3,
                                {{"pad", "(1, 1)"}, {"no_bias", "True"}},
                                channels);
      case 4:
        return net_.BatchNorm(name, x.value, channels);
      case 5:
        return net_.Op("Activation", name, {x.value}, {{"act_type", "relu"}});
      case 6:
        return net_.Op("tanh", name, {x.value});
      case 7:
        if (const Picture* y = Match(x, true)) {
          return net_.Op("elemwise_add", name, {x.value, y->value});
        }
        return net_.Op("elemwise_mul", name, {x.value, x.value});
      case 8:
        if (const Picture* y = Match(x, false)) {
          return net_.Op("Concat", name, {x.value, y->value},
                         {{"num_args", "2"}});
        }
        return net_.Op("sigmoid", name, {x.value});
      case 9:
        if (Least(x) > 1 && Pick(2) == 0) {
          return net_.Op("Pooling", name, {x.value},
                         {{"pool_type", Pick(2) == 0 ? "max" : "avg"},
                          {"kernel", "(2, 2)"},
                          {"stride", "(2, 2)"}});
        }
        return net_.Op("Pooling", name, {x.value},
                       {{"pool_type", Pick(2) == 0 ? "max" : "avg"},
                        {"kernel", "(3, 3)"},
                        {"stride", "(1, 1)"},
                        {"pad", "(1, 1)"}});
      case 10:
        return net_.Op("transpose", name, {x.value},
                       {{"axes", "(0, 2, 1, 3)"}});
      case 11: {
        const Value view = net_.Op("Reshape", name + "_view", {x.value},
                                   {{"shape", "(0, -1, 1, 0)"}});
        return net_.Op("SoftmaxActivation", name, {view},
                       {{"mode", "channel"}});
      }
      case 12: {
        const int pad = Pick(3), kernel = 3 + Pick(2 * pad + 1);
        return net_.Convolution(
            name, x.value, channels, Channels(),
            std::min<int64_t>(kernel, Least(x) + 2 * pad),
            {{"stride", "(2, 2)"}, {"pad", fmt::format("({0}, {0})", pad)}});
      }
      case 13: {
        const int64_t half = channels / block_ / 2 * block_;
        if (half == 0) return net_.Op("tanh", name, {x.value});
        return net_.Op("slice_axis", name, {x.value},
                       {{"axis", "1"},
                        {"begin", std::to_string(Pick(2) * half)},
                        {"end", std::to_string(channels)}});
      }
      default: {
        const Value mean = net_.Op("mean", name + "_mean", {x.value},
                                   {{"axis", "(2, 3)"}, {"keepdims", "True"}});
        return net_.Op("broadcast_sub", name, {x.value, mean});
      }
    }
  }

  const int width_, block_;
  std::mt19937 random_;
  Network net_{"random"};
  std::vector<Picture> values_;
  std::vector<int> reads_;
};

// Every optional pass with one chance in four.
inline std::set<std::string> RandomlyDisabled(RandomNetwork& random) {
  std::set<std::string> disabled;
  for (const PassDescription& pass : AllPasses()) {
    if (!pass.required && random.Pick(4) == 0) {
      disabled.insert(std::string(pass.name));
    }
  }
  return disabled;
}

}  // namespace mxc
