// SPDX-License-Identifier: Apache-2.0
// What an optimizer is: typed hyper-parameters and the update of one parameter.
// One optimizer is one file in ir/optimizers and one line in optimizers.def;
// nothing else in the project names it. MXNET.md 4.1 and 4.2 are the source.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <typeindex>
#include <vector>

#include "ir/graph/fields.h"
#include "ir/graph/operator.h"
#include "ir/optimizers/lazy_rows.h"

namespace mxc {

class UpdateBuilder;  // ir/optimizers/update_builder.h

// What every optimizer takes (mx.optimizer.Optimizer). Multipliers belong to
// the parameters, schedules to the caller, who feeds `learning_rate`.
struct OptimizerOptions {
  double learning_rate = 0.01;  // what to feed where there is no schedule
  double wd = 0;
  double rescale_grad = 1;
  std::optional<double> clip_gradient;  // none, or ≤ 0: gradients are not
                                        // clipped
  int64_t begin_num_update = 0;
  bool multi_precision = false;
  int64_t aggregate_num = 0;

  void Describe(Fields& f);
};

// The state that is a parameter of f16 or bf16 in f32, under multi_precision.
inline constexpr std::string_view kWeightCopy = "weight_f32";
bool KeepsCopy(const OptimizerOptions& options, DType parameter);

struct Optimizer {
  std::string name;  // "sgd"; MXNet's registry key
  std::vector<std::string> aliases;
  std::string doc;  // one sentence
  std::type_index attrs_type = typeid(OptimizerOptions);

  // --- schema: as of an Operator (ir/graph/operator.h)
  std::function<AttrsPtr(std::span<const AttrText>, std::vector<AttrError>&)>
      parse;
  std::function<std::vector<AttrText>(const void* attrs)> print;
  std::function<void(Fields&)> describe;
  // Part of every attribute struct.
  std::function<const OptimizerOptions&(const void* attrs)> options;

  // --- rules
  // The update of one parameter.
  std::function<void(const void* attrs, UpdateBuilder&)> update;
  // The state of one parameter as MXNet's .states files hold it, in Python's
  // notation: "None", "momentum", "(mean, var)". The names are those under
  // which `update` asks for states; it may have more, which MXNet does not
  // save.
  std::function<std::string(const void* attrs)> states;
  // Where rows that a sparse gradient lacks stay as they are (MXNet's
  // lazy_update); an element's update depends on no other then.
  std::function<LazyRows(const void* attrs)> lazy;
  // Whether the update of a parameter depends on the gradients of all, so that
  // it cannot be made for one alone.
  std::function<bool(const void* attrs)> whole;
  // Where MXNet keeps the f32 copy of a half-precision parameter: after that
  // state, in one tuple, or before it.
  bool copy_follows = false;
  // Whether MXNet's rule on names lets a parameter decay that has no explicit
  // multiplier: by default …_weight and …_gamma do.
  std::function<bool(std::string_view parameter)> decays;
};

// The state of a parameter of the given type, multi_precision considered:
// "(momentum, weight_f32)".
std::string StateForm(const Optimizer& optimizer, const void* attrs,
                      DType parameter);
// The state variables of that form, in its order.
std::vector<std::string> StateNames(std::string_view form);

// The registry: every optimizer of optimizers.def, by name or alias, in any
// case. Immutable.
const Optimizer* FindOptimizer(std::string_view name);
std::span<const Optimizer* const> AllOptimizers();
// The known name nearest to an unknown one; empty when nothing is close.
std::string_view NearestOptimizer(std::string_view name);

}  // namespace mxc
