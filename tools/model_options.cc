// SPDX-License-Identifier: Apache-2.0
#include "tools/model_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "frontend/attach_loss.h"
#include "tools/driver/shape_text.h"
#include "tools/driver/unplaced_error.h"
#include "tools/usage/values.h"

namespace mxc {
namespace {

// "float32, float64, …": what an input's type may be.
std::string TypeNames() {
  std::string names;
  for (int64_t flag = 0; DTypeFromFlag(flag); ++flag) {
    names +=
        (flag > 0 ? ", " : "") + std::string(MxnetName(*DTypeFromFlag(flag)));
  }
  return names;
}

Result<InputTypes> ParseInputTypes(const std::vector<std::string>& texts) {
  InputTypes types;
  Diagnostics errors;
  for (const std::string& text : texts) {
    const size_t colon = text.rfind(':');
    const auto type = colon == text.npos || colon == 0
                          ? std::nullopt
                          : DTypeFromMxnetName(text.substr(colon + 1));
    if (!type) {
      errors.push_back(UnplacedError(fmt::format(
          "--input-type '{}' names no type; expected NAME:TYPE, where TYPE is "
          "one of {}",
          text, TypeNames())));
    } else if (!types.emplace(text.substr(0, colon), *type).second) {
      errors.push_back(UnplacedError(
          fmt::format("--input-type gives '{}' twice", text.substr(0, colon))));
    }
  }
  if (!errors.empty()) return errors;
  return types;
}

void AddStateOptions(CLI::App& app, NetworkState& state) {
  app.add_option_function<std::string>(
         "--phase",
         [&state](const std::string& phase) {
           state.training = phase == "train";
         },
         "of a Caffe net: which of its layers are meant")
      ->check(OneOf({"train", "test"}))
      ->default_str(state.training ? "train" : "test");
  app.add_option("--stage", state.stages,
                 "of a Caffe net: a stage that its state has (repeatable)")
      ->allow_extra_args(false)
      ->type_name("NAME");
  app.add_option("--level", state.level, "of a Caffe net: its state's level");
}

}  // namespace

void AddModelOptions(CLI::App& app, NetworkRequest& request,
                     InputTexts& inputs) {
  app.option_defaults()->group("Network");
  app.add_option("MODEL", request.model,
                 "a network: ONNX, MXNet's symbol JSON, Caffe's prototxt or "
                 "mxc's own JSON");
  app.add_option("--input-shape", inputs.shapes,
                 "shape of an input (repeatable)")
      ->type_name("NAME:1x3x224x224")
      ->allow_extra_args(false);
  app.add_option("--input-type", inputs.types,
                 "element type of an input (repeatable; default: as the "
                 "parameters' arrays have it, else as the network says): " +
                     TypeNames())
      ->type_name("NAME:float16")
      ->allow_extra_args(false);
  app.add_option_function<std::vector<std::string>>(
         "--bind",
         [&request](const std::vector<std::string>& texts) {
           for (const std::string& text : texts) {
             const size_t equals = text.find('=');
             const std::string name = text.substr(0, equals);
             if (!request.bound.emplace(name, text.substr(equals + 1)).second) {
               throw CLI::ValidationError(
                   "--bind", fmt::format("gives '{}' twice", name));
             }
           }
         },
         "the value of an input, once and for all, which is no input then: "
         "where an ONNX network computes shapes of it (repeatable)")
      ->check([](const std::string& text) {
        const size_t equals = text.find('=');
        return equals == text.npos || equals == 0
                   ? fmt::format("'{}' is not NAME=FILE", text)
                   : std::string();
      })
      ->type_name("NAME=x.npy")
      ->allow_extra_args(false);
  app.add_option("--loss", request.loss,
                 fmt::format("what the network learns by, where it has no loss "
                             "head: {}; NAME:OUTPUT where it has several "
                             "outputs",
                             fmt::join(LossNames(), ", ")))
      ->check([](const std::string& text) {
        const auto names = LossNames();
        const std::string name = text.substr(0, text.find(':'));
        return std::ranges::count(names, name) > 0
                   ? std::string()
                   : fmt::format("loss '{}' is unknown; known: {}", name,
                                 fmt::join(names, ", "));
      })
      ->type_name("NAME");
  AddStateOptions(app, request.state);
}

std::string InitializersHelp() {
  return "xavier, msra, uniform, normal, orthogonal, constant:V, zero, one; "
         "xavier:gaussian,in,2; 'load:F.params;.*_bias=>constant:1;xavier'";
}

void AddWeightOptions(CLI::App& app, NetworkRequest& request) {
  app.option_defaults()->group("Weights");
  app.add_option("--params", request.params,
                 "the parameter file: .params, .npz, .safetensors or the index "
                 "(.json) of several .safetensors (default: the .params beside "
                 "MODEL)")
      ->type_name("FILE");
  app.add_option("--epoch", request.epoch,
                 "take the parameters PREFIX-NNNN.params")
      ->check(AtLeast(0))
      ->excludes("--params")
      ->type_name("NNNN");
  app.add_option("--init", request.init,
                 "initialize missing parameters, and those of which --params "
                 "has other shapes: " +
                     InitializersHelp())
      ->each([&request](const std::string&) { request.refits = true; })
      ->type_name("HOW");
  app.add_option("--seed", request.seed, "of the values that --init makes up")
      ->check(AtLeast(0))
      ->capture_default_str();
}

void AddClassesOption(CLI::App& app, NetworkRequest& request) {
  app.option_defaults()->group("Weights");
  app.add_option("--classes", request.classes,
                 "give the network's last layer N outputs; its parameters "
                 "begin anew, by --init, where --params has others")
      ->check(Between(kLeastClasses, kMostClasses))
      ->type_name("N");
}

Result<InputShapes> ParseInputShapes(const std::vector<std::string>& texts) {
  InputShapes shapes;
  Diagnostics errors;
  for (const std::string& text : texts) {
    const auto shape = ParseNamedShape(text);
    if (!shape) {
      errors.push_back(UnplacedError(fmt::format(
          "--input-shape '{}' is no shape; expected NAME:1x3x224x224", text)));
    } else if (!shapes.insert(*shape).second) {
      errors.push_back(UnplacedError(
          fmt::format("--input-shape gives '{}' twice", shape->first)));
    }
  }
  if (!errors.empty()) return errors;
  return shapes;
}

Result<Specialization> ParseInputs(const InputTexts& inputs, int64_t batch) {
  Specialization of;
  of.batch = batch;
  Diagnostics errors;
  TakeOrAdd(ParseInputShapes(inputs.shapes), of.shapes, errors);
  TakeOrAdd(ParseInputTypes(inputs.types), of.types, errors);
  if (!errors.empty()) return errors;
  return of;
}

}  // namespace mxc
