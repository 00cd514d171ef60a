// SPDX-License-Identifier: Apache-2.0
#include "runtime/autograd/autograd.h"

#include <algorithm>

#include "runtime/autograd/backward_run.h"
#include "runtime/ndarray/short_list.h"

namespace mxc::runtime {
namespace {

// The arrays of what is tracked, on the stack.
class Refs {
 public:
  explicit Refs(std::span<const TrackedArray* const> tracked)
      : refs_(tracked.size()) {
    for (const TrackedArray* one : tracked) refs_.Add(&one->array);
  }
  operator ArrayRefs() { return refs_.all(); }

 private:
  ShortList<const NDArray*> refs_;
};

std::vector<Origin> OriginsOf(std::span<const TrackedArray* const> arrays) {
  std::vector<Origin> origins;
  origins.reserve(arrays.size());
  for (const TrackedArray* array : arrays) {
    origins.push_back(array->origin.IsLive() ? array->origin : Origin());
  }
  return origins;
}

bool IsLive(const TrackedArray* array) { return array->origin.IsLive(); }

// `outputs`: of the form.
std::vector<KeptValue> KeptOf(const RecordedForm& form, ArrayRefs inputs,
                              std::span<NDArray* const> outputs) {
  std::vector<KeptValue> kept;
  kept.reserve(form.saved.size());
  for (const auto [from, index] : form.saved) {
    kept.emplace_back(from == SavedValue::From::kInput ? *inputs[index]
                                                       : *outputs[index]);
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
                      std::span<TrackedArray* const> outputs, bool training) {
  if (AutogradFlags::Here().recording) {
    for (const TrackedArray* output : outputs) {
      if (!IsLive(output)) continue;
      return Fail(StatusCode::kInvalidArgument,
                  "%s is to write an array that was recorded, %s, while the "
                  "thread records; write it outside, or give a new array",
                  op->name().c_str(), output->array.type().Text().c_str());
    }
    if (std::any_of(inputs.begin(), inputs.end(), IsLive)) {
      return CallRecorded(op, inputs, outputs, training);
    }
  }
  ShortList<NDArray*> results(outputs.size());
  for (TrackedArray* output : outputs) results.Add(&output->array);
  return imperative_.Call(op, Refs(inputs), results.all(), training);
}

Status Autograd::CallRecorded(const std::shared_ptr<CallableOperator>& op,
                              std::span<const TrackedArray* const> inputs,
                              std::span<TrackedArray* const> outputs,
                              bool training) {
  Refs refs(inputs);
  const ArrayRefs arrays = refs;
  MXC_RT_ASSIGN(const auto call,
                op->Recorded(arrays, training, imperative_.team()));
  const RecordedForm& form = call->form;
  if (outputs.size() > form.visible_outputs) {
    return Fail(StatusCode::kInvalidArgument,
                "%s has %zu outputs, and %zu are given", call->text.c_str(),
                form.visible_outputs, outputs.size());
  }
  // What the call itself overwrites is not what it read.
  ShortList<uint64_t> writes(inputs.size());
  for (const NDArray* array : arrays) writes.Add(array->chunk()->writes());
  // Those that the caller does not want are there for the gradient.
  const size_t more = form.outputs.size() - outputs.size();
  std::vector<NDArray> others(more);
  ShortList<NDArray*> results(form.outputs.size());
  for (TrackedArray* output : outputs) results.Add(&output->array);
  for (NDArray& other : others) results.Add(&other);
  MXC_RT_RETURN_IF_ERROR(
      imperative_.CallRecorded(op, *call, arrays, results.all()));
  RecordedRun run{call, KeptOf(form, arrays, results.all())};
  for (size_t k = 0; k < run.kept.size(); ++k) {
    const auto [from, index] = form.saved[k];
    if (from == SavedValue::From::kInput) run.kept[k].writes = writes[index];
  }
  const auto record =
      std::make_shared<Record>(std::move(run), OriginsOf(inputs));
  for (size_t o = 0; o < outputs.size(); ++o) {
    outputs[o]->origin = {record, static_cast<uint32_t>(o)};
  }
  return {};
}

Status Autograd::RecordView(const std::shared_ptr<CallableOperator>& op,
                            const TrackedArray& array, TrackedArray& view) {
  if (!AutogradFlags::Here().recording || !array.origin.IsLive()) return {};
  const NDArray* const input = &array.array;
  NDArray* const output = &view.array;
  MXC_RT_ASSIGN(const auto call,
                op->Recorded({&input, 1}, false, imperative_.team()));
  if (call->form.outputs.size() != 1 ||
      call->form.outputs[0] != view.array.type()) {
    return Fail(StatusCode::kInvalidArgument, "%s does not give %s",
                call->text.c_str(), view.array.type().Text().c_str());
  }
  RecordedRun run{call, KeptOf(call->form, {&input, 1}, {&output, 1})};
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
  RecordedFunction function{TypesOf(Refs(inputs)), {}, std::move(gradient)};
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
