// SPDX-License-Identifier: Apache-2.0
// What a step tells of its last run: outputs, norms of gradients, and where a loss
// that is not finite comes from.
#include <cmath>
#include <cstdlib>
#include <optional>

#include "runtime/executor/non_finite.h"
#include "runtime/train/floats.h"
#include "runtime/train/step/artifact_step.h"

namespace mxc::train {

using runtime::Format;
using runtime::StatusOr;

double NormOf(std::span<const float> values) {
  double squares = 0;
  for (const float value : values) {
    squares += static_cast<double>(value) * static_cast<double>(value);
  }
  return std::sqrt(squares);
}

std::vector<FloatView> ArtifactStep::outputs() const {
  std::vector<FloatView> views;
  if (last_ == nullptr) return views;
  const runtime::Executor& executor = *last_->executor;
  const auto outputs = model_->tables().Outputs(executor.entry());
  for (size_t k = 0; k < outputs.size(); ++k) {
    const mxc_buffer& buffer = executor.buffers()[outputs[k]];
    const auto type = static_cast<runtime::ElementType>(buffer.dtype);
    if (static_cast<int>(k) == last_->loss || !runtime::IsFloat(type) ||
        buffer.role == MXC_TENSOR_GRADIENT || buffer.role == MXC_TENSOR_ROWS ||
        buffer.role == MXC_TENSOR_METRIC) {
      continue;
    }
    views.push_back(
        {OutputAsFloats(k, type, buffer.bytes),
         std::vector<int64_t>(buffer.dims, buffer.dims + buffer.rank)});
  }
  return views;
}

std::vector<float> ArtifactStep::gradient_norms() const {
  std::vector<float> norms;
  if (last_ == nullptr) return norms;
  const runtime::Executor& executor = *last_->executor;
  const auto outputs = model_->tables().Outputs(executor.entry());
  for (size_t k = 0; k < outputs.size(); ++k) {
    const mxc_buffer& buffer = executor.buffers()[outputs[k]];
    const bool told = buffer.role == MXC_TENSOR_METRIC;
    const bool given = buffer.role == MXC_TENSOR_GRADIENT;
    if (!(told || given) || buffer.index >= facts_.parameters.size()) continue;
    norms.resize(facts_.parameters.size(), std::nanf(""));
    const auto values = OutputAsFloats(
        k, static_cast<runtime::ElementType>(buffer.dtype), buffer.bytes);
    norms[buffer.index] =
        told ? values[0] : static_cast<float>(Rescale() * NormOf(values));
  }
  return norms;
}

std::optional<double> ArtifactStep::GivenRescale() const {
  for (const auto& [name, value] : facts_.optimizer_options) {
    if (name == "rescale_grad") return std::atof(value.c_str());
  }
  return std::nullopt;
}

// As the compiler says (tools/driver/plan.cc).
double ArtifactStep::Rescale() const {
  if (const auto given = GivenRescale()) return *given;
  const std::vector<int64_t> shape = FieldOf(*last_, last_->data[0]).shape;
  return shape.empty() ? 1 : 1 / static_cast<double>(shape[0]);
}

std::span<const float> ArtifactStep::OutputAsFloats(size_t output,
                                                    runtime::ElementType type,
                                                    uint64_t bytes) const {
  const std::byte* values = last_->executor->OutputStorage(output);
  if (type == runtime::ElementType::kF32) {
    return {reinterpret_cast<const float*>(values), bytes / sizeof(float)};
  }
  std::vector<float>& floats = converted_[output];
  ToFloats(type, {values, bytes}, floats);
  return floats;
}

StatusOr<std::string> ArtifactStep::ExplainLoss() {
  if (last_ == nullptr) return std::string();
  const auto found = runtime::FindNonFinite(*last_->executor);
  if (!found.ok()) return found.status();
  if (!found->has_value()) return std::string();
  const runtime::Executor& executor = *last_->executor;
  const mxc_buffer& buffer = executor.buffers()[(*found)->buffer];
  const std::string tensor = Name(buffer);
  if ((*found)->step) {
    const mxc_step& step =
        model_->tables().Steps(executor.entry())[*(*found)->step];
    return Format("step %zu, '%s', wrote %g into '%s'", *(*found)->step,
                  model_->tables().Text(step.name), (*found)->value,
                  tensor.c_str());
  }
  return Format(
      "%s '%s' holds %g before the first step",
      buffer.kind == MXC_BUFFER_STATE ? "parameter or state" : "input",
      tensor.c_str(), (*found)->value);
}

}  // namespace mxc::train
