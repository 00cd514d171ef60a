// SPDX-License-Identifier: Apache-2.0
// Values for the parameters that no file gives.
#include <fmt/format.h>

#include "ir/support/work_count.h"
#include "runtime/base/memory.h"
#include "runtime/train/parameter_initializer.h"
#include "runtime/train/random.h"
#include "tools/driver/figures.h"
#include "tools/driver/initial_value.h"
#include "tools/driver/network.h"
#include "tools/driver/unplaced_error.h"

namespace mxc {
namespace {

// The text of a variable's __init__; MXNet also wrote it without underscores.
std::string InitAnnotation(const Node& variable) {
  const std::string* text = variable.written.Annotation("__init__");
  return text == nullptr ? "" : *text;
}

// Numbers for a network whose weights do not matter, whatever its names are.
train::Status MakeUp(const train::Target& target) {
  train::RandomStream(target.seed, target.name)
      .FillUniform(0.07, target.values);
  return {};
}

// What no file gives, and only its shape matters: made if somebody asks after
// all.
Tensor MadeUp(const std::string& name, const TensorType& type, uint64_t seed) {
  return Tensor::Deferred(
      type, [=] { return std::move(*InitialValue(name, type, seed, MakeUp)); });
}

// MXNet binds what no file gives as float32.
TensorType InitialType(const Node& variable) {
  TensorType type = variable.types[0];
  if (type.dtype == DType::kUnknown) type.dtype = DType::kF32;
  return type;
}

// Values are made where they will stay. A machine that has no room for them
// would kill us half-way.
Status RequireMemory(const std::vector<Node*>& variables) {
  const auto available = runtime::AvailableMemory();
  uint64_t bytes = 0;
  const Node* largest = nullptr;
  for (const Node* variable : variables) {
    if (!variable->types[0].shape.known()) continue;
    bytes += static_cast<uint64_t>(InitialType(*variable).bytes());
    if (!largest ||
        InitialType(*variable).bytes() > InitialType(*largest).bytes()) {
      largest = variable;
    }
  }
  if (!available || bytes <= *available) return Done{};
  return Error(largest->loc,
               "out of memory: the parameters that --init makes have {}, '{}' "
               "{} of them; {} are free",
               FormatBytes(static_cast<int64_t>(bytes)), largest->name,
               FormatBytes(InitialType(*largest).bytes()),
               FormatBytes(static_cast<int64_t>(*available)));
}

// Gives the model what was drawn before, and returns the others.
std::vector<Node*> NotDrawn(const std::map<std::string, Tensor>& drawn,
                            Model& model) {
  std::vector<Node*> missing = MissingParameters(model);
  std::erase_if(missing, [&](const Node* variable) {
    const auto known = drawn.find(variable->name);
    if (known == drawn.end() ||
        known->second.type() != InitialType(*variable)) {
      return false;
    }
    model.parameters[variable->name] = known->second;
    return true;
  });
  return missing;
}

}  // namespace

Status InitializeMissing(const NetworkRequest& request, Model& model,
                         std::map<std::string, Tensor>& drawn) {
  const std::vector<Node*> missing = NotDrawn(drawn, model);
  const auto initializer = train::ParameterInitializer::Parse(
      request.make_up_weights ? "" : request.init);
  if (!initializer.ok()) return UnplacedError(initializer.status().message());
  if (!request.make_up_weights) MXC_RETURN_IF_ERROR(RequireMemory(missing));
  Diagnostics errors;
  for (const Node* variable : missing) {
    ThrowIfCancelled(request.is_cancelled);
    const TensorType type = InitialType(*variable);
    if (!type.shape.known()) {
      errors.push_back(Error(variable->loc,
                             "shape of parameter '{}' does not follow from the "
                             "inputs; give --input-shape",
                             variable->name));
      continue;
    }
    const auto fill = [&](const train::Target& target) {
      return initializer->Fill(target, InitAnnotation(*variable));
    };
    Result<Tensor> value =
        request.make_up_weights
            ? MadeUp(variable->name, type, request.seed)
            : InitialValue(variable->name, type, request.seed, fill);
    if (value.ok()) {
      drawn[variable->name] = *value;
      model.parameters[variable->name] = std::move(*value);
      continue;
    }
    for (Diagnostic error : value.errors()) {
      error.loc = variable->loc;
      errors.push_back(std::move(error));
    }
  }
  if (!errors.empty()) return errors;
  return Done{};
}

}  // namespace mxc
