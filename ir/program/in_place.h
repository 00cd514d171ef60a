// SPDX-License-Identifier: Apache-2.0
// Boxes of one buffer that lie in another, where it keeps them anyway: parts of
// a concatenation, slices.
#pragma once

#include <optional>

#include "ir/program/program.h"

namespace mxc {

// A store that copies a box of an input as it is: element `from` of the input
// goes to the store's `begin`, and so on along all axes.
struct BoxCopy {
  int input = 0;  // number of the operand
  Extents from;
};
std::optional<BoxCopy> MatchBoxCopy(const Store& store);

// Bytes by which the element of `to` lies further into its buffer than that of
// `from` does, if that is the same for each element of the box that begins
// at these indices.
std::optional<int64_t> BytesBetween(const Buffer& from,
                                    const Extents& from_begin, const Buffer& to,
                                    const Extents& to_begin,
                                    const Extents& extent);

// Whether a step has nothing to do: its stores copy what lies, under aliases,
// where they would put it.
bool IsInPlace(const Program& program, const Step& step);

}  // namespace mxc
