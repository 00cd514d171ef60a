// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/updates/update.h"

namespace mxc {
namespace {

constexpr int kFirstState = 2;

int StateCount(const UpdateForm& form) {
  const bool copy = form.copy == WeightCopy::kState;
  return static_cast<int>(form.states.size()) + (copy ? 1 : 0);
}

int FirstNumber(const UpdateForm& form) {
  const bool copy = form.copy != WeightCopy::kNone;
  return kFirstState + static_cast<int>(form.states.size()) + (copy ? 1 : 0);
}

DType UpdateType(const UpdateForm& form, DType weight) {
  const bool copy = form.copy != WeightCopy::kNone;
  return weight == DType::kF64 && !copy ? DType::kF64 : DType::kF32;
}

// One of the weight's shape, and what that says of the weight's.
void AlikeShape(TypeInference& t, int input) {
  t.SetIn(input, t.In(0));
  t.SetIn(0, t.In(input));
}
void AlikeType(TypeInference& t, int input) {
  t.SetInDType(input, t.InDType(0));
  t.SetInDType(0, t.InDType(input));
}

}  // namespace

std::vector<InputSpec> UpdateInputs(const UpdateForm& form) {
  std::vector<InputSpec> inputs = {{"weight"}, {"grad"}};
  for (const std::string& state : form.states) {
    inputs.push_back({state, InputKind::kState});
  }
  if (form.copy != WeightCopy::kNone) {
    const bool state = form.copy == WeightCopy::kState;
    inputs.push_back(
        {"weight32", state ? InputKind::kState : InputKind::kData});
  }
  for (const std::string& number : form.numbers) inputs.push_back({number});
  return inputs;
}

std::vector<std::string> UpdateOutputs(const UpdateForm& form) {
  std::vector<std::string> outputs = {"output"};
  for (const InputSpec& input : UpdateInputs(form)) {
    if (input.kind != InputKind::kState) continue;
    outputs.push_back("next_" + input.name);
  }
  return outputs;
}

void UpdateTypes(const UpdateForm& form, TypeInference& t) {
  const int numbers = FirstNumber(form), states = StateCount(form);
  const bool copy = form.copy != WeightCopy::kNone;
  t.SetIn(0, t.Out(0));
  for (int i = 1; i < numbers; ++i) AlikeShape(t, i);
  for (int i = 1; i < numbers; ++i) {
    AlikeShape(t, i);
    if (copy && i >= kFirstState) {
      t.SetInDType(i, DType::kF32);
    } else {
      AlikeType(t, i);
    }
  }
  t.SetOut(0, t.In(0));
  t.SetOutDType(0, form.copy == WeightCopy::kRead ? DType::kF32 : t.InDType(0));
  for (int k = 0; k < states; ++k) {
    t.SetOut(1 + k, t.In(kFirstState + k));
    t.SetOutDType(1 + k, t.InDType(kFirstState + k));
  }
  for (int i = numbers; i < t.inputs(); ++i) {
    t.SetInDType(i, DType::kF32);
  }
}

WeightUpdate::WeightUpdate(const UpdateForm& form, const UpdateOptions& options,
                           Definition& def)
    : form_(form),
      options_(options),
      def_(def),
      computing_(UpdateType(form, def.InDType(0))),
      weight_(Read(form.copy == WeightCopy::kNone ? 0 : FirstNumber(form) - 1)),
      gradient_(Read(1)) {}

Expr WeightUpdate::Read(int input) const {
  return Cast(def_.In(input, def_.Indices()), computing_);
}

Expr WeightUpdate::State(int k) const { return Read(kFirstState + k); }

Expr WeightUpdate::Number(int k) const {
  const int input = FirstNumber(form_) + k;
  const std::vector<Expr> first(def_.InShape(input).rank(), Expr(0));
  return Cast(def_.In(input, first), computing_);
}

Expr WeightUpdate::Clipped(const Expr& x) const {
  if (options_.clip_gradient < 0) return x;
  return ClippedTo(x, Literal(options_.clip_gradient));
}

void WeightUpdate::SetWeight(const Expr& element) {
  def_.Set(0, element);
  if (form_.copy == WeightCopy::kState)
    SetState(StateCount(form_) - 1, element);
}

}  // namespace mxc
