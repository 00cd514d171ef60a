// SPDX-License-Identifier: Apache-2.0
// _append: rows of a state replaced; see cache_rows.cc.
//   data [n, d1 …], position [n], stream [n], past [streams, d1 …] → past's
//   output = past, but output[stream[i], …, position[i] + t, …] =
//   data[i, …, t, …] where there is such an element; later i win
#include "ir/ops/nn/sequence/cache.h"
#include "ir/program/procedure_builder.h"

namespace mxc {
namespace {

void AppendTypes(const CacheRowsAttrs&, TypeInference& t) {
  t.SetOutDType(0, t.InDType(3));
  t.SetOutDType(0, t.InDType(0));
  t.SetOut(0, t.In(3));
}

class Appending {
 public:
  Appending(const CacheRowsAttrs& attrs, ProcedureBuilder& p)
      : axis_(static_cast<int>(attrs.axis)), p_(p) {}

  // A task for each index of the first axis that does not grow.
  void State() {
    const Shape& data = p_.InShape(0);
    const int own = axis_ == 1 ? 2 : 1;
    const bool shared = own < data.rank();
    const Expr task = p_.Tasks(shared ? data[own] : 1);
    p_.For(0, data[0], [&](const Expr& i) {
      const Expr stream = p_.Let(Cast(p_.In(2)(i), DType::kI64));
      const Expr first = p_.Let(Cast(p_.In(1)(i), DType::kI64));
      p_.For(0, data[axis_], [&](const Expr& t) {
        const Expr to = p_.Let(first + t);
        p_.If(Within(stream, p_.OutShape()[0]) &&
                  Within(to, p_.OutShape()[axis_]),
              [&] {
                std::vector<Expr> from = {i}, place = {stream};
                CopyRow(shared ? own : -1, task, t, to, from, place);
              });
      });
    });
  }

 private:
  static Expr Within(const Expr& index, int64_t extent) {
    return index >= Expr(0) && index < Expr(extent);
  }

  void CopyRow(int own, const Expr& task, const Expr& t, const Expr& to,
               std::vector<Expr>& from, std::vector<Expr>& place) {
    const auto axis = static_cast<int>(from.size());
    if (axis == p_.InShape(0).rank()) {
      p_.Set(p_.Out().At(place), p_.In(0).At(from));
      return;
    }
    const auto at = [&](const Expr& index, const Expr& there) {
      from.push_back(index);
      place.push_back(there);
      CopyRow(own, task, t, to, from, place);
      from.pop_back();
      place.pop_back();
    };
    if (axis == own) {
      at(task, task);
    } else if (axis == axis_) {
      at(t, to);
    } else {
      p_.For(0, p_.InShape(0)[axis], [&](const Expr& i) { at(i, i); });
    }
  }

  const int axis_;
  ProcedureBuilder& p_;
};

}  // namespace

MXC_OP(Append) {
  return Op<CacheRowsAttrs>("_append")
      .Internal()
      .Doc("rows of a state replaced")
      .Inputs({{"data"}, {"position"}, {"stream"}, {"past", InputKind::kState}})
      .NextStates(1)
      .Types(AppendTypes)
      .Amends()
      .Procedure([](const CacheRowsAttrs& attrs, ProcedureBuilder& p) {
        Appending(attrs, p).State();
      })
      .ZeroGradient();
}

}  // namespace mxc
