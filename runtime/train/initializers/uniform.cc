// SPDX-License-Identifier: Apache-2.0
// U[−scale, scale)
#include "runtime/train/initializers/declarations.h"
#include "runtime/train/random.h"

namespace mxc::train {
namespace {

class Uniform : public Initializer {
 public:
  explicit Uniform(ArgumentReader& arguments) {
    if (!arguments.ReadPositional(scale_)) arguments.Read("scale", scale_);
  }

  Status Fill(const Target& target) const override {
    RandomStream(target.seed, target.name).FillUniform(scale_, target.values);
    return {};
  }

 private:
  double scale_ = 0.07;
};

}  // namespace

InitializerRef MakeInitializer_uniform(ArgumentReader& arguments) {
  return std::make_shared<Uniform>(arguments);
}

}  // namespace mxc::train
