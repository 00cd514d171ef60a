// SPDX-License-Identifier: Apache-2.0
// The updates of update.h for several weights by one node, each with a rate and a
// decay of its own. Each weight has a shape and a type of its own. In MXNet 1.9.1
// the outputs' shapes follow from their readers alone; ours follow from the weights.
//   weight_i, grad_i, <states>_i, weight32_i   of weight i, one weight after the other
//   output<i>                                  the next weights
// C1  a list has a number for each weight
// Source: MXNet 1.9.1 operator/optimizer_op-inl.h, operator/contrib/.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ir/ops/tensor/shape/axes.h"
#include "ir/ops/updates/update.h"

namespace mxc {

// A list among the attributes, which must have `length` numbers.
struct ListLength {
  std::string_view name;
  size_t length;
};
std::optional<std::string> CheckLengths(std::initializer_list<ListLength> lists,
                                        int64_t weights);

// How many weights; `name` is what MXNet calls it.
inline void DescribeWeights(Fields& f, std::string_view name, int64_t& count) {
  f(name, count)
      .Range(1, static_cast<double>(kMaxOperands) / 8)
      .Doc("how many weights");
}

// `form` for so many weights.
inline UpdateForm OfSeveral(UpdateForm form, int64_t weights) {
  form.several.count = static_cast<int>(weights);
  return form;
}

// Names, states and types; the meaning is the caller's. `A` has a member
// `int64_t weights() const`.
template <class A>
Op<A> SeveralUpdates(std::string name, const UpdateForm& form) {
  const auto of = [form](const A& a) { return OfSeveral(form, a.weights()); };
  return Op<A>(std::move(name))
      .InputsOf([of](const A& a) { return UpdateInputs(of(a)); })
      .OutputsOf([of](const A& a) { return UpdateOutputs(of(a)); })
      .NextStatesOf([of](const A& a) { return UpdateStates(of(a)); })
      .Types([of](const A& a, TypeInference& t) { UpdateTypes(of(a), t); })
      .FloatsOnly();
}

// `update`: void(const A&, WeightUpdate&), for each weight. `A` also has
// `auto Of(int i) const`, the options of weight i, derived from UpdateOptions,
// which `update` is given instead.
template <class A, class F>
Op<A> MultiUpdateOperator(std::string name, const UpdateForm& form, F update) {
  return SeveralUpdates<A>(std::move(name), form)
      .Meaning([form, update](const A& a, Definition& def) {
        const UpdateForm several = OfSeveral(form, a.weights());
        for (int i = 0; i < several.weights(); ++i) {
          const auto options = a.Of(i);
          WeightUpdate u(several, options, def, i);
          update(options, u);
        }
      });
}

}  // namespace mxc
