// SPDX-License-Identifier: Apache-2.0
// _multi_box_nms: the boxes of a score of at least `threshold`, without the
// classes of those that overlap one of a higher score; our own operator, see
// multi_box_detection.cc.
//   classes, scores  f[N, A]
//   boxes            f[N, A, 4]
//   order            i32[N, A]      of the scores, descending
//   output           f[N, A, 6]     class, score, box: first those of the
//                                   nms_topk highest scores, by score; then,
//                                   by anchor and with class −1, those that
//                                   this many of them would precede; then −1
// Without a legal nms_threshold all boxes stand in the order of anchors.
// Source: MXNet 1.9.1 operator/contrib/multibox_detection.cc.
#include "ir/ops/nn/detection/multi_box_detection.h"
#include "ir/program/procedure_builder.h"

namespace mxc {
namespace {

class MultiBoxNms {
 public:
  MultiBoxNms(const MultiBoxDetectionAttrs& attrs, ProcedureBuilder& p)
      : attrs_(attrs),
        p_(p),
        anchors_(p.InShape(0)[1]),
        type_(p.InDType(0) == DType::kF64 ? DType::kF64 : DType::kF32),
        image_(p.Tasks(p.InShape(0)[0])),
        boxes_(p.Let(Expr(0))) {}

  void State() {
    p_.For(0, anchors_, [&](const Expr& a) {
      const Expr score = p_.Let(Cast(p_.In(1)(image_, a), type_));
      p_.If(score >= Literal(attrs_.threshold) && score > Literal(-1), [&] {
        Write(boxes_, a);
        p_.Set(boxes_, boxes_ + 1);
      });
    });
    p_.For(boxes_, anchors_, anchors_, [&](const Expr& row) {
      p_.For(0, 6, [&](const Expr& k) { p_.Set(Out(row, k), Literal(-1)); });
    });
    if (attrs_.nms_threshold > 0 && attrs_.nms_threshold <= 1) Drop();
  }

 private:
  Expr Literal(double value) const { return Constant(value, type_); }
  Expr Out(const Expr& row, const Expr& column) const {
    return p_.Out()(image_, row, column);
  }
  Expr Number(const Expr& row, const Expr& column) const {
    return Cast(Out(row, column), type_);
  }

  void Write(const Expr& row, const Expr& anchor) {
    p_.Set(Out(row, 0), p_.In(0)(image_, anchor));
    p_.Set(Out(row, 1), p_.In(1)(image_, anchor));
    p_.For(0, 4, [&](const Expr& k) {
      p_.Set(Out(row, k + 2), p_.In(2)(image_, anchor, k));
    });
  }

  void Drop() {
    Expr count = boxes_;
    if (attrs_.nms_topk > 0) count = Min(boxes_, Expr(attrs_.nms_topk));
    count = p_.Let(count);
    p_.For(0, count, anchors_, [&](const Expr& i) {
      Write(i, p_.Let(Cast(p_.In(3)(image_, i), DType::kI64)));
    });
    p_.For(count, boxes_, anchors_,
           [&](const Expr& i) { p_.Set(Out(i, 0), Literal(-1)); });
    p_.For(0, count, anchors_, [&](const Expr& i) {
      const Expr klass = p_.Let(Number(i, 0));
      p_.If(klass >= Literal(0), [&] {
        const Expr box[] = {p_.Let(Number(i, 2)), p_.Let(Number(i, 3)),
                            p_.Let(Number(i, 4)), p_.Let(Number(i, 5))};
        p_.For(i + 1, count, anchors_, [&](const Expr& j) {
          const Expr other = p_.Let(Number(j, 0));
          const Expr meets =
              attrs_.force_suppress ? other >= Literal(0) : other == klass;
          p_.If(meets, [&] { DropIfOverlapped(box, j); });
        });
      });
    });
  }

  void DropIfOverlapped(const Expr (&box)[4], const Expr& j) {
    Expr meet, area, other;
    for (int d = 0; d < 2; ++d) {
      const Expr low = p_.Let(Number(j, 2 + d));
      const Expr high = p_.Let(Number(j, 4 + d));
      const Expr common =
          Max(Min(box[d + 2], high) - Max(box[d], low), Literal(0));
      meet = meet ? meet * common : common;
      area = area ? area * (box[d + 2] - box[d]) : box[d + 2] - box[d];
      other = other ? other * (high - low) : high - low;
    }
    meet = p_.Let(meet);
    const Expr either = p_.Let(area + other - meet);
    const Expr overlap = Select(either > Literal(0), meet / either, Literal(0));
    p_.If(overlap >= Literal(attrs_.nms_threshold),
          [&] { p_.Set(Out(j, 0), Literal(-1)); });
  }

  const MultiBoxDetectionAttrs& attrs_;
  ProcedureBuilder& p_;
  const int64_t anchors_;
  const DType type_;
  const Expr image_;
  const Expr boxes_;  // that have a class, in rows 0 … of the output
};

void MultiBoxNmsTypes(const MultiBoxDetectionAttrs&, TypeInference& t) {
  t.SetOutDType(0, t.InDType(0));
  t.SetOut(0, {t.In(0)[0], t.In(0)[1], 6});
}

}  // namespace

MXC_OP(MultiBoxNms) {
  return Op<MultiBoxDetectionAttrs>("_multi_box_nms")
      .Internal()
      .Doc("boxes without those that overlap one of a higher score")
      .Inputs({{"classes"}, {"scores"}, {"boxes"}, {"order"}})
      .Types(MultiBoxNmsTypes)
      .Procedure([](const MultiBoxDetectionAttrs& attrs, ProcedureBuilder& p) {
        MultiBoxNms(attrs, p).State();
      })
      .ZeroGradient();
}

}  // namespace mxc
