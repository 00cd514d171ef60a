// SPDX-License-Identifier: Apache-2.0
// N(0, sigma)
#include "runtime/train/initializers/declarations.h"
#include "runtime/train/random.h"

namespace mxc::train {
namespace {

class Normal : public Initializer {
 public:
  explicit Normal(ArgumentReader& arguments) {
    if (!arguments.ReadPositional(sigma_)) arguments.Read("sigma", sigma_);
  }

  Status Fill(const Target& target) const override {
    RandomStream(target.seed, target.name).FillNormal(sigma_, target.values);
    return {};
  }

 private:
  double sigma_ = 0.01;
};

}  // namespace

InitializerRef MakeInitializer_normal(ArgumentReader& arguments) {
  return std::make_shared<Normal>(arguments);
}

}  // namespace mxc::train
