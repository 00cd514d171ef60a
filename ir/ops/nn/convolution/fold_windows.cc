// SPDX-License-Identifier: Apache-2.0
// _fold_windows: windows added up where they lie. No operator of MXNet's: the
// gradients of convolutions and Deconvolution are made of it where their kernel
// covers most of the output.
//   windows  t[N, ∏count, C, ∏kernel, R]
//   output   t[N, C, extent…, R]
//            output[i] = Σ windows[y, w] over all y and w with
//            y · stride + w · dilate − pad = i
// C1 – C2  see spatial.h
// C3  count and extent have a positive entry for each of kernel's
// C4  windows have such axes
#include <fmt/format.h>

#include <algorithm>

#include "ir/ops/nn/convolution/fold_windows.h"
#include "ir/ops/nn/spatial/spatial.h"
#include "ir/ops/op.h"
#include "ir/program/strided_pairs.h"

namespace mxc {
namespace {

std::optional<std::string> FoldWindowsCheck(const FoldWindowsAttrs& a) {
  if (auto error = CheckWindow(a.kernel, a.stride, a.dilate, a.pad)) {
    return error;
  }
  for (const Extents& list : {a.count, a.extent}) {
    if (list.size() == a.kernel.size() && std::ranges::min(list) > 0) continue;
    return fmt::format("C3: {} has not {} positive entries", ToString(list),
                       a.kernel.size());
  }
  return std::nullopt;
}

void FoldWindowsTypes(const FoldWindowsAttrs& a, TypeInference& t) {
  t.AllSameDType();
  const Shape& windows = t.In(0);
  if (!windows.known()) return;
  if (!t.Require(windows.rank() == 5 && CheckedProduct(a.count) == windows[1] &&
                     CheckedProduct(a.kernel) == windows[3],
                 "C4: {} are no {} windows of {}", ToString(windows),
                 ToString(a.count), ToString(a.kernel))) {
    return;
  }
  Extents dims = {windows[0], windows[2]};
  dims.insert(dims.end(), a.extent.begin(), a.extent.end());
  dims.push_back(windows[4]);
  t.SetOut(0, Shape(dims));
}

// The windows over a place of one axis, and the tap of each that lies there.
struct WindowsAt {
  StridedPairs pairs;
  bool by_tap = false;  // pairs.first are taps

  Expr window(const Expr& r) const {
    return by_tap ? pairs.second(r) : pairs.first(r);
  }
  Expr tap(const Expr& r) const {
    return by_tap ? pairs.first(r) : pairs.second(r);
  }
};

// By taps or by windows, whichever are fewer.
WindowsAt WindowsOver(const FoldWindowsAttrs& a, size_t d, const Expr& i) {
  const Strided windows = {a.stride[d], a.count[d]};
  const Strided taps = {a.dilate[d], a.kernel[d]};
  const Expr at = i + Expr(a.pad[d]);
  const bool by_tap = taps.count <= windows.count;
  return {by_tap ? PairsThatMeet(at, taps, windows)
                 : PairsThatMeet(at, windows, taps),
          by_tap};
}

void FoldWindowsMeaning(const FoldWindowsAttrs& a, Definition& def) {
  const std::vector<Expr> i = def.Indices();
  std::vector<WindowsAt> axes;
  std::vector<Expr> begin, end;
  for (size_t d = 0; d < a.kernel.size(); ++d) {
    axes.push_back(WindowsOver(a, d, i[2 + d]));
    begin.push_back(axes[d].pairs.begin);
    end.push_back(axes[d].pairs.end);
  }
  def.Set(0, Definition::ReduceOver(
                 ReduceOp::kSum, begin, end, [&](const std::vector<Expr>& r) {
                   std::vector<Expr> window, tap;
                   for (size_t d = 0; d < axes.size(); ++d) {
                     window.push_back(axes[d].window(r[d]));
                     tap.push_back(axes[d].tap(r[d]));
                   }
                   return def.In(
                       0,
                       {i[0], Definition::Flatten(window, Shape(a.count)), i[1],
                        Definition::Flatten(tap, Shape(a.kernel)), i.back()});
                 }));
}

}  // namespace

MXC_OP(FoldWindows) {
  return Op<FoldWindowsAttrs>("_fold_windows")
      .Doc("windows added up where they lie")
      .Inputs({{"windows"}})
      .Check(FoldWindowsCheck)
      .Types(FoldWindowsTypes)
      .Meaning(FoldWindowsMeaning)
      .Internal();
}

}  // namespace mxc
