// SPDX-License-Identifier: Apache-2.0
// An operator as a type, so that the compiler knows its name and its attributes
// where a rule makes a node of it. ir/ops/operators.h declares one for each.
#pragma once

namespace mxc {

struct Operator;

template <class Id>
const Operator& OperatorOf();

// `type` is the struct of the operator's attributes, beside which MXC_ATTRS
// says so.
template <class Id>
struct AttrsOf;

}  // namespace mxc
