// SPDX-License-Identifier: Apache-2.0
// --input-shape NAME:1xL, in which letters stand for lengths.
#pragma once

#include <string>
#include <vector>

#include "tools/driver/request.h"

namespace mxc {

// The shapes for sequences of some lengths, which stand for the letters; where they
// are not `open`, for L alone. A letter that has none stands for the first one.
std::vector<std::string> WithLengths(std::vector<std::string> shapes, bool open,
                                     const Lengths& lengths);

// The axes that have letters, by input.
OpenAxes AxesOfLengths(const std::vector<std::string>& shapes);

}  // namespace mxc
