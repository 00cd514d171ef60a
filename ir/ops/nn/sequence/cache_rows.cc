// SPDX-License-Identifier: Apache-2.0
// _cache_rows: rows behind those of the runs before.
//   data      [n, d1 …]
//   position  [n]   where the first row of each text stands
//   stream    [n]   which text it is, 0 ≤ stream < streams
//   output    [n, d1 …] with bound in place of the extent of axis:
//             output[i, …, position[i] + t, …] = data[i, …, t, …], other rows of
//             the text `stream[i]` as the run before has left them, zeros at
//             first. With n = streams, stream[i] is i.
// Rows beyond bound are dropped, and those of a text that there is not. The rows
// of all texts are the state <name>/past, [streams, d1 …] with bound.
// C1  axis is one of data's, and not the first
// C2  the rows of all texts are a tensor
// C3  data has as many rows as are to come at once
#include "ir/ops/nn/sequence/cache.h"

namespace mxc {
namespace {

TensorType PastOf(const CacheRowsAttrs& a, TensorType data) {
  data.shape[0] = a.streams;
  data.shape[static_cast<int>(a.axis)] = a.bound;
  return data;
}

void CacheRowsTypes(const CacheRowsAttrs& a, TypeInference& t) {
  t.SetOutDType(0, t.InDType(0));
  t.SetInDType(0, t.OutDType(0));
  const Shape& data = t.In(0);
  if (!data.known_rank() || !HasCachedAxis(a, data, t)) return;
  const int64_t rows = data[static_cast<int>(a.axis)];
  const bool fits = a.rows == 0 || rows == Shape::kUnknownDim || rows == a.rows;
  if (!t.Require(fits,
                 "C3: {} rows at once, expected {}; the length of the inputs "
                 "is to be left open, as \"T\" does",
                 rows, a.rows)) {
    return;
  }
  t.SetIn(1, Shape{data[0]});
  t.SetIn(2, Shape{data[0]});
  Shape out = data;
  out[static_cast<int>(a.axis)] = a.bound;
  t.SetOut(0, out);
  if (!data.known() || t.InDType(0) == DType::kUnknown) return;
  const auto unfit = Unfit(PastOf(a, {t.InDType(0), data}));
  t.Require(!unfit, "C2: the rows of {} texts have {}", a.streams,
            unfit.value_or(""));
}

std::vector<Value> CacheRowsParts(const CacheRowsAttrs& a, const Node& node,
                                  GraphBuilder& b) {
  const Value data = node.inputs[0];
  const Value past = b.State(node.name + "/past", Tensor());  // zeros
  past.node->types[0] = PastOf(a, data.type());
  const Value now =
      b.Op<op::Append>({data, node.inputs[1], node.inputs[2], past}, a);
  b.Update(past, now);
  if (data.shape()[0] == a.streams) return {now};
  return {b.Op<op::Take>({now, node.inputs[2]})};
}

}  // namespace

MXC_OP(CacheRows) {
  return Op<CacheRowsAttrs>("_cache_rows")
      .Internal()
      .Doc("rows behind those of the runs before")
      .Inputs({{"data"}, {"position"}, {"stream"}})
      .Types(CacheRowsTypes)
      .Decompose(CacheRowsParts);
}

}  // namespace mxc
