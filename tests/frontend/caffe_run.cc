// SPDX-License-Identifier: Apache-2.0
#include "tests/frontend/caffe_run.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/ir/op_run.h"

namespace mxc {

std::vector<double> CaffeRun::Values(int i) const {
  REQUIRE_MESSAGE(error.empty(), error);
  return ValuesOf(outputs.at(static_cast<size_t>(i)));
}

std::string CaffeRun::ShapeOf(int i) const {
  REQUIRE_MESSAGE(error.empty(), error);
  return ToString(outputs.at(static_cast<size_t>(i)).shape());
}

Result<Model> LoadCaffe(const std::string& text, const LoadOptions& options) {
  return LoadText(
      std::make_shared<SourceFile>(SourceFile{"net.prototxt", text}), options);
}

CaffeRun RunCaffe(const std::string& text,
                  const std::map<std::string, Tensor>& values,
                  const LoadOptions& options) {
  CaffeRun run;
  auto model = LoadCaffe(text, options);
  Status typed = Done{};
  if (model.ok()) typed = InferTypes(model->graph, /*complete=*/true);
  if (!model.ok() || !typed.ok()) {
    const Diagnostic& error =
        model.ok() ? typed.errors()[0] : model.errors()[0];
    run.error = fmt::format("{}:{} {}", error.loc.line, error.loc.column,
                            error.message);
    return run;
  }
  run.names = model->graph.output_names;
  const std::vector<Value> outputs = model->graph.outputs;
  run.outputs = EvaluateValues(model->graph, outputs, values,
                               /*all_double=*/false);
  return run;
}

std::string CaffeInputs(const std::map<std::string, Tensor>& inputs) {
  std::string text;
  for (const auto& [name, tensor] : inputs) {
    text += fmt::format("input: '{}' input_shape {{ ", name);
    for (const int64_t dim : tensor.shape().dims()) {
      text += fmt::format("dim: {} ", dim);
    }
    text += "}\n";
  }
  return text;
}

CaffeRun RunLayer(const std::string& type, const std::string& more,
                  const Tensor& x,
                  const std::map<std::string, Tensor>& parameters) {
  std::map<std::string, Tensor> values = parameters;
  values["x"] = x;
  return RunCaffe(CaffeInputs({{"x", x}}) +
                      fmt::format("layer {{ name: 'y' type: '{}' bottom: 'x' "
                                  "top: 'y' {} }}",
                                  type, more),
                  values);
}

}  // namespace mxc
