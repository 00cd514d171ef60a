// SPDX-License-Identifier: Apache-2.0
// How good forms of a network are, for people and for scripts.
#pragma once

#include <string>
#include <string_view>

#include "tools/quantize/trial.h"
#include "tools/terminal.h"

namespace mxc {

Json JsonOf(const Accuracy& accuracy);

// Rows with both figures of each metric; `narrow` is the head of the second
// column.
void PrintAccuracy(const Accuracy& before, const Accuracy& after,
                   std::string_view narrow);

// "accuracy 0.9911 -> 0.9906, agreement 0.9985": in a line.
std::string AccuracyText(const Accuracy& before, const Accuracy& after);

}  // namespace mxc
