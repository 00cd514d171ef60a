// SPDX-License-Identifier: Apache-2.0
// _box_nms_sorted: _contrib_box_nms with the order of the scores given; our own
// operator.
//   data    f[…, A, K], order i32[…, A, 1]
//   output  f[…, A, K], temp f[…, A, 1]: as of _contrib_box_nms
// Source: MXNet 1.9.1 operator/contrib/bounding_box-inl.h.
#include <algorithm>

#include "ir/ops/nn/detection/box_nms.h"
#include "ir/program/procedure_builder.h"

namespace mxc {
namespace {

class BoxNms {
 public:
  BoxNms(const BoxNmsAttrs& attrs, ProcedureBuilder& p)
      : attrs_(attrs),
        p_(p),
        boxes_(p.InShape(0)[p.InShape(0).rank() - 2]),
        columns_(p.InShape(0)[p.InShape(0).rank() - 1]),
        most_(attrs.topk > 0 ? std::min(attrs.topk, boxes_) : boxes_),
        type_(p.InDType(0) == DType::kF64 ? DType::kF64 : DType::kF32),
        places_(p.Array(DType::kI32, {most_})),
        stays_(p.Array(DType::kBool, {most_})),
        classes_(p.Array(type_, {most_})),
        sides_(p.Array(type_, {4, most_})),
        areas_(p.Array(type_, {most_})),
        candidates_(p.Let(Expr(0))) {
    Extents batch = p.InShape(0).dims();
    batch.resize(batch.size() - 2);
    const Expr task = p.Tasks(Shape(batch).elements());
    batch_ = Definition::Unflatten(task, Shape(batch));
  }

  void State() {
    p_.For(0, boxes_, [&](const Expr& i) {
      p_.If(candidates_ == Expr(most_), [&] { p_.Break(); });
      Enter(i);
    });
    p_.For(0, candidates_, most_, [&](const Expr& i) {
      p_.If(stays_(i), [&] {
        p_.For(i + 1, candidates_, most_,
               [&](const Expr& j) { DropIfOverlapped(i, j); });
      });
    });
    Write();
  }

 private:
  Expr Of(const ProcedureArray& array, const Expr& row,
          const Expr& column) const {
    std::vector<Expr> index = batch_;
    index.push_back(row);
    index.push_back(column);
    return array.At(index);
  }

  // Number `column` of a row of data, as it is computed with.
  Expr Number(const Expr& row, int64_t column) const {
    return Cast(Of(p_.In(0), row, column), type_);
  }

  Expr Literal(double value) const { return Constant(value, type_); }

  Expr IsValid(const Expr& row) const {
    const Expr scored =
        Number(row, attrs_.score_index) > Literal(attrs_.valid_thresh);
    if (attrs_.id_index < 0) return scored;
    const auto background = static_cast<double>(attrs_.background_id);
    return scored && Number(row, attrs_.id_index) != Literal(background);
  }

  // The i-th box by score is a candidate, unless it is no box.
  void Enter(const Expr& i) {
    const Expr row = p_.Let(Cast(Of(p_.In(1), i, 0), DType::kI64));
    p_.If(IsValid(row), [&] {
      const auto number = [&](int k) {
        return p_.Let(Number(row, attrs_.coord_start + k));
      };
      const Expr box[] = {number(0), number(1), number(2), number(3)};
      Expr area;
      for (int d = 0; d < 2; ++d) {
        const BoxSide side =
            BoxSideOf(attrs_.in_format, d, [&](int k) { return box[k]; });
        p_.Set(sides_(d, candidates_), side.low);
        p_.Set(sides_(d + 2, candidates_), side.high);
        const Expr length = attrs_.in_format == BoxFormat::kCenter
                                ? box[d + 2]
                                : Max(side.length(), Literal(0));
        area = area ? area * length : length;
      }
      p_.Set(areas_(candidates_), area);
      const int64_t id = attrs_.id_index;
      p_.Set(classes_(candidates_), id < 0 ? Literal(0) : Number(row, id));
      p_.Set(places_(candidates_), row);
      p_.Set(stays_(candidates_), Constant(1, DType::kBool));
      p_.Set(candidates_, candidates_ + 1);
    });
  }

