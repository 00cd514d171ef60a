// SPDX-License-Identifier: Apache-2.0
// _proposal_nms: the boxes of the highest scores without those that overlap one
// of a higher score; our own operator, see proposal.cc.
//   boxes   f[N, B, 5]    x1, y1, x2, y2, score
//   order   i32[N, B]     of the scores, descending
//   output  f[N·P, 5]     image, x1, y1, x2, y2; where fewer than P stay, they
//                         come again from the first
//   score   f[N·P, 1]
// Source: MXNet 1.9.1 operator/contrib/proposal.cc.
#include <algorithm>

#include "ir/ops/nn/detection/proposal.h"
#include "ir/program/procedure_builder.h"

namespace mxc {
namespace {

class ProposalNms {
 public:
  ProposalNms(const ProposalAttrs& attrs, ProcedureBuilder& p)
      : attrs_(attrs),
        p_(p),
        boxes_(std::min(p.InShape(0)[1], attrs.rpn_pre_nms_top_n > 0
                                             ? attrs.rpn_pre_nms_top_n
                                             : p.InShape(0)[1])),
        most_(std::min(attrs.rpn_post_nms_top_n, boxes_)),
        type_(p.InDType(0) == DType::kF64 ? DType::kF64 : DType::kF32),
        sides_(p.Array(type_, {4, boxes_})),
        dropped_(p.Array(DType::kBool, {boxes_})),
        kept_(p.Array(DType::kI32, {most_})),
        image_(p.Tasks(p.InShape(0)[0])),
        count_(p.Let(Expr(0))) {}

  void State() {
    p_.For(0, boxes_, [&](const Expr& i) {
      for (int k = 0; k < 4; ++k) p_.Set(sides_(k, i), Number(i, k));
      p_.Set(dropped_(i), Constant(0, DType::kBool));
    });
    p_.For(0, boxes_, [&](const Expr& i) {
      p_.If(count_ >= Expr(most_), [&] { p_.Break(); });
      p_.If(Unary(UnaryOp::kNot, dropped_(i)), [&] { Keep(i); });
    });
    Write();
  }

 private:
  Expr Literal(double value) const { return Constant(value, type_); }
  // A number of the i-th box by score.
  Expr Number(const Expr& i, int column) const {
    const Expr row = Cast(p_.In(1)(image_, i), DType::kI64);
    return Cast(p_.In(0)(image_, row, column), type_);
  }
  Expr Length(const Expr& i, int d) const {
    return sides_(d + 2, i) - sides_(d, i) + Literal(1);
  }

  void Keep(const Expr& i) {
    p_.Set(kept_(count_), i);
    p_.Set(count_, count_ + 1);
    const Expr area = p_.Let(Length(i, 0) * Length(i, 1));
    p_.For(i + 1, Expr(boxes_), boxes_, [&](const Expr& j) {
      Expr meet;
      for (int d = 0; d < 2; ++d) {
        const Expr low = Max(sides_(d, i), sides_(d, j));
        const Expr high = Min(sides_(d + 2, i), sides_(d + 2, j));
        const Expr common = Max(high - low + Literal(1), Literal(0));
        meet = meet ? meet * common : common;
      }
      meet = p_.Let(meet);
      const Expr either = area + Length(j, 0) * Length(j, 1) - meet;
      p_.If(meet / either > Literal(attrs_.threshold),
            [&] { p_.Set(dropped_(j), Constant(1, DType::kBool)); });
    });
  }

  void Write() {
    p_.For(0, attrs_.rpn_post_nms_top_n, [&](const Expr& k) {
      const Expr i = p_.Let(
          Cast(kept_(Select(k < count_, k, k % Max(count_, 1))), DType::kI64));
      const Expr row = p_.Let(image_ * attrs_.rpn_post_nms_top_n + k);
      p_.Set(p_.Out()(row, 0), image_);
      for (int d = 0; d < 4; ++d) p_.Set(p_.Out()(row, d + 1), sides_(d, i));
      p_.Set(p_.Out(1)(row, 0), Number(i, 4));
    });
  }

  const ProposalAttrs& attrs_;
  ProcedureBuilder& p_;
  const int64_t boxes_, most_;  // that are looked at, that may stay
  const DType type_;
  const ProcedureArray sides_;    // x1, y1, x2, y2 of the boxes, by score
  const ProcedureArray dropped_;  // which of them
  const ProcedureArray kept_;     // the others
  const Expr image_, count_;      // of kept_
};

void ProposalNmsTypes(const ProposalAttrs& a, TypeInference& t) {
  for (const int k : {0, 1}) {
    t.SetOut(k, {t.In(0)[0] * a.rpn_post_nms_top_n, k == 0 ? 5 : 1});
    t.SetOutDType(k, t.InDType(0));
  }
}

}  // namespace

MXC_OP(ProposalNms) {
  return Op<ProposalAttrs>("_proposal_nms")
      .Internal()
      .Doc("boxes of the highest scores that do not overlap")
      .Inputs({{"boxes"}, {"order"}})
      .Outputs({"output", "score"})
      .Types(ProposalNmsTypes)
      .Procedure([](const ProposalAttrs& attrs, ProcedureBuilder& p) {
        ProposalNms(attrs, p).State();
      })
      .ZeroGradient();
}

}  // namespace mxc
