// SPDX-License-Identifier: Apache-2.0
// The states of a network as the arrays of a checkpoint, and back.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/train/checkpoint.h"
#include "runtime/train/train_step.h"

namespace mxc::train {

// Every state that the step saves, or has collected: parameters and auxiliary states in
// `parameters`, their moving averages in `averages`, the optimizer's in `updater`
// in MXNet's form, the rest in `states`. What was collected stands for the step's
// own of that name. The arrays are the network's own memory,
// not copies: they are valid until its next step. Other fields of the checkpoint
// stay.
// Without `shared` those that it shares with others are left out
// (TrainStep::SavePieces).
Status CaptureStates(TrainStep& step, Checkpoint& checkpoint,
                     bool shared = true);

// Refuses a checkpoint that lacks one of the `wanted` states or has another shape
// or type for it, and one that has a parameter or an optimizer's state of which
// `states` has none. `facts` are of the network that has the states; `wanted`
// null: all.
Status RequireStates(const Checkpoint& checkpoint, const TrainFacts& facts,
                     const std::vector<data::Field>& states,
                     const std::function<bool(size_t)>& wanted = nullptr);

// CaptureStates the other way; refuses what RequireStates refuses, and then
// changes nothing.
Status RestoreStates(const Checkpoint& checkpoint, TrainStep& step);
// The same of the states that the step shares with others (TrainStep::Shares), from
// a checkpoint that the first process has saved for all.
Status RestoreShared(const Checkpoint& checkpoint, TrainStep& step);

// The optimizer's state of one parameter as MXNet holds it, in Python's
// notation: "None", "momentum", "(mean, var)", "(n,)", "(momentum,
// weight_f32)".  Fills the names with arrays, in order.
StatusOr<runtime::StateValue> StateOfForm(
    std::string_view form,
    const std::function<StatusOr<runtime::Array>(std::string_view)>& array);

}  // namespace mxc::train
