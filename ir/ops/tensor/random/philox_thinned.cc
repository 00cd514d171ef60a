// SPDX-License-Identifier: Apache-2.0
// _philox_thinned: numbers of events of a mean below kPtrsMean; our own
// operator, see draws.h. Each of the events at kPtrsMean is kept with the
// probability that leaves as many as wanted: the kept ones are of Poisson's
// distribution, too.
//   state   i64[2]               seed, counter
//   mean    f32[1] or f32[P…]
//   events  f32[P…, S…]          at the mean, kPtrsMean at least
//   output  f32[P…, S…]          at the mean
// C1  the output has fewer than 2^32 elements
// C2  the output's shape begins with that of mean, or this is one
#include "ir/ops/tensor/random/draws.h"

namespace mxc {
namespace {

void PhiloxThinnedMeaning(const PhiloxAttrs& attrs, Definition& def) {
  const PhiloxDraws draws(attrs, def);
  const Expr mean = ParameterOf(def, 1), many = def.In(2, def.Indices());
  const Expr least = Constant(kPtrsMean);
  const auto kept = [&](const Expr& event, const Expr& bits) {
    const Expr happens = Cast(event, DType::kF32) < many;
    return Select(happens && UnitInterval(bits) < mean / least, Constant(1),
                  Constant(0));
  };
  const Expr few =
      Definition::Sum({kMostPtrsEvents / 2}, [&](const std::vector<Expr>& r) {
        const PhiloxBlock two = draws.Block(r[0] + kPoissonKept);
        return kept(r[0] * 2, two.first) + kept(r[0] * 2 + 1, two.second);
      });
  def.Set(0, Select(mean < least, few, many));
}

}  // namespace

MXC_OP(PhiloxThinned) {
  return Op<PhiloxAttrs>("_philox_thinned")
      .Doc("numbers of events, thinned out to a mean below 10")
      .Inputs({{"state"}, {"mean"}, {"events"}})
      .Types([](const PhiloxAttrs& attrs, TypeInference& t) {
        PhiloxTypes(attrs, t);
        ParameterTypes(attrs, 1, 1, "C2", t);
        t.SetIn(2, Shape(attrs.shape));
        t.SetInDType(2, DType::kF32);
      })
      .Internal()
      .ZeroGradient()
      .Meaning(PhiloxThinnedMeaning);
}

}  // namespace mxc
