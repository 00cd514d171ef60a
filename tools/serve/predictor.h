// SPDX-License-Identifier: Apache-2.0
// From the body of a request to what the network says of it.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "tools/run/feed.h"
#include "tools/run/session.h"
#include "tools/serve/message.h"

namespace mxc::serve {

// Used by several threads at once; each has executors of its own, which share
// the model's weights.
class Predictor {
 public:
  Predictor(run::Session session, run::PictureOptions pictures);

  // {"network", "inputs": [{name, dtype, shape}…], "outputs": […], "classes"}
  Json Describe() const;

  // A .npy, a JPEG or a PNG, for the input of that name; without one for the only
  // input that is read.
  struct Part {
    std::string input;
    std::string_view content;
  };

  // One sample or any number of them. {"top": …} of the `top` best classes, or
  // with 0 {"outputs": [{name, shape, dtype, values}…]}. Throws a run::Failure
  // where the parts are at fault.
  Json Predict(const std::vector<Part>& parts, int top);

 private:
  void RequireParts(const std::vector<Part>& parts) const;

  const run::Session session_;
  run::Feed feed_;  // without files
  const std::vector<std::string> labels_;
};

}  // namespace mxc::serve
