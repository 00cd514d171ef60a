// SPDX-License-Identifier: Apache-2.0
#include "runtime/autograd/autograd.h"

#include <algorithm>

#include "runtime/autograd/backward_run.h"

namespace mxc::runtime {
namespace {

std::vector<NDArray> ArraysOf(std::span<const TrackedArray* const> tracked) {
  std::vector<NDArray> arrays;
  for (const TrackedArray* one : tracked) arrays.push_back(one->array);
  return arrays;
}

std::vector<Origin> OriginsOf(std::span<const TrackedArray* const> arrays) {
  std::vector<Origin> origins;
  for (const TrackedArray* array : arrays) {
    origins.push_back(array->origin.IsLive() ? array->origin : Origin());
  }
  return origins;
}

bool IsLive(const TrackedArray* array) { return array->origin.IsLive(); }

std::vector<KeptValue> KeptOf(const RecordedForm& form,
                              std::span<const NDArray> inputs,
                              std::span<const NDArray> outputs,
                              std::span<const NDArray> hidden) {
  std::vector<KeptValue> kept;
  for (const auto [from, index] : form.saved) {
    if (from == SavedValue::From::kInput) {
      kept.emplace_back(inputs[index]);
    } else {
      kept.emplace_back(index < outputs.size()
                            ? outputs[index]
                            : hidden[index - outputs.size()]);
    }
  }
  return kept;
}

}  // namespace

AutogradFlags& AutogradFlags::Here() {
  thread_local AutogradFlags flags;
  return flags;
}

Status Autograd::Call(const std::shared_ptr<CallableOperator>& op,
                      std::span<const TrackedArray* const> inputs,
                      std::vector<TrackedArray>& outputs, bool training) {
  if (AutogradFlags::Here().recording) {
    for (const TrackedArray& output : outputs) {
      if (!output.origin.IsLive()) continue;
      return Fail(StatusCode::kInvalidArgument,
                  "%s is to write an array that was recorded, %s, while the "
                  "thread records; write it outside, or give a new array",
                  op->name().c_str(), output.array.type().Text().c_str());
    }
    if (std::any_of(inputs.begin(), inputs.end(), IsLive)) {
      return CallRecorded(op, inputs, outputs, training);
    }
  }
  std::vector<NDArray> results;
  for (const TrackedArray& output : outputs) results.push_back(output.array);
  MXC_RT_RETURN_IF_ERROR(
      imperative_.Call(op, ArraysOf(inputs), results, training));
  outputs.resize(results.size());
  for (size_t o = 0; o < results.size(); ++o) outputs[o].array = results[o];
  return {};
}

Status Autograd::CallRecorded(const std::shared_ptr<CallableOperator>& op,
                              std::span<const TrackedArray* const> inputs,
                              std::vector<TrackedArray>& outputs,
                              bool training) {
  const std::vector<NDArray> arrays = ArraysOf(inputs);
  MXC_RT_ASSIGN(const auto call, op->Recorded(arrays, training));
  // What the call itself overwrites is not what it read.
  std::vector<KeptValue> read;
  for (const auto [from, index] : call->form.saved) {
    if (from == SavedValue::From::kInput) read.emplace_back(arrays[index]);
  }
  std::vector<NDArray> results, hidden;
  for (const TrackedArray& output : outputs) results.push_back(output.array);
  MXC_RT_RETURN_IF_ERROR(
      imperative_.CallRecorded(op, *call, arrays, results, hidden));
  RecordedRun run{call, KeptOf(call->form, arrays, results, hidden)};
  size_t next = 0;
  for (size_t k = 0; k < run.kept.size(); ++k) {
    if (call->form.saved[k].from != SavedValue::From::kInput) continue;
    run.kept[k].writes = read[next++].writes;
  }
  const auto record =
      std::make_shared<Record>(std::move(run), OriginsOf(inputs));
  outputs.resize(results.size());
  for (size_t o = 0; o < results.size(); ++o) {
    outputs[o] = {results[o], {record, static_cast<uint32_t>(o)}};
  }
  return {};
}

Status Autograd::RecordView(const std::shared_ptr<CallableOperator>& op,
                            const TrackedArray& array, TrackedArray& view) {
  if (!AutogradFlags::Here().recording || !array.origin.IsLive()) return {};
  const std::span<const NDArray> input(&array.array, 1), output(&view.array, 1);
  MXC_RT_ASSIGN(const auto call, op->Recorded(input, false));
  if (call->form.outputs.size() != 1 ||
      call->form.outputs[0] != view.array.type()) {
    return Fail(StatusCode::kInvalidArgument, "%s does not give %s",
                call->text.c_str(), view.array.type().Text().c_str());
  }
  RecordedRun run{call, KeptOf(call->form, input, output, {})};
  view.origin = {std::make_shared<Record>(std::move(run),
                                          std::vector<Origin>{array.origin}),
                 0};
  return {};
}

Status Autograd::RecordFunction(std::span<const TrackedArray* const> inputs,
                                std::span<TrackedArray* const> outputs,
                                std::shared_ptr<UserGradient> gradient) {
  if (!AutogradFlags::Here().recording ||
      std::none_of(inputs.begin(), inputs.end(), IsLive)) {
    return {};
  }
  RecordedFunction function{TypesOf(ArraysOf(inputs)), {}, std::move(gradient)};
  for (const TrackedArray* output : outputs) {
    function.outputs.push_back(output->array.type());
  }
  const auto record =
      std::make_shared<Record>(std::move(function), OriginsOf(inputs));
  for (size_t o = 0; o < outputs.size(); ++o) {
    outputs[o]->origin = {record, static_cast<uint32_t>(o)};
  }
  return {};
}

Status Autograd::Mark(TrackedArray& array, const NDArray& gradient,
                      GradientRequest request) {
  if (request == GradientRequest::kNull) {
    array.origin = {};
    return {};
  }
  if (gradient.chunk() == nullptr || gradient.type() != array.array.type()) {
    return Fail(StatusCode::kInvalidArgument,
                "the gradient of %s is to be written to %s",
                array.array.type().Text().c_str(),
                gradient.chunk() == nullptr ? "nothing"
                                            : gradient.type().Text().c_str());
  }
  array.origin = {
      std::make_shared<Record>(Leaf{array.array.type(), gradient, request},
                               std::vector<Origin>()),
      0};
  return {};
}

Status Autograd::Backward(const Heads& heads, bool retain) {
  return BackwardRun(*this, heads, false).IntoVariables(retain);
}

StatusOr<std::vector<TrackedArray>> Autograd::Gradient(
    const Heads& heads, std::span<const TrackedArray* const> variables,
    bool retain, bool create) {
  return BackwardRun(*this, heads, create).Of(variables, retain);
}

}  // namespace mxc::runtime
