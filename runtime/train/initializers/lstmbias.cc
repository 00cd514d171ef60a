// SPDX-License-Identifier: Apache-2.0
// The bias of an LSTM cell, gates in the order input, forget, cell, output:
// forget_bias for the forget gate, 0 for the others.
#include <algorithm>

#include "runtime/train/initializers/declarations.h"

namespace mxc::train {
namespace {

class LstmBias : public Initializer {
 public:
  explicit LstmBias(ArgumentReader& arguments) {
    if (!arguments.ReadPositional(forget_bias_)) {
      arguments.Read("forget_bias", forget_bias_);
    }
  }

  Status Fill(const Target& target) const override {
    const size_t gate = target.values.size() / 4;
    std::ranges::fill(target.values, 0.0f);
    std::ranges::fill(target.values.subspan(gate, gate),
                      static_cast<float>(forget_bias_));
    return {};
  }

 private:
  double forget_bias_ = 1;
};

}  // namespace

InitializerRef MakeInitializer_lstmbias(ArgumentReader& arguments) {
  return std::make_shared<LstmBias>(arguments);
}

}  // namespace mxc::train
