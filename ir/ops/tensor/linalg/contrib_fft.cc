// SPDX-License-Identifier: Apache-2.0
// _contrib_fft: the discrete Fourier transform of the last axis.
//   data f[N, d] or f[N, C, H, d] → f[…, 2d], real and imaginary parts in turn
// C1  data has rank 2 or 4
// C2  the prime factors of d are at most kMostFourierFactor
// Source: MXNet 1.9.1 operator/contrib/fft-inl.h.
#include "ir/ops/tensor/linalg/fourier.h"

namespace mxc {
namespace {

void ContribFftTypes(const FourierAttrs&, TypeInference& t) {
  t.AllSameDType();
  Shape out = t.In(0);
  if (!out.known()) return;
  if (!t.Require(out.rank() == 2 || out.rank() == 4,
                 "C1: data has rank {}, expected 2 or 4", out.rank())) {
    return;
  }
  int64_t& last = out[out.rank() - 1];
  if (!RequireFourier(t, "C2", last)) return;
  last *= 2;
  t.SetOut(0, out);
}

std::vector<Value> ContribFftParts(const FourierAttrs&, const Node& node,
                                   GraphBuilder& b) {
  return {Interleaved(b, FourierTransform(b, {node.inputs[0], {}}, false))};
}

}  // namespace

MXC_OP(ContribFft) {
  return Op<FourierAttrs>("_contrib_fft")
      .Doc("the discrete Fourier transform")
      .Types(ContribFftTypes)
      .FloatsOnly()
      .Decompose(ContribFftParts);
}

}  // namespace mxc
