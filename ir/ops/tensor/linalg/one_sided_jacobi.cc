// SPDX-License-Identifier: Apache-2.0
// _one_sided_jacobi: singular values of matrices that are no taller than wide;
// our own operator, see npi_svd.cc.
//   data  f[N, m, n], m ≤ n
//   U  f[N, m, m]   L  f[N, m], descending   V  f[N, m, n]; data = U · diag(L) · V
// Rows of V, at first of data, are turned in pairs until each is orthogonal to
// each other one; what they are turned by makes up U. The row of a singular
// value that is 0 holds zeros.
// C1  data has rank 3, m ≤ n, m ≤ kMostTurnedRows
// Source: Golub and Van Loan, Matrix Computations, 4th edition, 8.6.3.
#include "ir/ops/tensor/linalg/factorization.h"
#include "ir/program/procedure_builder.h"

namespace mxc {
namespace {

constexpr int64_t kMostJacobiSweeps = 40;

void OneSidedJacobiTypes(const NoAttrs&, TypeInference& t) {
  t.AllSameDType();
  const Shape& in = t.In(0);
  if (!in.known()) return;
  if (!t.Require(in.rank() == 3 && in[1] <= in[2] && in[1] <= kMostTurnedRows,
                 "C1: data has shape {}, expected matrices of at most {} rows, "
                 "no taller than wide",
                 ToString(in), kMostTurnedRows)) {
    return;
  }
  t.SetOut(0, Shape{in[0], in[1], in[1]});
  t.SetOut(1, Shape{in[0], in[1]});
  t.SetOut(2, in);
}

class OneSidedJacobi {
 public:
  explicit OneSidedJacobi(ProcedureBuilder& p)
      : p_(p),
        rows_(p.InShape(0)[1]),
        columns_(p.InShape(0)[2]),
        u_(p.Out(0)),
        values_(p.Out(1)),
        v_(p.Out(2)),
        matrix_(p.Tasks(p.InShape(0)[0])) {}

  void State() {
    Begin();
    p_.For(0, kMostJacobiSweeps, [&](const Expr&) {
      const Expr turned = p_.Let(Expr(0));
      p_.For(0, rows_ - 1, [&](const Expr& first) {
        p_.For(first + 1, rows_, rows_,
               [&](const Expr& second) { Turn(first, second, turned); });
      });
      p_.If(turned == Expr(0), [&] { p_.Break(); });
    });
    Normalize();
    Order();
  }

 private:
  Expr Number(double value) const { return Constant(value, v_.dtype()); }
  // cos and sin tell apart what a rounding leaves of an orthogonal pair.
  Expr Epsilon() const {
    return Number(v_.dtype() == DType::kF64 ? 1e-15 : 1e-7);
  }
  Expr Product(const Expr& first, const Expr& second) {
    const Expr sum = p_.Let(Number(0));
    p_.For(0, columns_, [&](const Expr& c) {
      p_.Set(sum, sum + v_(matrix_, first, c) * v_(matrix_, second, c));
    });
    return sum;
  }

  void Begin() {
    p_.For(0, rows_, [&](const Expr& r) {
      p_.For(0, columns_, [&](const Expr& c) {
        p_.Set(v_(matrix_, r, c), p_.In(0)(matrix_, r, c));
      });
      p_.For(0, rows_, [&](const Expr& c) {
        p_.Set(u_(matrix_, r, c), Select(r == c, Number(1), Number(0)));
      });
    });
  }

  void Turn(const Expr& first, const Expr& second, const Expr& turned) {
    const Expr alpha = Product(first, first), beta = Product(second, second),
               gamma = Product(first, second);
    p_.If(Abs(gamma) > Epsilon() * Sqrt(alpha) * Sqrt(beta), [&] {
      p_.Set(turned, Expr(1));
      const Expr zeta = p_.Let((beta - alpha) / (Number(2) * gamma));
      const Expr sign = Select(zeta < Number(0), Number(-1), Number(1));
      const Expr tangent =
          p_.Let(sign / (Abs(zeta) + Sqrt(Number(1) + zeta * zeta)));
      const Expr cosine =
          p_.Let(Number(1) / Sqrt(Number(1) + tangent * tangent));
      const Expr sine = p_.Let(cosine * tangent);
      p_.For(0, columns_, [&](const Expr& c) {
        TurnPair(v_(matrix_, first, c), v_(matrix_, second, c), cosine, sine);
      });
      p_.For(0, rows_, [&](const Expr& r) {
        TurnPair(u_(matrix_, r, first), u_(matrix_, r, second), cosine, sine);
      });
    });
  }
  void TurnPair(const Expr& first, const Expr& second, const Expr& cosine,
                const Expr& sine) {
    const Expr x = p_.Let(first), y = p_.Let(second);
    p_.Set(first, cosine * x - sine * y);
    p_.Set(second, sine * x + cosine * y);
  }

  void Normalize() {
    p_.For(0, rows_, [&](const Expr& r) {
      const Expr value = p_.Let(Sqrt(Product(r, r)));
      p_.Set(values_(matrix_, r), value);
      p_.If(value > Number(0), [&] {
        p_.For(0, columns_, [&](const Expr& c) {
          p_.Set(v_(matrix_, r, c), v_(matrix_, r, c) / value);
        });
      });
    });
  }

  void Order() {
    p_.For(0, rows_, [&](const Expr& place) {
      const Expr greatest = p_.Let(place);
      p_.For(place + 1, rows_, rows_, [&](const Expr& r) {
        p_.If(values_(matrix_, r) > values_(matrix_, greatest),
              [&] { p_.Set(greatest, r); });
      });
      p_.If(greatest != place, [&] {
        Exchange(values_(matrix_, place), values_(matrix_, greatest));
        p_.For(0, columns_, [&](const Expr& c) {
          Exchange(v_(matrix_, place, c), v_(matrix_, greatest, c));
        });
        p_.For(0, rows_, [&](const Expr& r) {
          Exchange(u_(matrix_, r, place), u_(matrix_, r, greatest));
        });
      });
    });
  }
  void Exchange(const Expr& one, const Expr& other) {
    const Expr kept = p_.Let(one);
    p_.Set(one, other);
    p_.Set(other, kept);
  }

  ProcedureBuilder& p_;
  const int64_t rows_, columns_;
  const ProcedureArray u_, values_, v_;
  const Expr matrix_;
};

}  // namespace

MXC_OP(OneSidedJacobi) {
  return Op<>("_one_sided_jacobi")
      .Internal()
      .Doc("singular values, by rotations")
      .Outputs({"U", "L", "V"})
      .Types(OneSidedJacobiTypes)
      .FloatsOnly()
      .Procedure([](const NoAttrs&, ProcedureBuilder& p) {
        OneSidedJacobi(p).State();
      });
}

}  // namespace mxc
