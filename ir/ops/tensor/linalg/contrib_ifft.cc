// SPDX-License-Identifier: Apache-2.0
// _contrib_ifft: the real part of the inverse of _contrib_fft, d times as large.
//   data f[N, 2d] or f[N, C, H, 2d] → f[…, d]
// C1  data has rank 2 or 4, and pairs along the last axis
// C2  the prime factors of d are at most kMostFourierFactor
// Source: MXNet 1.9.1 operator/contrib/ifft-inl.h.
#include "ir/ops/tensor/linalg/fourier.h"

namespace mxc {
namespace {

void ContribIfftTypes(const FourierAttrs&, TypeInference& t) {
  t.AllSameDType();
  Shape out = t.In(0);
  if (!out.known()) return;
  const int rank = out.rank();
  if (!t.Require((rank == 2 || rank == 4) && out[rank - 1] % 2 == 0,
                 "C1: data has shape {}, expected rank 2 or 4, with pairs",
                 ToString(out))) {
    return;
  }
  out[rank - 1] /= 2;
  if (RequireFourier(t, "C2", out[rank - 1])) t.SetOut(0, out);
}

std::vector<Value> ContribIfftParts(const FourierAttrs&, const Node& node,
                                    GraphBuilder& b) {
  return {FourierTransform(b, Separated(b, node.inputs[0]), true).real};
}

}  // namespace

MXC_OP(ContribIfft) {
  return Op<FourierAttrs>("_contrib_ifft")
      .Doc("the inverse of the discrete Fourier transform")
      .Types(ContribIfftTypes)
      .FloatsOnly()
      .Decompose(ContribIfftParts);
}

}  // namespace mxc
