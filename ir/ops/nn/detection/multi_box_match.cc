// SPDX-License-Identifier: Apache-2.0
// _multi_box_match: which object each anchor is of; our own operator, see
// multi_box_target.cc.
//   overlaps  f[A, N, G]     of anchors and objects
//   label     f[N, G, ≥ 5]   only the classes matter: −1 ends the objects
//   order     i32[N, A]      anchors by the chance of no object, ascending; with
//                            negative_mining_ratio
//   match     i32[N, A]      the object, kIgnoredAnchor or kNegativeAnchor
// Pairs of the greatest overlap come first, each object once; then each anchor
// that overlaps some object by more than overlap_threshold is its. Of the
// others those of the least chance of no object are negative, so many to one
// with an object as negative_mining_ratio says; without it, all. An image
// without objects has ignored anchors alone.
// Source: MXNet 1.9.1 operator/contrib/multibox_target.cc.
#include "ir/ops/nn/detection/multi_box_target.h"
#include "ir/program/procedure_builder.h"

namespace mxc {
namespace {

class MultiBoxMatch {
 public:
  MultiBoxMatch(const MultiBoxTargetAttrs& attrs, ProcedureBuilder& p)
      : attrs_(attrs),
        p_(p),
        anchors_(p.InShape(0)[0]),
        most_(p.InShape(0)[2]),
        type_(p.InDType(0)),
        paired_(p.Array(DType::kBool, {most_})),
        image_(p.Tasks(p.InShape(0)[1])),
        objects_(p.Let(Expr(0))),
        positive_(p.Let(Expr(0))) {}

  void State() {
    Fill(kIgnoredAnchor);
    p_.For(0, most_, [&](const Expr& g) {
      p_.If(p_.In(1)(image_, g, 0) == Literal(-1), [&] { p_.Break(); });
      p_.Set(paired_(g), Constant(0, DType::kBool));
      p_.Set(objects_, objects_ + 1);
    });
    p_.If(objects_ > 0, [&] {
      Pair();
      if (attrs_.overlap_threshold > 0) Join();
      if (attrs_.mines()) {
        Mine();
      } else {
        Deny();
      }
    });
  }

 private:
  Expr Literal(double value) const { return Constant(value, type_); }
  Expr Match(const Expr& anchor) const { return p_.Out()(image_, anchor); }
  Expr IsFree(const Expr& anchor) const {
    return Match(anchor) < Constant(0, DType::kI32);
  }
  void SetMatch(const Expr& anchor, const Expr& match) {
    p_.Set(Match(anchor), match);
  }
  void Fill(int64_t match) {
    p_.For(0, anchors_,
           [&](const Expr& a) { SetMatch(a, Constant(match, DType::kI32)); });
  }

  // The object that an anchor overlaps most, and by how much; the first one.
  struct Best {
    Expr object, overlap;
  };
  Best BestOf(const Expr& anchor) {
    const Best best = {p_.Let(Expr(-1)), p_.Let(Literal(-1))};
    p_.For(0, objects_, most_, [&](const Expr& g) {
      const Expr overlap = p_.Let(p_.In(0)(anchor, image_, g));
      p_.If(overlap > best.overlap, [&] {
        p_.Set(best.overlap, overlap);
        p_.Set(best.object, g);
      });
    });
    return best;
  }

  // The pair of the greatest overlap, as long as there is one of anchors and
  // objects that have none.
  void Pair() {
    constexpr double kLeastOverlap = 1e-6;
    p_.For(0, objects_, most_, [&](const Expr&) {
      const Expr anchor = p_.Let(Expr(-1)), object = p_.Let(Expr(-1));
      const Expr greatest = p_.Let(Literal(kLeastOverlap));
      p_.For(0, anchors_, [&](const Expr& a) {
        p_.If(IsFree(a), [&] {
          p_.For(0, objects_, most_, [&](const Expr& g) {
            const Expr overlap = p_.Let(p_.In(0)(a, image_, g));
            p_.If(Unary(UnaryOp::kNot, paired_(g)) && overlap > greatest, [&] {
              p_.Set(greatest, overlap);
              p_.Set(anchor, a);
              p_.Set(object, g);
            });
          });
        });
      });
      p_.If(anchor < 0, [&] { p_.Break(); });
      SetMatch(anchor, object);
      p_.Set(paired_(object), Constant(1, DType::kBool));
      p_.Set(positive_, positive_ + 1);
    });
  }

  void Join() {
    p_.For(0, anchors_, [&](const Expr& a) {
      p_.If(IsFree(a), [&] {
        const Best best = BestOf(a);
        p_.If(best.overlap > Literal(attrs_.overlap_threshold), [&] {
          SetMatch(a, best.object);
          p_.Set(positive_, positive_ + 1);
        });
      });
    });
  }

  void Mine() {
    const Expr wanted =
        p_.Let(Cast(Cast(positive_, DType::kF32) *
                        Constant(attrs_.negative_mining_ratio, DType::kF32),
                    DType::kI64));
    const Expr found = p_.Let(Expr(0));
    p_.For(0, anchors_, [&](const Expr& k) {
      p_.If(found >= wanted, [&] { p_.Break(); });
      const Expr a = p_.Let(Cast(p_.In(2)(image_, k), DType::kI64));
      p_.If(IsFree(a), [&] {
        const Best best = BestOf(a);
        p_.If(best.overlap < Literal(attrs_.negative_mining_thresh), [&] {
          SetMatch(a, Constant(kNegativeAnchor, DType::kI32));
          p_.Set(found, found + 1);
        });
      });
    });
  }

  void Deny() {
    p_.For(0, anchors_, [&](const Expr& a) {
      p_.If(IsFree(a),
            [&] { SetMatch(a, Constant(kNegativeAnchor, DType::kI32)); });
    });
  }

  const MultiBoxTargetAttrs& attrs_;
  ProcedureBuilder& p_;
  const int64_t anchors_, most_;
  const DType type_;
  const ProcedureArray paired_;  // of each object: whether it has its anchor
  const Expr image_;
  const Expr objects_;   // of the image
  const Expr positive_;  // anchors with an object
};

std::vector<InputSpec> MultiBoxMatchInputs(const MultiBoxTargetAttrs& a) {
  if (!a.mines()) return {{"overlaps"}, {"label"}};
  return {{"overlaps"}, {"label"}, {"order"}};
}

void MultiBoxMatchTypes(const MultiBoxTargetAttrs&, TypeInference& t) {
  t.SetOut(0, {t.In(0)[1], t.In(0)[0]});
  t.SetOutDType(0, DType::kI32);
}

}  // namespace

MXC_OP(MultiBoxMatch) {
  return Op<MultiBoxTargetAttrs>("_multi_box_match")
      .Internal()
      .Doc("which object each anchor is of")
      .InputsOf(MultiBoxMatchInputs)
      .Types(MultiBoxMatchTypes)
      .Procedure([](const MultiBoxTargetAttrs& attrs, ProcedureBuilder& p) {
        MultiBoxMatch(attrs, p).State();
      })
      .ZeroGradient();
}

}  // namespace mxc
