// SPDX-License-Identifier: Apache-2.0
// From the body of a request to what the network says of it.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tools/run/feed.h"
#include "tools/run/session.h"

namespace mxc::serve {

using Json = nlohmann::ordered_json;

// Used by several threads at once; each has executors of its own, which share
// the model's weights.
class Predictor {
 public:
  Predictor(run::Session session, run::PictureOptions pictures);

  // {"network", "inputs": [{name, dtype, shape}…], "outputs": […], "classes"}
  Json Describe() const;

  // `body` is a .npy, a JPEG or a PNG: one sample or any number of them, for
  // the one input that is read. {"top": …} of the `top` best classes, or with 0
  // {"outputs": [{name, shape, dtype, values}…]}. Throws a run::Failure where
  // the body is at fault.
  Json Predict(const std::string& body, int top);

 private:
  const run::Session session_;
  run::Feed feed_;  // without files
  const std::vector<std::string> labels_;
};

}  // namespace mxc::serve
