// SPDX-License-Identifier: Apache-2.0
#include "runtime/autograd/backward_run.h"

#include <algorithm>
#include <memory>
#include <string>

namespace mxc::runtime {
namespace {

// As the thread records while a gradient is computed.
class RecordingIs {
 public:
  explicit RecordingIs(bool recording)
      : before_(std::exchange(AutogradFlags::Here().recording, recording)) {}
  ~RecordingIs() { AutogradFlags::Here().recording = before_; }
  RecordingIs(const RecordingIs&) = delete;
  RecordingIs& operator=(const RecordingIs&) = delete;

 private:
  const bool before_;
};

Wire WireTo(Wire::From from, size_t number, uint32_t output) {
  return {from, static_cast<uint32_t>(number), output};
}

}  // namespace

// A part of the tape with its arrays.
struct BackwardRun::Part {
  TapePart described;
  Step records;                // of its calls
  std::vector<Origin> wanted;  // as in `described`
  std::vector<Arrived> heads;
  std::vector<NDArray> added;    // to what is wanted; mostly none
  std::vector<NDArray> written;  // where what is wanted goes, or none

  void Want(const Origin& of, Wire at, const Target* target) {
    const bool adds = target != nullptr && target->is_added;
    described.wanted.push_back({at, adds ? 1u : 0u});
    wanted.push_back(of);
    written.push_back(target == nullptr ? NDArray() : target->result.array);
    added.push_back(adds ? target->result.array : NDArray());
  }
};

// ---- What was recorded ---------------------------------------------------

Status BackwardRun::TakeHeads() {
  if (heads_.arrays.empty()) {
    return Fail(StatusCode::kInvalidArgument, "no head is given");
  }
  for (size_t h = 0; h < heads_.arrays.size(); ++h) {
    const TrackedArray& head = *heads_.arrays[h];
    if (!head.origin.IsLive()) {
      return Fail(StatusCode::kInvalidArgument,
                  "head %zu, %s, has no gradient: it was not computed from a "
                  "marked array while the thread recorded, or a backward call "
                  "that did not retain the graph has used it",
                  h, head.array.type().Text().c_str());
    }
    Arrived gradient;
    if (!heads_.gradients.empty() && heads_.gradients[h] != nullptr) {
      gradient = *heads_.gradients[h];
      if (gradient->array.type() != head.array.type()) {
        return Fail(StatusCode::kInvalidArgument,
                    "the gradient of head %zu is %s, expected %s", h,
                    gradient->array.type().Text().c_str(),
                    head.array.type().Text().c_str());
      }
    }
    arrived_[SlotOf(head.origin)].push_back(std::move(gradient));
  }
  return {};
}

Status BackwardRun::FindRecords() {
  std::unordered_set<const Record*> seen;
  std::vector<std::shared_ptr<Record>> pending;
  for (const TrackedArray* head : heads_.arrays) {
    pending.push_back(head->origin.record);
  }
  while (!pending.empty()) {
    const std::shared_ptr<Record> record = std::move(pending.back());
    pending.pop_back();
    if (!seen.insert(record.get()).second) continue;
    if (record->is_released()) {
      return Fail(StatusCode::kInvalidArgument,
                  "a backward call that did not retain the graph has used what "
                  "the heads were computed from");
    }
    for (const Origin& input : record->inputs()) {
      if (input.record != nullptr) pending.push_back(input.record);
    }
    records_.push_back(record);
  }
  std::sort(records_.begin(), records_.end(), [](const auto& a, const auto& b) {
    return a->number() < b->number();
  });
  return {};
}

void BackwardRun::FindWhatDepends() {
  for (size_t t = 0; t < targets_.size(); ++t) {
    depends_.insert(targets_[t].of.record.get());
    target_of_.emplace(SlotOf(targets_[t].of), t);
  }
}

void BackwardRun::FormSteps() {
  const Record* before = nullptr;
  const auto depends = [&](const Origin& input) {
    return depends_.contains(input.record.get());
  };
  for (const std::shared_ptr<Record>& record : records_) {
    const auto& inputs = record->inputs();
    if (std::none_of(inputs.begin(), inputs.end(), depends)) continue;
    depends_.insert(record.get());
    const bool joins =
        before != nullptr && before->run() != nullptr &&
        record->run() != nullptr &&
        before->run()->call->training == record->run()->call->training;
    if (!joins) steps_.emplace_back();
    steps_.back().push_back(record);
    before = record.get();
    for (const Origin& input : inputs) {
      if (depends(input)) {
        last_reader_.emplace(SlotOf(input), steps_.size() - 1);
      }
    }
  }
}

// ---- Parts ---------------------------------------------------------------

void BackwardRun::AddHeads(const Origin& of, Wire at, Part& part) {
  const auto found = arrived_.find(SlotOf(of));
  if (found == arrived_.end()) return;
  for (Arrived& one : found->second) {
    part.described.heads.push_back({at, one.has_value()});
    part.heads.push_back(std::move(one));
  }
  arrived_.erase(found);
}

BackwardRun::Target* BackwardRun::FinishedAt(const Slot& slot, size_t step) {
  const auto target = target_of_.find(slot);
  if (target == target_of_.end()) return nullptr;
  const auto last = last_reader_.find(slot);
  if (last != last_reader_.end() && last->second < step) return nullptr;
  return &targets_[target->second];
}

BackwardRun::Part BackwardRun::PartOf(size_t step) {
  Part part;
  part.records = steps_[step];
  part.described.training = part.records[0]->run()->call->training;
  std::unordered_map<const Record*, size_t> calls;
  std::unordered_map<Slot, Wire, SlotHash> leaves;
  std::vector<Origin> order;  // of leaves
  const auto wire_of = [&](const Origin& input) -> Wire {
    if (!depends_.contains(input.record.get())) return {};
    if (const auto call = calls.find(input.record.get()); call != calls.end()) {
      return WireTo(Wire::From::kCall, call->second, input.output);
    }
    const auto [leaf, is_new] = leaves.try_emplace(
        SlotOf(input), WireTo(Wire::From::kLeaf, order.size(), 0));
    if (is_new) {
      order.push_back(input);
      part.described.leaves.push_back(input.record->type(input.output));
    }
    return leaf->second;
  };
  for (const std::shared_ptr<Record>& record : part.records) {
    TapePart::Call call{record->run()->call, {}};
    for (const Origin& input : record->inputs()) {
      call.inputs.push_back(wire_of(input));
    }
    const size_t number = part.described.calls.size();
    calls.emplace(record.get(), number);
    const auto outputs = static_cast<uint32_t>(call.call->form.outputs.size());
    for (uint32_t o = 0; o < outputs; ++o) {
      const Origin of{record, o};
      const Wire at = WireTo(Wire::From::kCall, number, o);
      AddHeads(of, at, part);
      if (const Target* target = FinishedAt(SlotOf(of), step)) {
        part.Want(of, at, target);
      }
    }
    part.described.calls.push_back(std::move(call));
  }
  for (const Origin& leaf : order) {
    const Wire at = leaves.at(SlotOf(leaf));
    const Target* const target = FinishedAt(SlotOf(leaf), step);
    if (target != nullptr) AddHeads(leaf, at, part);
    part.Want(leaf, at, target);
  }
  return part;
}

BackwardRun::Part BackwardRun::PartAround(const Origin& of) {
  Part part;
  part.described.leaves.push_back(of.record->type(of.output));
  AddHeads(of, WireTo(Wire::From::kLeaf, 0, 0), part);
  return part;
}

StatusOr<TrackedArray> BackwardRun::Find(
    const Part& part, const PartGradient::Operand& operand) const {
  using Kind = PartGradient::Operand::Kind;
  if (operand.kind == Kind::kHead) return *part.heads[operand.of];
  if (operand.kind == Kind::kAddend) {
    return TrackedArray{part.added[operand.of], {}};
  }
  const std::shared_ptr<Record>& record = part.records[operand.of];
  const RecordedRun& run = *record->run();
  const KeptValue& kept = run.kept[operand.number];
  const auto [from, index] = run.call->form.saved[operand.number];
  const bool is_input = from == SavedValue::From::kInput;
  if (kept.IsOverwritten()) {
    return Fail(StatusCode::kInvalidArgument,
                "the gradient of %s needs its %s %u, which was overwritten "
                "after it was recorded",
                run.call->text.c_str(), is_input ? "input" : "output", index);
  }
  return TrackedArray{
      kept.array, is_input ? record->inputs()[index] : Origin{record, index}};
}

Status BackwardRun::RunPart(Part& part, std::vector<TrackedArray>& results) {
  MXC_RT_ASSIGN(const auto gradient, autograd_.gradients_.Of(part.described));
  std::vector<TrackedArray> operands;
  for (const PartGradient::Operand& operand : gradient->operands) {
    MXC_RT_ASSIGN(operands.emplace_back(), Find(part, operand));
  }
  std::vector<const TrackedArray*> inputs;
  for (const TrackedArray& operand : operands) inputs.push_back(&operand);
  for (const NDArray& written : part.written) results.push_back({written, {}});
  std::vector<TrackedArray*> outputs;
  for (TrackedArray& result : results) outputs.push_back(&result);
  const RecordingIs recording(creates_);
  return autograd_.Call(gradient->op, inputs, outputs, part.described.training);
}

// ---- Steps ---------------------------------------------------------------

Status BackwardRun::RunCalls(size_t step) {
  Part part = PartOf(step);
  if (part.wanted.empty()) return {};
  std::vector<TrackedArray> results;
  MXC_RT_RETURN_IF_ERROR(RunPart(part, results));
  for (size_t w = 0; w < part.wanted.size(); ++w) {
    const Slot slot = SlotOf(part.wanted[w]);
    if (Target* const target = FinishedAt(slot, step)) {
      target->result = results[w];
      target->is_done = true;
    } else {
      arrived_[slot].emplace_back(results[w]);
    }
  }
  return {};
}

Status BackwardRun::RunFunction(size_t step) {
  const std::shared_ptr<Record> record = steps_[step][0];
  const RecordedFunction& function = *record->function();
  std::vector<TrackedArray> heads;
  for (uint32_t o = 0; o < function.outputs.size(); ++o) {
    MXC_RT_ASSIGN(heads.emplace_back(), Sum({record, o}));
  }
  std::vector<std::optional<TrackedArray>> gradients(function.inputs.size());
  {
    const RecordingIs recording(creates_);
    MXC_RT_RETURN_IF_ERROR(function.gradient->Gradients(heads, gradients));
  }
  for (size_t i = 0; i < gradients.size(); ++i) {
    const Origin& input = record->inputs()[i];
    if (!gradients[i] || !depends_.contains(input.record.get())) continue;
    if (gradients[i]->array.type() != function.inputs[i]) {
      return Fail(StatusCode::kInvalidArgument,
                  "the gradient that a function of the user's own gives for "
                  "its input %zu is %s, expected %s",
                  i, gradients[i]->array.type().Text().c_str(),
                  function.inputs[i].Text().c_str());
    }
    arrived_[SlotOf(input)].push_back(std::move(gradients[i]));
  }
  return DeliverPending(step);
}

StatusOr<TrackedArray> BackwardRun::Sum(const Origin& of) {
  const auto found = arrived_.find(SlotOf(of));
  if (found != arrived_.end() && found->second.size() == 1 &&
      found->second[0].has_value()) {
    TrackedArray only = *found->second[0];
    arrived_.erase(found);
    return only;
  }
  Part part = PartAround(of);
  part.Want(of, WireTo(Wire::From::kLeaf, 0, 0), nullptr);
  std::vector<TrackedArray> results;
  MXC_RT_RETURN_IF_ERROR(RunPart(part, results));
  return results[0];
}

Status BackwardRun::Deliver(Target& target) {
  target.is_done = true;
  if (target.is_added && !arrived_.contains(SlotOf(target.of))) return {};
  Part part = PartAround(target.of);
  part.Want(target.of, WireTo(Wire::From::kLeaf, 0, 0), &target);
  std::vector<TrackedArray> results;
  MXC_RT_RETURN_IF_ERROR(RunPart(part, results));
  target.result = results[0];
  return {};
}

// Those to which the step was the last to add something.
Status BackwardRun::DeliverPending(size_t step) {
  for (const Origin& input : steps_[step][0]->inputs()) {
    Target* const target = FinishedAt(SlotOf(input), step);
    if (target == nullptr || target->is_done) continue;
    MXC_RT_RETURN_IF_ERROR(Deliver(*target));
  }
  return {};
}

Status BackwardRun::Run(bool retain) {
  FindWhatDepends();
  FormSteps();
  for (size_t step = steps_.size(); step-- > 0;) {
    const bool is_function = steps_[step][0]->function() != nullptr;
    MXC_RT_RETURN_IF_ERROR(is_function ? RunFunction(step) : RunCalls(step));
  }
  for (Target& target : targets_) {
    if (target.is_done) continue;
    MXC_RT_RETURN_IF_ERROR(Deliver(target));
  }
  if (retain) return {};
  for (const std::shared_ptr<Record>& record : records_) record->Release();
  return {};
}

Status BackwardRun::IntoVariables(bool retain) {
  MXC_RT_RETURN_IF_ERROR(TakeHeads());
  MXC_RT_RETURN_IF_ERROR(FindRecords());
  for (const std::shared_ptr<Record>& record : records_) {
    const Leaf* const leaf = record->leaf();
    if (leaf == nullptr) continue;
    targets_.push_back({{record, 0},
                        {leaf->gradient, {}},
                        leaf->request == GradientRequest::kAdd});
  }
  if (targets_.empty()) {
    return Fail(StatusCode::kInvalidArgument,
                "the heads were computed from no marked array");
  }
  MXC_RT_RETURN_IF_ERROR(Run(retain));
  for (const Target& target : targets_) {
    target.of.record->leaf()->is_fresh = true;
  }
  return {};
}

StatusOr<std::vector<TrackedArray>> BackwardRun::Of(
    std::span<const TrackedArray* const> variables, bool retain) {
  MXC_RT_RETURN_IF_ERROR(TakeHeads());
  MXC_RT_RETURN_IF_ERROR(FindRecords());
  std::vector<size_t> numbers;
  for (size_t v = 0; v < variables.size(); ++v) {
    const Origin& of = variables[v]->origin;
    if (!of.IsLive()) {
      return Fail(StatusCode::kInvalidArgument,
                  "variable %zu, %s, was neither marked nor recorded", v,
                  variables[v]->array.type().Text().c_str());
    }
    const auto same = std::find_if(
        targets_.begin(), targets_.end(),
        [&](const Target& target) { return SlotOf(target.of) == SlotOf(of); });
    numbers.push_back(static_cast<size_t>(same - targets_.begin()));
    if (same == targets_.end()) targets_.push_back({of, {}});
  }
  MXC_RT_RETURN_IF_ERROR(Run(retain));
  std::vector<TrackedArray> results;
  for (const size_t number : numbers) {
    results.push_back(targets_[number].result);
  }
  return results;
}

}  // namespace mxc::runtime
