// SPDX-License-Identifier: Apache-2.0
// What a run was told, for TensorBoard's table of runs, its tab HPARAMS: the
// summaries that its plugin "hparams" reads. Format: plugin_data.proto and
// api.proto in tensorboard/plugins/hparams.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mxc::train {

// ("optimizer", "sgd"), ("batch_size", "64"): by name, in the order in which
// they are shown.
using RunSettings = std::vector<std::pair<std::string, std::string>>;

inline constexpr std::string_view kSettingsPlugin = "hparams";
inline constexpr std::string_view kSessionStart =
    "_hparams_/session_start_info";
inline constexpr std::string_view kSessionEnd = "_hparams_/session_end_info";

// What these two tags stand for, at a time of the clock on the wall. A setting
// that reads as a number is one, so that TensorBoard sorts and filters by it.
std::string SessionStartMessage(const RunSettings& settings, double time);
std::string SessionEndMessage(bool failed, double time);

}  // namespace mxc::train
