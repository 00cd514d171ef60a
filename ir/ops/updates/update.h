// SPDX-License-Identifier: Apache-2.0
// Operators that are the update of one weight. Inputs and outputs:
//   weight, grad   f[S…]
//   states         f[S…]: of the weight's type; f32 beside a copy of the weight
//   weight32       f32[S…]: such a copy, of which the weight is a rounded one
//   output         f[S…]: the next weight
//   next_<state>   f[S…]: what MXNet writes into the state, an auxiliary state of
//                  the network
// Formulas are in f64 for weights of f64 without a copy, else in f32. Gradients do
// not pass.
// Source: MXNet 1.9.1 operator/optimizer_op-inl.h.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/ops/op.h"
#include "ir/ops/updates/formulas.h"

namespace mxc {

struct UpdateOptions {
  double lr = 0, wd = 0, rescale_grad = 1, clip_gradient = -1;
  // Ours: rates of a schedule, by which nothing is compiled anew.
  bool rates_as_inputs = false;

  void Describe(Fields& f) {
    DescribeRate(f);
    DescribeGradient(f);
  }

 protected:
  void DescribeRate(Fields& f) {
    f("lr", lr).Required().Doc("learning rate");
    f("wd", wd).Doc("weight decay");
    f("rates_as_inputs", rates_as_inputs)
        .Doc("lr and wd are two more inputs, float32[1], not these attributes");
  }
  void DescribeGradient(Fields& f) {
    f("rescale_grad", rescale_grad).Doc("multiplies the gradient");
    DescribeClip(f, "clip_gradient");
  }
  void DescribeClip(Fields& f, std::string_view name) {
    f(name, clip_gradient).Doc("limits it to ±this; no limit if below 0");
  }
};

inline void DescribeLazy(Fields& f, bool& lazy_update) {
  f("lazy_update", lazy_update)
      .Doc("rows that a sparse gradient lacks stay as they are")
      .Hint();
}

// Whether there is a copy of the weight in f32: the last state, or read alone,
// and then the output is f32, too.
enum class WeightCopy { kNone, kState, kRead };

// What an update reads and writes beside the weight and its gradient.
struct UpdateForm {
  std::vector<std::string> states;
  WeightCopy copy = WeightCopy::kNone;
  std::vector<std::string> numbers = {};  // f32 inputs, the last ones
  // Several weights by one node: the inputs of each follow those of the one
  // before, then come the numbers; all next weights come before the next states.
  // The names of what belongs to weight i end with _<i>. As in MXNet, the copy of
  // a weight that is f32 itself is neither read nor changed.
  struct Several {
    int count = 0;                  // 0: one weight, and names without a number
    bool numbers_for_each = false;  // C1: every number is f32[count]
  } several = {};

  int weights() const { return several.count == 0 ? 1 : several.count; }
};

class WeightUpdate {
 public:
  // Of weight `which`.
  WeightUpdate(const UpdateForm& form, const UpdateOptions& options,
               Definition& def, int which = 0);

  const Expr& weight() const { return weight_; }
  Expr Literal(double number) const { return Lit(number, weight_); }
  // Element of state k; the k-th number: its first element, or this weight's.
  Expr State(int k) const;
  Expr Number(int k) const;

  Expr RawGradient() const { return gradient_; }
  // clip(rescale · gradient)
  Expr Gradient() const { return Clipped(Rescaled()); }
  // clip(rescale · gradient + wd · weight)
  Expr DecayedGradient() const {
    return Clipped(Rescaled() + Decay() * weight_);
  }
  Expr Clipped(const Expr& x) const;
  UpdateTerms Terms(const Expr& gradient) const {
    return {weight_, gradient, Rate(), Decay()};
  }
  // The same by a rate and a decay that are numbers 0 and 1.
  UpdateTerms TermsByNumbers(const Expr& gradient) const {
    return {weight_, gradient, Number(0), Number(1)};
  }

  // lr and wd, wherever they stand.
  Expr Rate() const { return RateOr(options_.lr, 2); }
  Expr Decay() const { return RateOr(options_.wd, 1); }

  // The results, each once.
  void SetWeight(const Expr& element);
  void SetState(int k, const Expr& element);
  // The weight and state 0.
  void SetMoved(const MovedWeight& next) {
    SetWeight(next.weight);
    SetState(0, next.momentum);
  }

 private:
  // Of the form's numbers the one so many from the end, where rates are inputs.
  Expr RateOr(double attribute, int from_the_end) const;
  Expr Rescaled() const { return Literal(options_.rescale_grad) * gradient_; }
  Expr Read(int input) const;

  const UpdateForm& form_;
  const UpdateOptions& options_;
  Definition& def_;
  const int which_;
  const DType computing_;
  const bool copied_;  // the copy is read, and what is updated
  const Expr weight_, gradient_;
};

std::vector<InputSpec> UpdateInputs(const UpdateForm& form);
std::vector<std::string> UpdateOutputs(const UpdateForm& form);
int UpdateStates(const UpdateForm& form);
void UpdateTypes(const UpdateForm& form, TypeInference& t);

// With the rates behind the other numbers, where they are inputs.
UpdateForm FormOf(UpdateForm form, const UpdateOptions& options);

// `update`: void(const A&, WeightUpdate&)
template <class A, class F>
Op<A> UpdateOperator(std::string name, const UpdateForm& form, F update) {
  const auto of = [form](const A& a) { return FormOf(form, a); };
  return Op<A>(std::move(name))
      .InputsOf([of](const A& a) { return UpdateInputs(of(a)); })
      .Outputs(UpdateOutputs(form), form.weights())
      .NextStates(UpdateStates(form))
      .Types([of](const A& a, TypeInference& t) { UpdateTypes(of(a), t); })
      .FloatsOnly()
      .Meaning([of, update](const A& a, Definition& def) {
        const UpdateForm own = of(a);
        WeightUpdate u(own, a, def);
        update(a, u);
      });
}

}  // namespace mxc
