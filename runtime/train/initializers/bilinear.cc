// SPDX-License-Identifier: Apache-2.0
// The kernel of bilinear upsampling, the same for every channel. As in MXNet
// the width of the kernel serves for both axes.
#include <cmath>

#include "runtime/train/initializers/declarations.h"

namespace mxc::train {
namespace {

class Bilinear : public Initializer {
 public:
  Status Fill(const Target& target) const override {
    if (target.shape.size() != 4) {
      return Fail(StatusCode::kInvalidArgument,
                  "bilinear needs four axes, but '%s' has %zu",
                  target.name.c_str(), target.shape.size());
    }
    const auto width = static_cast<size_t>(target.shape[3]);
    const auto height = static_cast<size_t>(target.shape[2]);
    const double f = std::ceil(static_cast<double>(width) / 2);
    const double c = (2 * f - 1 - std::fmod(f, 2)) / (2 * f);
    for (size_t i = 0; i < target.values.size(); ++i) {
      const auto x = static_cast<double>(i % width);
      const auto y = static_cast<double>(i / width % height);
      target.values[i] = static_cast<float>((1 - std::abs(x / f - c)) *
                                            (1 - std::abs(y / f - c)));
    }
    return {};
  }
};

}  // namespace

InitializerRef MakeInitializer_bilinear(ArgumentReader&) {
  return std::make_shared<Bilinear>();
}

}  // namespace mxc::train
