// SPDX-License-Identifier: Apache-2.0
// A request as text: ("epochs", "2"), as bindings and other programs give it.
#pragma once

#include <span>
#include <string>
#include <utility>

#include "runtime/fit/request.h"
#include "runtime/fit/status.h"

namespace mxc::fit {

using Setting = std::pair<std::string, std::string>;

// Of a name that stands there several times the last one counts; of a list,
// such as "data-opt", all. One status names every mistake.
StatusOr<Request> ReadRequest(std::span<const Setting> settings);

// A line for each setting: "epochs=1   in all, resumed ones included".
std::string DescribeSettings();

}  // namespace mxc::fit
