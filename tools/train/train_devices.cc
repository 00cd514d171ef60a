// SPDX-License-Identifier: Apache-2.0
#include "tools/train/train_devices.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include <algorithm>

#include "frontend/variables.h"
#include "ir/target/target.h"
#include "runtime/device/device.h"
#include "tools/driver/unplaced_error.h"

namespace mxc {

void ChooseTarget(const std::string& devices, CompileRequest& request) {
  if (request.target != CompileRequest().target) return;
  const std::string target = TargetOfDevice(devices);
  if (!target.empty()) request.target = target;
}

Status DealBatch(const std::string& devices, const Model& model,
                 CompileRequest& request) {
  const int64_t parts = 1 + std::ranges::count(devices, ',');
  if (parts == 1) return Done{};
  request.training.replicas = static_cast<int>(parts);
  Diagnostics errors;
  if (!request.buckets.empty()) {
    errors.push_back(
        UnplacedError("sequences of several lengths train on one device"));
  }
  for (auto& [name, shape] : request.input_shapes) {
    const Node* input = model.graph.FindVariable(name);
    if (shape.empty() || input == nullptr) continue;
    const auto rank = static_cast<int>(shape.size());
    if (shape[0] % parts != 0 || BatchAxis(*input, rank) != 0) {
      errors.push_back(UnplacedError(fmt::format(
          "'{}' of shape {} cannot be dealt to {} devices: they take equal "
          "parts along the first axis, which is the batch's",
          name, ToString(Shape(Extents(shape.begin(), shape.end()))), parts)));
    }
    shape[0] /= parts;
  }
  if (!errors.empty()) return errors;
  return Done{};
}

Status RequireDevices(const std::string& devices) {
  Diagnostics errors;
  for (const std::string& name : CLI::detail::split(devices, ',')) {
    if (name.empty()) continue;
    const auto device = runtime::FindDevice(name.c_str());
    if (!device.ok()) {
      errors.push_back(UnplacedError(device.status().message()));
    } else if (!(*device)->IsHost()) {
      const auto stream = (*device)->OpenStream(1, nullptr);
      if (stream.ok()) continue;
      errors.push_back(UnplacedError(stream.status().message()));
    }
  }
  if (!errors.empty()) return errors;
  return Done{};
}

}  // namespace mxc
