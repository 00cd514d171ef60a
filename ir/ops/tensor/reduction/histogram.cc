// SPDX-License-Identifier: Apache-2.0
// _histogram: how many elements lie in each of the bins.
//   data    [d…]
//   bins    [B + 1]      the bounds, ascending; without bin_cnt
//   output  i64[B], and the bounds, of data's type: with bin_cnt B bins of one
//           width over `range`
// A bin has its lower bound; the last one has both. NaN and what lies outside
// are not counted.
// C1  bin_cnt comes with a range, of two numbers that ascend
// C2  bins has one axis and at least 2 bounds
// Source: MXNet 1.9.1 operator/tensor/histogram.cc.
#include "ir/ops/op.h"
#include "ir/program/procedure_builder.h"

namespace mxc {
namespace {

struct HistogramAttrs {
  std::optional<int64_t> bin_cnt;
  std::vector<double> range;

  void Describe(Fields& f) {
    f("bin_cnt", bin_cnt)
        .Range(1, 1 << 24)
        .Doc("the number of bins; None: as bins says");
    f("range", range).Doc("(low, high), with bin_cnt");
  }
};

std::optional<std::string> HistogramCheck(const HistogramAttrs& a) {
  if (!a.bin_cnt || (a.range.size() == 2 && a.range[0] <= a.range[1])) {
    return std::nullopt;
  }
  return "C1: bin_cnt needs a range (low, high)";
}

std::vector<InputSpec> HistogramInputs(const HistogramAttrs& a) {
  if (a.bin_cnt) return {{"data"}};
  return {{"data"}, {"bins"}};
}

void HistogramTypes(const HistogramAttrs& a, TypeInference& t) {
  t.SetOutDType(0, DType::kI64);
  t.SetOutDType(1, t.InDType(0));
  if (a.bin_cnt) {
    t.SetOut(0, {*a.bin_cnt});
    return t.SetOut(1, {*a.bin_cnt + 1});
  }
  t.SetInDType(1, t.InDType(0));
  const Shape& bins = t.In(1);
  if (!bins.known() ||
      !t.Require(bins.rank() == 1 && bins[0] >= 2,
                 "C2: bins has shape {}, expected at least 2 bounds",
                 ToString(bins))) {
    return;
  }
  t.SetOut(0, {bins[0] - 1});
  t.SetOut(1, bins);
}

// The last bin whose lower bound does not exceed x, which lies within them all.
Expr BinOf(ProcedureBuilder& p, const Expr& x, int64_t bins) {
  const Expr low = p.Let(Expr(0)), high = p.Let(Expr(bins));
  constexpr int64_t kMostHalves = 64;
  p.For(0, kMostHalves, [&](const Expr&) {
    p.If(high - low <= 1, [&] { p.Break(); });
    const Expr middle = p.Let((low + high) / 2);
    p.If(
        p.Out(1)(middle) <= x, [&] { p.Set(low, middle); },
        [&] { p.Set(high, middle); });
  });
  return low;
}

void HistogramProcedure(const HistogramAttrs& a, ProcedureBuilder& p) {
  const int64_t bins = p.OutShape(0)[0];
  const DType type = p.OutDType(1);
  p.For(0, bins + 1, [&](const Expr& k) {
    if (!a.bin_cnt) return p.Set(p.Out(1)(k), p.In(1)(k));
    const double low = a.range[0], high = a.range[1];
    const Expr at =
        Cast(k, DType::kF64) *
        Constant((high - low) / static_cast<double>(bins), DType::kF64);
    p.Set(p.Out(1)(k), Cast(at + Constant(low, DType::kF64), type));
  });
  p.For(0, bins,
        [&](const Expr& k) { p.Set(p.Out()(k), Constant(0, DType::kI64)); });
  const Shape& data = p.InShape(0);
  p.For(0, data.elements(), [&](const Expr& i) {
    const Expr x = p.Let(p.In(0).At(Definition::Unflatten(i, data)));
    p.If(x >= p.Out(1)(0) && x <= p.Out(1)(bins), [&] {
      const Expr bin = BinOf(p, x, bins);
      p.Set(p.Out()(bin), p.Out()(bin) + Constant(1, DType::kI64));
    });
  });
}

}  // namespace

MXC_OP(Histogram) {
  return Op<HistogramAttrs>("_histogram")
      .Alias({"_npi_histogram", "histogram"})
      .Doc("how many elements lie in each of the bins")
      .InputsOf(HistogramInputs)
      .Outputs({"output0", "output1"})
      .Check(HistogramCheck)
      .Types(HistogramTypes)
      .Procedure(HistogramProcedure)
      .ZeroGradient();
}

}  // namespace mxc
