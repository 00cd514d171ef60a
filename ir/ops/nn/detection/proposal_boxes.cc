// SPDX-License-Identifier: Apache-2.0
// _proposal_boxes: the anchors of all cells, moved by what is predicted for them
// and clipped to the image; our own operator, see proposal.cc.
//   cls_prob   f[N, 2·A, H, W]
//   bbox_pred  f[N, 4·A, H, W]   of centre and size (exp), or of corners with
//                                iou_loss
//   im_info    f[N, 3]
//   anchors    f32[A, 4]         of the first cell
//   output     f[N, H·W·A, 5]    x1, y1, x2, y2, score; corners are pixels, so a
//                                box is x2 − x1 + 1 wide
// Boxes narrower or lower than rpn_min_size, times the image's scale, grow by as
// much and have score −1, as have those of cells beyond the image.
// Source: MXNet 1.9.1 operator/contrib/proposal.cc.
#include "ir/ops/nn/detection/proposal.h"

namespace mxc {
namespace {

class ProposalBox {
 public:
  ProposalBox(const ProposalAttrs& a, const Definition& def)
      : a_(a),
        def_(def),
        i_(def.Indices()),
        anchor_(i_[1] % a.anchors()),
        cell_{i_[1] / a.anchors() % def.InShape(0)[3],
              i_[1] / (a.anchors() * def.InShape(0)[3])} {}

  // Column k of the output.
  Expr Column(int k) const {
    const Expr small = Clipped(2) - Clipped(0) + def_.Lit(1) < Least() ||
                       Clipped(3) - Clipped(1) + def_.Lit(1) < Least();
    if (k < 4) {
      const Expr half = Least() / def_.Lit(2);
      return Select(small, k < 2 ? Clipped(k) - half : Clipped(k) + half,
                    Clipped(k));
    }
    const Expr score =
        def_.In(0, {i_[0], anchor_ + a_.anchors(), cell_[1], cell_[0]});
    return Select(small || IsBeyond(0) || IsBeyond(1), def_.Lit(-1), score);
  }

 private:
  Expr Least() const {
    return def_.In(2, {i_[0], 2}) *
           def_.Lit(static_cast<double>(a_.rpn_min_size));
  }
  // The image's extent along x (0) or y (1).
  Expr Extent(int d) const { return def_.In(2, {i_[0], 1 - d}); }
  Expr IsBeyond(int d) const {
    const Expr cells =
        Unary(UnaryOp::kFloor,
              Extent(d) / def_.Lit(static_cast<double>(a_.feature_stride)));
    return Cast(cell_[d], def_.OutDType()) >= cells;
  }
  Expr Corner(int k) const {
    return Cast(def_.In(3, {anchor_, k}), def_.OutDType()) +
           Cast(cell_[k % 2] * a_.feature_stride, def_.OutDType());
  }
  Expr Difference(int k) const {
    return def_.In(1, {i_[0], anchor_ * 4 + k, cell_[1], cell_[0]});
  }
  Expr Moved(int k) const {
    if (a_.iou_loss) return Corner(k) + Difference(k);
    const int d = k % 2;
    const Expr one = def_.Lit(1), half = def_.Lit(0.5);
    const Expr length = Corner(d + 2) - Corner(d) + one;
    const Expr centre =
        Difference(d) * length + (Corner(d) + half * (length - one));
    const Expr reach = half * (Exp(Difference(d + 2)) * length - one);
    return k < 2 ? centre - reach : centre + reach;
  }
  Expr Clipped(int k) const {
    return Max(Min(Moved(k), Extent(k % 2) - def_.Lit(1)), def_.Lit(0));
  }

  const ProposalAttrs& a_;
  const Definition& def_;
  const std::vector<Expr> i_;
  const Expr anchor_;
  const Expr cell_[2];  // x, y
};

void ProposalBoxesTypes(const ProposalAttrs& a, TypeInference& t) {
  const Shape& scores = t.In(0);
  t.SetOut(0, {scores[0], scores[2] * scores[3] * a.anchors(), 5});
  t.SetOutDType(0, t.InDType(0));
}

}  // namespace

MXC_OP(ProposalBoxes) {
  return Op<ProposalAttrs>("_proposal_boxes")
      .Internal()
      .Doc("the anchors of all cells, moved and clipped")
      .Inputs({{"cls_prob"}, {"bbox_pred"}, {"im_info"}, {"anchors"}})
      .Types(ProposalBoxesTypes)
      .Meaning([](const ProposalAttrs& attrs, Definition& def) {
        const Shape& shape = def.OutShape();
        const ProposalBox box(attrs, def);
        for (int k = 0; k < 5; ++k) {
          def.SetBox(0, {0, 0, k}, {shape[0], shape[1], 1}, box.Column(k));
        }
      })
      .ZeroGradient();
}

}  // namespace mxc
