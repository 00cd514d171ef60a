// SPDX-License-Identifier: Apache-2.0
// _sample_unique_zipfian: classes drawn until so many different ones came, small
// ones more likely than large ones: a draw is e^(u·log range_max), u uniform,
// rounded, less 1.
//   samples    i64[shape], rows of different classes in the order they came
//   num_tries  i64[rows]: how many draws there were
// C1  shape has two axes, of which the second is at most range_max
// C2  classes of all rows are fewer than 2^32
// What came first among draws with replacement is in the order of the greatest
// log p − log(−log u) (Gumbel). Between new classes there are as many draws as
// it takes to leave those that came, of probability s together: the first
// integer from log u / log s on.
// Source: MXNet 1.9.1 operator/random/unique_sample_op.h.

#include "ir/ops/numpy/np_composition.h"
#include "ir/ops/numpy/random/np_random.h"
#include "ir/ops/numpy/reduction/np_cumsum.h"
#include "ir/ops/tensor/create/arange.h"
#include "ir/ops/tensor/elementwise/clip.h"
#include "ir/ops/tensor/elementwise/scalar.h"
#include "ir/ops/tensor/sort/topk.h"

namespace mxc {
namespace {

constexpr int64_t kMostClasses = int64_t{1} << 31;

struct UniqueZipfianAttrs {
  int64_t range_max = 1;
  Extents shape;

  void Describe(Fields& f) {
    f("range_max", range_max)
        .Required()
        .Range(1, static_cast<double>(kMostClasses))
        .Doc("how many classes there are");
    f("shape", shape).Min(1).Doc("rows, and classes in each");
  }
};

void UniqueZipfianTypes(const UniqueZipfianAttrs& a, TypeInference& t) {
  t.SetOutDType(0, DType::kI64);
  t.SetOutDType(1, DType::kI64);
  if (!t.Require(a.shape.size() == 2 && a.shape[1] <= a.range_max,
                 "C1: shape {} of {} classes", ToString(a.shape),
                 a.range_max)) {
    return;
  }
  const auto all = CheckedProduct({a.shape[0], a.range_max});
  t.Require(all && *all < int64_t{1} << 32, "C2: {} rows of {} classes",
            a.shape[0], a.range_max);
  t.SetOut(0, Shape(a.shape));
  t.SetOut(1, Shape{a.shape[0]});
}

// f32[classes]: of class c, the part of 0 … log range_max where numbers are
// rounded to c + 1.
Value ZipfianChances(GraphBuilder& b, int64_t classes) {
  if (classes == 1) return b.Ones({DType::kF32, Shape{1}});
  const auto count = static_cast<double>(classes);
  const Value c = b.Op<op::Arange>(
      {},
      {.start = 0, .stop = static_cast<double>(classes), .dtype = DType::kF64});
  const auto edge = [&](double after) {
    return b.Log(
        b.Op<op::Clip>({b.Add(c, after)}, {.a_min = 1, .a_max = count}));
  };
  return b.Cast(b.Div(b.Sub(edge(1.5), edge(0.5)), std::log(count)),
                DType::kF32);
}

std::vector<Value> UniqueZipfianParts(const UniqueZipfianAttrs& a, const Node&,
                                      GraphBuilder& b) {
  const int64_t rows = a.shape[0], drawn = a.shape[1];
  const Value chances = ZipfianChances(b, a.range_max);
  const Value waiting = StandardExponential(b, Shape{rows, a.range_max});
  const Value keys =
      b.Sub(b.Reshape(b.Log(chances), Shape{1, a.range_max}), b.Log(waiting));
  const Value samples =
      b.Op<op::Topk>({keys}, {.k = drawn, .dtype = DType::kI64});
  if (drawn == 1) {
    return {samples, b.Ones({DType::kI64, Shape{rows}})};
  }
  const Value came =
      b.Op<op::NpCumsum>({b.Op<op::Take>({chances, samples})}, {.axis = 1});
  const Value before = b.Op<op::MinimumScalar>(
      {b.SliceAxis(came, 1, 0, drawn - 1)}, {.scalar = 0.9999999});
  const Value u = b.Op<op::MaximumScalar>(
      {b.Uniform(Shape{rows, drawn - 1}, "tries")}, {.scalar = 2.98023224e-08});
  const Value tries = b.Op<op::MaximumScalar>(
      {b.Op<op::Ceil>({b.Div(b.Log(u), b.Log(before))})}, {.scalar = 1});
  return {samples, b.Cast(b.Add(b.Sum(tries, {1}), 1), DType::kI64)};
}

}  // namespace

MXC_OP(SampleUniqueZipfian) {
  return Op<UniqueZipfianAttrs>("_sample_unique_zipfian")
      .Doc("different classes, small ones more likely")
      .Inputs({})
      .Outputs({"samples", "num_tries"})
      .RandomIf([](const auto&, bool) { return true; })
      .Types(UniqueZipfianTypes)
      .Decompose(UniqueZipfianParts)
      .ZeroGradient();
}

}  // namespace mxc
