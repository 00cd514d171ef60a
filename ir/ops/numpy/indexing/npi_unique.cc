// SPDX-License-Identifier: Apache-2.0
// _npi_unique: the different elements of an array, ascending; -0 is 0. With axis
// 0 the different rows, by their first elements, then by their second ….
//   data     t[…], n elements; or t[n, …]
//   output   t[n]; or t[n, …]
//   index    i64[n]   where each is first, in row-major order   return_index
//   inverse  i64[n]   which of them each element is             return_inverse
//   counts   i64[n]   how often each is there                   return_counts
//   count    i32[1]   how many there are; hidden. All but inverse have so many
// NaN is greater than every number, and each one another element, as NumPy had
// it; MXNet 1.9.1 leaves behind a NaN what is not in order.
// C1  axis is None or 0
// C2  data have fewer than 2^31 elements
// C3  a row has at most 256 elements
// Source: MXNet 1.9.1 operator/numpy/np_unique_op.cc.
#include "ir/ops/numpy/indexing/npi_unique.h"

#include "ir/ops/numpy/np_composition.h"
#include "ir/ops/numpy/reduction/np_cumsum.h"
#include "ir/ops/tensor/elementwise/cast.h"
#include "ir/ops/tensor/indexing/cut.h"
#include "ir/ops/tensor/indexing/take.h"
#include "ir/ops/tensor/reduction/reduction.h"
#include "ir/ops/tensor/sort/argsort.h"
#include "ir/ops/tensor/sort/sorting.h"

namespace mxc {
namespace {

// Each column of rows is sorted by steps of its own.
constexpr int64_t kMostColumns = 256;

std::optional<std::string> CheckUnique(const UniqueAttrs& a) {
  if (a.axis.value_or(0) == 0) return std::nullopt;
  return fmt::format("C1: axis is {}, expected None or 0", *a.axis);
}

std::vector<std::string> UniqueOutputs(const UniqueAttrs& a) {
  std::vector<std::string> names = {"output"};
  if (a.return_index) names.emplace_back("index");
  if (a.return_inverse) names.emplace_back("inverse");
  if (a.return_counts) names.emplace_back("counts");
  names.emplace_back("count");
  return names;
}

// Types of the outputs, one of which is rows.
void RowTypes(const UniqueAttrs& a, TypeInference& t) {
  t.SetOut(0, t.In(0));
  const Shape& data = t.In(0);
  if (!data.known()) return;
  if (!t.Require(data.rank() > 0, "C1: data have no axis 0")) return;
  const int64_t columns = data.elements() / data[0];
  if (!t.Require(columns <= kMostColumns,
                 "C3: rows have {} elements, expected at most {}", columns,
                 kMostColumns)) {
    return;
  }
  for (int i = 1; i < a.visible(); ++i) t.SetOut(i, {data[0]});
}

void UniqueTypes(const UniqueAttrs& a, TypeInference& t) {
  t.SetOutDType(0, t.InDType(0));
  for (int i = 1; i < a.visible(); ++i) t.SetOutDType(i, DType::kI64);
  t.SetOutDType(a.visible(), DType::kI32);
  t.SetOut(a.visible(), {1});
  if (a.axis) return RowTypes(a, t);
  const auto sorted = RequireSortedAxis({}, t);
  if (!sorted) return;
  for (int i = 0; i < a.visible(); ++i) t.SetOut(i, sorted->sorted);
}

DataLength UniqueLength(const UniqueAttrs& a) {
  DataLength length = {.count = a.visible(), .axes = {}, .by = {0}};
  length.axes.assign(static_cast<size_t>(a.visible()), 0);
  if (a.return_inverse) length.axes[a.return_index ? 2 : 1] = -1;
  return length;
}

// Writes one node out, of n sorted elements.
class UniqueParts {
 public:
  UniqueParts(const UniqueAttrs& attrs, const Node& node, GraphBuilder& b)
      : b_(b),
        sorted_(attrs.axis ? SortedRows(node.inputs[0], b)
                           : SortedElements(node, b)),
        n_(static_cast<int>(sorted_.values.shape()[0])),
        begins_(Begins()),
        found_(b.Ops<op::NonzeroPlaces>({begins_}, "places")) {}

