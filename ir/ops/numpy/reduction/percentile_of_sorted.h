// SPDX-License-Identifier: Apache-2.0
// States the attributes of _percentile_of_sorted.
#pragma once

#include "ir/ops/numpy/reduction/np_percentile.h"
#include "ir/ops/operators.h"

namespace mxc {

struct PercentileOfSortedAttrs {
  PercentileAt interpolation = PercentileAt::kLinear;

  void Describe(Fields& f) { DescribePercentile(f, interpolation); }
};
MXC_ATTRS(PercentileOfSorted, PercentileOfSortedAttrs);

}  // namespace mxc
