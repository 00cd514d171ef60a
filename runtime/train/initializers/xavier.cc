// SPDX-License-Identifier: Apache-2.0
// xavier and msraprelu: s = √(magnitude / fan), then U[−s, s) or N(0, s).
//
// The fan of a weight (out, in, window…) is in·window, out·window or their
// mean. Weights of a deconvolution are (in, out, …): there the two are swapped,
// as in MXNet.
#include <cmath>

#include "runtime/train/initializers/declarations.h"
#include "runtime/train/random.h"

namespace mxc::train {
namespace {

struct XavierRule {
  double magnitude = 3;
  int fan = 0;  // avg, in, out
  bool gaussian = false;
};

const std::vector<std::string_view> kFans = {"avg", "in", "out"};
const std::vector<std::string_view> kDistributions = {"uniform", "gaussian"};

int IndexOf(const std::vector<std::string_view>& words, std::string_view word) {
  for (size_t i = 0; i < words.size(); ++i) {
    if (words[i] == word) return static_cast<int>(i);
  }
  return -1;
}

class Xavier : public Initializer {
 public:
  explicit Xavier(XavierRule rule) : rule_(rule) {}

  Status Fill(const Target& target) const override {
    if (target.shape.size() < 2) {
      return Fail(StatusCode::kInvalidArgument,
                  "xavier needs at least two axes, but '%s' has %zu",
                  target.name.c_str(), target.shape.size());
    }
    double window = 1;
    for (size_t axis = 2; axis < target.shape.size(); ++axis) {
      window *= static_cast<double>(target.shape[axis]);
    }
    const double in = static_cast<double>(target.shape[1]) * window;
    const double out = static_cast<double>(target.shape[0]) * window;
    const double fan =
        rule_.fan == 0 ? (in + out) / 2 : (rule_.fan == 1 ? in : out);
    const double scale = std::sqrt(rule_.magnitude / fan);
    const RandomStream random(target.seed, target.name);
    if (rule_.gaussian) {
      random.FillNormal(scale, target.values);
    } else {
      random.FillUniform(scale, target.values);
    }
    return {};
  }

 private:
  XavierRule rule_;
};

}  // namespace

InitializerRef MakeInitializer_xavier(ArgumentReader& arguments) {
  XavierRule rule;
  int distribution = 0;
  arguments.Read("rnd_type", kDistributions, distribution);
  arguments.Read("factor_type", kFans, rule.fan);
  arguments.Read("magnitude", rule.magnitude);
  for (std::string word; !(word = arguments.NextPositional()).empty();) {
    if (const int index = IndexOf(kDistributions, word); index >= 0) {
      distribution = index;
    } else if (const int fan = IndexOf(kFans, word); fan >= 0) {
      rule.fan = fan;
    } else if (!ParseNumber(word, rule.magnitude)) {
      arguments.Refuse("initializer 'xavier' has an illegal argument '" + word +
                       "'");
    }
  }
  if (!(rule.magnitude > 0)) {
    arguments.Refuse("initializer 'xavier': the magnitude must be positive");
  }
  rule.gaussian = distribution == 1;
  return std::make_shared<Xavier>(rule);
}

InitializerRef MakeInitializer_msraprelu(ArgumentReader& arguments) {
  XavierRule rule{.gaussian = true};
  double slope = 0.25;
  arguments.Read("factor_type", kFans, rule.fan);
  arguments.Read("slope", slope);
  for (std::string word; !(word = arguments.NextPositional()).empty();) {
    if (const int fan = IndexOf(kFans, word); fan >= 0) {
      rule.fan = fan;
    } else if (!ParseNumber(word, slope)) {
      arguments.Refuse("initializer 'msra' has an illegal argument '" + word +
                       "'");
    }
  }
  rule.magnitude = 2 / (1 + slope * slope);
  return std::make_shared<Xavier>(rule);
}

}  // namespace mxc::train
