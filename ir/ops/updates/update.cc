// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/updates/update.h"

#include "ir/ops/tensor/shape/axes.h"

namespace mxc {
namespace {

constexpr int kFirstState = 2;  // of a weight's inputs

bool HasCopy(const UpdateForm& form) { return form.copy != WeightCopy::kNone; }

// Counts for one weight.
int StatesOfEach(const UpdateForm& form) {
  const bool copy = form.copy == WeightCopy::kState;
  return static_cast<int>(form.states.size()) + (copy ? 1 : 0);
}
int InputsOfEach(const UpdateForm& form) {
  return kFirstState + static_cast<int>(form.states.size()) +
         (HasCopy(form) ? 1 : 0);
}

int FirstNumber(const UpdateForm& form) {
  return form.weights() * InputsOfEach(form);
}

// The place of state k of weight `which` among the outputs.
int NextState(const UpdateForm& form, int which, int k) {
  return form.weights() + which * StatesOfEach(form) + k;
}

DType UpdateType(const UpdateForm& form, DType weight) {
  return weight == DType::kF64 && !HasCopy(form) ? DType::kF64 : DType::kF32;
}

std::string NameOf(const UpdateForm& form, std::string_view name, int which) {
  return form.several.count == 0 ? std::string(name)
                                 : fmt::format("{}_{}", name, which);
}

// An input of the weight's shape, and what that says of the weight's.
void AlikeShape(TypeInference& t, int weight, int input) {
  t.SetIn(input, t.In(weight));
  t.SetIn(weight, t.In(input));
}
void AlikeType(TypeInference& t, int weight, int input) {
  t.SetInDType(input, t.InDType(weight));
  t.SetInDType(weight, t.InDType(input));
}

void WeightTypes(const UpdateForm& form, int which, TypeInference& t) {
  const int weight = which * InputsOfEach(form);
  const int end = weight + InputsOfEach(form);
  t.SetIn(weight, t.Out(which));
  for (int i = weight + 1; i < end; ++i) AlikeShape(t, weight, i);
  for (int i = weight + 1; i < end; ++i) {
    AlikeShape(t, weight, i);
    if (HasCopy(form) && i >= weight + kFirstState) {
      t.SetInDType(i, DType::kF32);
    } else {
      AlikeType(t, weight, i);
    }
  }
  t.SetOut(which, t.In(weight));
  t.SetOutDType(
      which, form.copy == WeightCopy::kRead ? DType::kF32 : t.InDType(weight));
  for (int k = 0; k < StatesOfEach(form); ++k) {
    const int state = weight + kFirstState + k;
    t.SetOut(NextState(form, which, k), t.In(state));
    t.SetOutDType(NextState(form, which, k), t.InDType(state));
  }
}

}  // namespace

std::vector<InputSpec> UpdateInputs(const UpdateForm& form) {
  std::vector<InputSpec> inputs;
  for (int which = 0; which < form.weights(); ++which) {
    const auto add = [&](std::string_view name, InputKind kind) {
      inputs.push_back({NameOf(form, name, which), kind});
    };
    add("weight", InputKind::kData);
    add("grad", InputKind::kData);
    for (const std::string& state : form.states) add(state, InputKind::kState);
    if (!HasCopy(form)) continue;
    const bool state = form.copy == WeightCopy::kState;
    add("weight32", state ? InputKind::kState : InputKind::kData);
  }
  for (const std::string& number : form.numbers) inputs.push_back({number});
  return inputs;
}

std::vector<std::string> UpdateOutputs(const UpdateForm& form) {
  std::vector<std::string> outputs = NumberedOutputs(int64_t{form.weights()});
  for (const InputSpec& input : UpdateInputs(form)) {
    if (input.kind != InputKind::kState) continue;
    outputs.push_back("next_" + input.name);
  }
  return outputs;
}

int UpdateStates(const UpdateForm& form) {
  return form.weights() * StatesOfEach(form);
}

UpdateForm FormOf(UpdateForm form, const UpdateOptions& options) {
  if (options.rates_as_inputs) {
    form.numbers.insert(form.numbers.end(), {"rate", "decay"});
  }
  return form;
}

void UpdateTypes(const UpdateForm& form, TypeInference& t) {
  for (int which = 0; which < form.weights(); ++which) {
    WeightTypes(form, which, t);
  }
  const Shape each = {form.weights()};
  for (int i = FirstNumber(form); i < t.inputs(); ++i) {
    t.SetInDType(i, DType::kF32);
    if (!form.several.numbers_for_each) continue;
    if (!t.In(i).known()) t.SetIn(i, each);
    t.Require(t.In(i) == each, "C1: input {} has shape {}, expected {}", i,
              ToString(t.In(i)), ToString(each));
  }
}

WeightUpdate::WeightUpdate(const UpdateForm& form, const UpdateOptions& options,
                           Definition& def, int which)
    : form_(form),
      options_(options),
      def_(def),
      which_(which),
      computing_(UpdateType(form, def.InDType(which * InputsOfEach(form)))),
      copied_(HasCopy(form) &&
              !(form.several.count > 0 &&
                def.InDType(which * InputsOfEach(form)) == DType::kF32)),
      weight_(Read(copied_ ? InputsOfEach(form) - 1 : 0)),
      gradient_(Read(1)) {}

Expr WeightUpdate::Read(int input) const {
  return Cast(
      def_.In(which_ * InputsOfEach(form_) + input, def_.Indices(which_)),
      computing_);
}

Expr WeightUpdate::State(int k) const { return Read(kFirstState + k); }

Expr WeightUpdate::Number(int k) const {
  const int input = FirstNumber(form_) + k;
  std::vector<Expr> index(def_.InShape(input).rank(), Expr(0));
  if (form_.several.numbers_for_each) index = {Expr(which_)};
  return Cast(def_.In(input, index), computing_);
}

Expr WeightUpdate::RateOr(double attribute, int from_the_end) const {
  if (!options_.rates_as_inputs) return Literal(attribute);
  return Number(static_cast<int>(form_.numbers.size()) - from_the_end);
}

Expr WeightUpdate::Clipped(const Expr& x) const {
  if (options_.clip_gradient < 0) return x;
  return ClippedTo(x, Literal(options_.clip_gradient));
}

void WeightUpdate::SetState(int k, const Expr& element) {
  def_.Set(NextState(form_, which_, k), element);
}

void WeightUpdate::SetWeight(const Expr& element) {
  def_.Set(which_, element);
  if (form_.copy != WeightCopy::kState) return;
  const int copy = StatesOfEach(form_) - 1;
  SetState(copy, copied_ ? element : State(copy));
}

}  // namespace mxc
