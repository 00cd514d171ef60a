// SPDX-License-Identifier: Apache-2.0
// Prints the dimensions, strides and axes of a contraction: the text of a step
// and the key of its kernel.
#pragma once

#include <string>
#include <string_view>

#include "ir/program/program.h"

namespace mxc {

// "n=1 g=1 k=64 … pad=(1, 1) axes [n gk s0 s1] [gm k s0 s1] [n gm s0 s1]": all
// that a contraction is, so that equal texts are equal contractions. `gap`
// stands before "axes".
std::string ToString(const Contraction& c, std::string_view gap = " ");

}  // namespace mxc
