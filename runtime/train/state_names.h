// SPDX-License-Identifier: Apache-2.0
// Which state of a network is what in MXNet's files.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/data/iterator.h"
#include "runtime/train/train_step.h"

namespace mxc::train {

// The name of the state that is the moving average of another one.
std::string AverageOf(std::string_view state);
// The state whose average has this name; empty: it is none's.
std::string_view AveragedBy(std::string_view average);

// "((mean, var), weight_f32)" → mean, var, weight_f32.
std::vector<std::string> NamesOfForm(std::string_view form);

class StateNames {
 public:
  // Which of the files holds a state.
  enum class Place { kParameter, kAuxiliary, kOptimizer, kElsewhere };

  // `facts` must outlive this.
  StateNames(const TrainFacts& facts, const std::vector<data::Field>& states);

  // The form of a parameter's state in MXNet's files; "None" of one that is not
  // updated.
  const std::string& FormOf(const std::string& parameter) const;
  // Returns whether the optimizer keeps what it keeps of a parameter. It keeps
  // nothing of one that is fixed, that has no gradient or that nothing reads.
  bool IsUpdated(const std::string& parameter) const;
  Place PlaceOf(const std::string& name) const;
  std::optional<size_t> Find(std::string_view name) const;

 private:
  const std::string& OptimizersForm(const std::string& parameter) const;

  const TrainFacts& facts_;
  std::map<std::string, Place> places_;
  std::map<std::string, size_t, std::less<>> indices_;
};

}  // namespace mxc::train
