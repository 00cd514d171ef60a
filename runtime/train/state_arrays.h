// SPDX-License-Identifier: Apache-2.0
// States of a step as arrays, and what files call them.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "runtime/formats/array.h"
#include "runtime/formats/updater_states.h"
#include "runtime/train/state_names.h"
#include "runtime/train/status.h"
#include "runtime/train/train_step.h"

namespace mxc::train {

// The network's own memory: saving a large network must not double it.
runtime::Array ViewOfState(TrainStep& step, size_t index);

// What a parameter's state is in the network, whose states are `view`.
StatusOr<runtime::StateValue> OwnState(
    const StateNames& states, const std::string& parameter,
    const std::function<runtime::Array(size_t)>& view);

// Of a name that may have "arg:" or "aux:" before it.
std::string_view WithoutPrefix(std::string_view name);

// "fc1_weight" of an entry's key; empty: the network has no such parameter.
std::string ParameterOf(const runtime::UpdaterStates::Entry& entry,
                        const TrainFacts& facts);
// "parameter 3", "parameter 'fc1_weight'"
std::string KeyText(const runtime::UpdaterStates::Entry& entry);

}  // namespace mxc::train
