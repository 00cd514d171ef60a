// SPDX-License-Identifier: Apache-2.0
// The interpreter of procedures. It aborts where an index is out of bounds,
// where something is read before it was written, and where two tasks meet in
// one element of an output.
#include <algorithm>

#include "ir/program/evaluator.h"
#include "ir/program/program.h"
#include "ir/program/steps/procedure.h"

namespace mxc {
namespace {

// An output or a local.
struct WrittenPlace {
  TensorType type;
  std::vector<Element>* values;
  std::vector<int64_t> writers;  // of each element, a task or kNobody
};

constexpr int64_t kNobody = -1;

class ProcedureRun {
 public:
  ProcedureRun(const Procedure& procedure, StepValues& values)
      : procedure_(procedure),
        values_(values),
        local_values_(procedure.locals.size()),
        evaluator_(Views(), values.arithmetic.noise) {}

  void Run() {
    for (task_ = 0; task_ < procedure_.tasks; ++task_) {
      for (WrittenPlace& place :
           std::span(places_).subspan(values_.outputs.size())) {
        std::ranges::fill(place.writers, kNobody);
      }
      vars_ = {{static_cast<Element>(task_)}};
      Run(procedure_.body);
    }
    for (size_t i = 0; i < values_.outputs.size(); ++i) {
      MXC_CHECK(std::ranges::count(places_[i].writers, kNobody) == 0,
                "output {} of '{}' is not written everywhere", i,
                values_.step.name);
    }
  }

 private:
  std::vector<OperandView> Views() {
    std::vector<OperandView> views;
    const auto type = [&](int buffer) {
      return values_.program.buffers[buffer].type;
    };
    for (size_t i = 0; i < values_.inputs.size(); ++i) {
      views.push_back(
          {*values_.inputs[i], type(values_.step.inputs[i]).shape.dims()});
    }
    for (size_t i = 0; i < values_.outputs.size(); ++i) {
      places_.push_back(
          {type(values_.step.outputs[i]), &values_.outputs[i], {}});
    }
    for (size_t i = 0; i < local_values_.size(); ++i) {
      const TensorType& local = procedure_.locals[i];
      local_values_[i].resize(local.shape.elements());
      places_.push_back({local, &local_values_[i], {}});
    }
    for (WrittenPlace& place : places_) {
      place.writers.assign(place.values->size(), kNobody);
      views.push_back(
          {*place.values, place.type.shape.dims(), place.writers, &task_});
    }
    return views;
  }

  Element Value(const Expr& e) { return evaluator_.Evaluate(e, 1, vars_)[0]; }

  // Returns whether the flow goes on behind the statements: no break was met.
  bool Run(const std::vector<Statement>& list) {
    return std::ranges::all_of(list,
                               [&](const Statement& s) { return Run(s); });
  }

  bool Run(const Statement& s) {
    switch (s.kind) {
      case Statement::Kind::kStore:
        Store(s);
        return true;
      case Statement::Kind::kFor:
        Loop(s);
        return true;
      case Statement::Kind::kIf:
        return Run(Value(s.value) != 0 ? s.body : s.otherwise);
      case Statement::Kind::kBreak:
        return false;
    }
    return true;
  }

  void Loop(const Statement& s) {
    const Element begin = Value(s.begin);
    const Element end =
        std::min(Value(s.end), begin + static_cast<Element>(s.most));
    vars_.push_back({});
    for (Element i = begin; i < end; ++i) {
      vars_.back() = {i};
      if (!Run(s.body)) break;
    }
    vars_.pop_back();
  }

  void Store(const Statement& s) {
    const size_t operand = static_cast<size_t>(s.target->index);
    WrittenPlace& place = places_[operand - values_.inputs.size()];
    const Element value = Value(s.value);
    int64_t offset = 0;
    for (size_t axis = 0; axis < s.target->args.size(); ++axis) {
      const auto i = static_cast<int64_t>(Value(s.target->args[axis]));
      const int64_t extent = place.type.shape[static_cast<int>(axis)];
      MXC_CHECK(i >= 0 && i < extent, "index {} of axis {} is out of {} in {}",
                i, axis, extent, Print(s.target));
      offset = offset * extent + i;
    }
    int64_t& writer = place.writers[static_cast<size_t>(offset)];
    MXC_CHECK(writer == kNobody || writer == task_,
              "tasks {} and {} write one element of {}", writer, task_,
              Print(s.target));
    writer = task_;
    const bool exact =
        values_.arithmetic.all_double && IsFloat(place.type.dtype);
    (*place.values)[static_cast<size_t>(offset)] =
        exact ? value : Rounded(value, place.type.dtype);
    evaluator_.Forget();
  }

  const Procedure& procedure_;
  StepValues& values_;
  std::vector<WrittenPlace> places_;
  std::vector<std::vector<Element>> local_values_;
  std::vector<LaneValues> vars_;
  int64_t task_ = 0;
  Evaluator evaluator_;
};

}  // namespace

void Procedure::Interpret(StepValues& values) const {
  ProcedureRun(*this, values).Run();
}

}  // namespace mxc
