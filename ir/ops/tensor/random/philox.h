// SPDX-License-Identifier: Apache-2.0
// Operators with the random state, i64[2] = (seed, counter), as input 0 and an
// output of f32 in which element i depends on the state, the stream and i.
#pragma once

#include "ir/ops/op.h"
#include "ir/program/philox.h"

namespace mxc {

struct PhiloxAttrs {
  Extents shape = {};
  int64_t stream = 0;

  void Describe(Fields& f) {
    f("shape", shape).Required().Min(0).Doc("extents");
    f("stream", stream)
        .Range(-0x1p63, 0x1p63)
        .Doc("tells apart what draws in one run");
  }
};
MXC_ATTRS(PhiloxNormal, PhiloxAttrs);
MXC_ATTRS(PhiloxThinned, PhiloxAttrs);
MXC_ATTRS(PhiloxUniform, PhiloxAttrs);

// C1: the output has fewer than 2^32 elements.
void PhiloxTypes(const PhiloxAttrs& attrs, TypeInference& t);  // of f32
void PhiloxTypesOf(DType dtype, const PhiloxAttrs& attrs, TypeInference& t);

// The random state as input `input` of a meaning.
PhiloxState StateOf(const Definition& def, int64_t stream, int input = 0);
// Of the output's element at its index variables.
PhiloxBlock BlockOf(const PhiloxAttrs& attrs, const Definition& def);

}  // namespace mxc