  std::vector<Value> Write(const UniqueAttrs& a) {
    std::vector<Value> parts = {b_.Op<op::Take>({sorted_.values, found_[0]})};
    if (a.return_index) {
      parts.push_back(Long(b_.Op<op::Take>({sorted_.order, found_[0]})));
    }
    if (a.return_inverse) parts.push_back(Long(Inverse()));
    if (a.return_counts) parts.push_back(Long(Counts()));
    parts.push_back(found_[1]);
    return parts;
  }

 private:
  struct Sorted {
    Value order;   // i32[n]
    Value values;  // in it
  };

  static Sorted SortedElements(const Node& node, GraphBuilder& b) {
    const SortParts parts = SortInput({}, node, b);
    return {parts.order, SortedValues(parts, b)};
  }

  // By columns, from the last one to the first. Equal elements keep their order.
  static Sorted SortedRows(Value data, GraphBuilder& b) {
    const int64_t rows = data.shape()[0];
    const int64_t columns = data.shape().elements() / rows;
    const Value table = b.Reshape(data, Shape{rows, columns});
    Value order;
    for (int64_t k = columns; k-- > 0;) {
      const Value column =
          b.Reshape(b.SliceAxis(table, 1, k, k + 1), Shape{rows});
      const bool first = order.node == nullptr;
      const Value key = first ? column : b.Op<op::Take>({column, order});
      const Value next =
          b.Op<op::Argsort>({key}, {.axis = 0, .dtype = DType::kI32});
      order = first ? next : b.Op<op::Take>({order, next});
    }
    return {order, b.Op<op::Take>({data, order})};
  }

  Value Long(Value x) { return b_.Cast(x, DType::kI64); }
  Value Ones(int64_t count) { return b_.Ones({DType::kI32, Shape{count}}); }

  // i32[n]: 1 where an element, or a row, is another one than that before it.
  Value Begins() {
    if (n_ == 1) return Ones(1);
    const Value before = b_.SliceAxis(sorted_.values, 0, 0, n_ - 1);
    const Value element = b_.SliceAxis(sorted_.values, 0, 1, n_);
    const Value other =
        b_.Cast(b_.Op<op::BroadcastNotEqual>({element, before}), DType::kI32);
    if (other.shape().rank() == 1) return b_.Concat({Ones(1), other}, 0);
    const Value columns =
        b_.Reshape(other, Shape{n_ - 1, other.shape().elements() / (n_ - 1)});
    const Value any = b_.Op<op::Max>({columns}, {.axis = Extents{1}});
    return b_.Concat({Ones(1), any}, 0);
  }
  Value Inverse() {
    const Value group =
        b_.Sub(b_.Op<op::NpCumsum>({begins_}, {.axis = 0}, "group"), 1);
    const Value place =
        b_.Op<op::Argsort>({sorted_.order}, {.axis = 0, .dtype = DType::kI32});
    return b_.Op<op::Take>({group, place});
  }
  // From where one begins to where the next one does, or the elements end.
  Value Counts() {
    const Value begin =
        b_.Op<op::Cut>({found_[0], found_[1]},
                       {.axis = 0, .neutral = static_cast<double>(n_)});
    const Value end = b_.Mul(Ones(1), n_);
    if (n_ == 1) return b_.Sub(end, begin);
    return b_.Sub(b_.Concat({b_.SliceAxis(begin, 0, 1, n_), end}, 0), begin);
  }

  GraphBuilder& b_;
  const Sorted sorted_;
  const int n_;
  const Value begins_;
  const std::vector<Value> found_;
};

}  // namespace

MXC_OP(NpiUnique) {
  return Op<UniqueAttrs>("_npi_unique")
      .Doc("the different elements, ascending; how many, data decide")
      .OutputsOf(UniqueOutputs)
      .VisibleOutputsOf([](const UniqueAttrs& a) { return a.visible(); })
      .Check(CheckUnique)
      .Types(UniqueTypes)
      .LengthByDataOf(UniqueLength)
      .Decompose([](const UniqueAttrs& a, const Node& node, GraphBuilder& b) {
        return UniqueParts(a, node, b).Write(a);
      })
      .ZeroGradient();
}

}  // namespace mxc
