// SPDX-License-Identifier: Apache-2.0
// zero, one, constant: one value everywhere, or a value for each element.
#include <algorithm>

#include "runtime/train/initializers/declarations.h"

namespace mxc::train {
namespace {

class Constant : public Initializer {
 public:
  explicit Constant(std::vector<double> values) : values_(std::move(values)) {}

  Status Fill(const Target& target) const override {
    if (values_.size() == 1) {
      std::ranges::fill(target.values, static_cast<float>(values_[0]));
      return {};
    }
    if (values_.size() != target.values.size()) {
      return Fail(StatusCode::kInvalidArgument,
                  "constant has %zu values, but '%s' has %zu elements",
                  values_.size(), target.name.c_str(), target.values.size());
    }
    for (size_t i = 0; i < values_.size(); ++i) {
      target.values[i] = static_cast<float>(values_[i]);
    }
    return {};
  }

 private:
  std::vector<double> values_;
};

}  // namespace

InitializerRef MakeInitializer_zero(ArgumentReader&) {
  return std::make_shared<Constant>(std::vector<double>{0});
}

InitializerRef MakeInitializer_one(ArgumentReader&) {
  return std::make_shared<Constant>(std::vector<double>{1});
}

InitializerRef MakeInitializer_constant(ArgumentReader& arguments) {
  std::vector<double> values;
  double value = 0;
  if (arguments.ReadPositional(value)) {
    values = {value};
  } else if (!arguments.Read("value", values)) {
    arguments.Refuse("initializer 'constant' needs a value: constant:0.5");
  }
  return std::make_shared<Constant>(std::move(values));
}

}  // namespace mxc::train