  void DropIfOverlapped(const Expr& i, const Expr& j) {
    Expr meet;
    for (int d = 0; d < 2; ++d) {
      const Expr low = Max(sides_(d, i), sides_(d, j));
      const Expr high = Min(sides_(d + 2, i), sides_(d + 2, j));
      const Expr common = Max(high - low, Literal(0));
      meet = meet ? meet * common : common;
    }
    meet = p_.Let(meet);
    const Expr overlap = meet / (areas_(i) + areas_(j) - meet);
    Expr dropped = overlap > Literal(attrs_.overlap_thresh);
    if (!attrs_.force_suppress) {
      dropped = dropped && classes_(i) == classes_(j);
    }
    p_.If(dropped, [&] { p_.Set(stays_(j), Constant(0, DType::kBool)); });
  }

  // The rows that stay, then those of -1.
  void Write() {
    const Expr to = p_.Let(Expr(0));
    p_.For(0, candidates_, most_, [&](const Expr& i) {
      p_.If(stays_(i), [&] {
        const Expr from = p_.Let(Cast(places_(i), DType::kI64));
        p_.For(0, columns_, [&](const Expr& k) {
          p_.Set(Of(p_.Out(), to, k), Of(p_.In(0), from, k));
        });
        p_.Set(Of(p_.Out(1), to, 0), from);
        ConvertFormat(to);
        p_.Set(to, to + 1);
      });
    });
    p_.For(to, Expr(boxes_), boxes_, [&](const Expr& i) {
      const Expr none = Constant(-1, p_.OutDType());
      p_.For(0, columns_,
             [&](const Expr& k) { p_.Set(Of(p_.Out(), i, k), none); });
      p_.Set(Of(p_.Out(1), i, 0), none);
    });
  }

  // MXNet takes a box whose first number is negative for a row of -1, and
  // leaves it as it is.
  void ConvertFormat(const Expr& row) {
    if (attrs_.in_format == attrs_.out_format) return;
    const auto element = [&](int k) {
      return Of(p_.Out(), row, attrs_.coord_start + k);
    };
    p_.If(element(0) >= Lit(0, element(0)), [&] {
      for (int d = 0; d < 2; ++d) {
        const Expr first = p_.Let(Cast(element(d), type_));
        const Expr second = p_.Let(Cast(element(d + 2), type_));
        const bool to_centre = attrs_.out_format == BoxFormat::kCenter;
        const Expr half = Literal(0.5);
        p_.Set(element(d),
               to_centre ? (first + second) * half : first - second * half);
        p_.Set(element(d + 2),
               to_centre ? second - first : first + second * half);
      }
    });
  }

  const BoxNmsAttrs& attrs_;
  ProcedureBuilder& p_;
  const int64_t boxes_, columns_, most_;
  const DType type_;
  // The candidates' rows, by score, whether each stays, and its class.
  const ProcedureArray places_, stays_, classes_;
  const ProcedureArray sides_;  // low x, low y, high x, high y
  const ProcedureArray areas_;
  const Expr candidates_;
  std::vector<Expr> batch_;
};

void BoxNmsSortedTypes(const BoxNmsAttrs& attrs, TypeInference& t) {
  t.SetOutDType(0, t.InDType(0));
  t.SetOutDType(1, t.InDType(0));
  t.SetInDType(1, DType::kI32);
  SetBoxNmsShapes(attrs, t);
  t.SetIn(1, t.Out(1));
}

}  // namespace

MXC_OP(BoxNmsSorted) {
  return Op<BoxNmsAttrs>("_box_nms_sorted")
      .Internal()
      .Doc("drops boxes that overlap one of a higher score, by their order")
      .Inputs({{"data", InputKind::kData}, {"order", InputKind::kData}})
      .Outputs({"output", "temp"})
      .Types(BoxNmsSortedTypes)
      .Procedure([](const BoxNmsAttrs& attrs, ProcedureBuilder& p) {
        BoxNms(attrs, p).State();
      })
      .ZeroGradient();
}

}  // namespace mxc
