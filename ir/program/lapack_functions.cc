// SPDX-License-Identifier: Apache-2.0
// Factorizations of matrices as the interpreter computes them, in double,
// batched over leading axes. runtime/library/lapack.h says what each of them
// is; algorithms: G. Golub, C. Van Loan, Matrix Computations, 4th
// edition: 4.2.5 (Cholesky), 3.1 (substitution), 5.2.2 (Householder), 8.5.2
// (Jacobi).
#include <algorithm>
#include <cmath>
#include <numeric>

#include "ir/program/call_function.h"
#include "ir/program/program.h"
#include "ir/program/steps/call.h"

namespace mxc {
namespace {

bool Flag(const Call& call, std::string_view name, bool otherwise) {
  for (const auto& [text, value] : {std::pair{"=1", true}, {"=0", false}}) {
    if (call.attributes.find(std::string(name) + text) != std::string::npos) {
      return value;
    }
  }
  return otherwise;
}

// One matrix of a batch, row-major.
class Matrix {
 public:
  Matrix(double* data, int64_t columns, bool transposed = false)
      : data_(data), columns_(columns), transposed_(transposed) {}

  double& operator()(int64_t i, int64_t k) const {
    return transposed_ ? data_[k * columns_ + i] : data_[i * columns_ + k];
  }

 private:
  double* data_;
  int64_t columns_;
  bool transposed_;
};

int64_t Axis(const std::vector<TensorType>& types, size_t k, int from_last) {
  const Shape& shape = types[k].shape;
  return shape[shape.rank() - 1 - from_last];
}

// Operands of a call as arrays; inputs are copied.
struct Operands {
  explicit Operands(StepValues& values) : values_(values) {
    for (const auto* input : values.inputs) {
      inputs.emplace_back(input->begin(), input->end());
    }
    for (const auto& output : values.outputs) {
      outputs.emplace_back(output.size());
    }
    for (const int b : values.step.operands()) {
      types.push_back(values.program.buffers[b].type);
    }
  }

  int64_t Last(size_t k, int from_last = 0) const {
    return Axis(types, k, from_last);
  }
  int64_t Matrices(size_t k) const {
    const int64_t size = Last(k) * Last(k, 1);
    return size == 0 ? 0 : types[k].shape.elements() / size;
  }

  Operands(const Operands&) = delete;
  // Hands the outputs back.
  ~Operands() {
    for (size_t k = 0; k < outputs.size(); ++k) {
      values_.outputs[k].assign(outputs[k].begin(), outputs[k].end());
    }
  }

  std::vector<std::vector<double>> inputs, outputs;
  std::vector<TensorType> types;  // inputs, then outputs

 private:
  StepValues& values_;
};

int64_t NoWorkspace(const std::vector<TensorType>&) { return 0; }

double CubedSize(const std::vector<TensorType>& types, double factor) {
  return factor * static_cast<double>(types[0].shape.elements()) *
         static_cast<double>(Axis(types, 0, 1));
}

// The lower L with A = L · Lᵀ, from A's lower triangle; NaN if there is none.
void Cholesky(const Matrix& a, const Matrix& l, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t k = 0; k <= i; ++k) {
      double sum = a(i, k);
      for (int64_t j = 0; j < k; ++j) sum -= l(i, j) * l(k, j);
      l(i, k) = i == k ? std::sqrt(sum) : sum / l(k, k);
    }
  }
}

void Potrf(const Call& call, StepValues& values) {
  Operands o(values);
  const int64_t n = o.Last(0);
  const bool upper = !Flag(call, "lower", true);
  for (int64_t m = 0; m < o.Matrices(0); ++m) {
    Cholesky({o.inputs[0].data() + m * n * n, n, upper},
             {o.outputs[0].data() + m * n * n, n, upper}, n);
  }
}

// X with L · X = B, in place of B, for a lower triangle, or an upper one.
void Substitute(const Matrix& l, bool lower, const Matrix& b, int64_t n,
                int64_t columns) {
  for (int64_t at = 0; at < n; ++at) {
    const int64_t i = lower ? at : n - 1 - at;
    for (int64_t c = 0; c < columns; ++c) {
      double sum = b(i, c);
      for (int64_t j = lower ? 0 : i + 1; j < (lower ? i : n); ++j) {
        sum -= l(i, j) * b(j, c);
      }
      b(i, c) = sum / l(i, i);
    }
  }
}

void Potri(const Call& call, StepValues& values) {
  Operands o(values);
  const int64_t n = o.Last(0);
  const bool upper = !Flag(call, "lower", true);
  for (int64_t m = 0; m < o.Matrices(0); ++m) {
    const Matrix l(o.inputs[0].data() + m * n * n, n, upper);
    std::vector<double> inverse(static_cast<size_t>(n * n), 0.0);
    const Matrix x(inverse.data(), n);
    for (int64_t i = 0; i < n; ++i) x(i, i) = 1;
    Substitute(l, true, x, n, n);
    const Matrix out(o.outputs[0].data() + m * n * n, n);
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t k = 0; k < n; ++k) {
        for (int64_t j = 0; j < n; ++j) out(i, k) += x(j, i) * x(j, k);
      }
    }
  }
}

void Trsm(const Call& call, StepValues& values) {
  Operands o(values);
  const int64_t n = o.Last(0), rows = o.Last(1, 1), columns = o.Last(1);
  const bool right = Flag(call, "rightside", false);
  // X · op(A) = B is op(A)ᵀ · Xᵀ = Bᵀ.
  const bool transposed = Flag(call, "transpose", false) != right;
  const bool lower = Flag(call, "lower", true) != transposed;
  o.outputs[0] = o.inputs[1];
  for (int64_t m = 0; m < o.Matrices(0); ++m) {
    Substitute({o.inputs[0].data() + m * n * n, n, transposed}, lower,
               {o.outputs[0].data() + m * rows * columns, columns, right}, n,
               right ? rows : columns);
  }
}

// Rows i of A and of Q, by reflections from the right, as LAPACK's geqrf has
// them of the transposed matrix.
void RowsTimesTriangle(const Matrix& a, const Matrix& q, const Matrix& l,
                       int64_t m, int64_t n) {
  std::vector<std::vector<double>> reflections;
  for (int64_t k = 0; k < m; ++k) {
    double norm = 0;
    for (int64_t j = k; j < n; ++j) norm += a(k, j) * a(k, j);
    const double head = a(k, k) > 0 ? -std::sqrt(norm) : std::sqrt(norm);
    std::vector<double> v(static_cast<size_t>(n), 0.0);
    double squares = 0;
    for (int64_t j = k; j < n; ++j) {
      v[j] = a(k, j) - (j == k ? head : 0);
      squares += v[j] * v[j];
    }
    if (squares > 0) {
      for (double& x : v) x *= std::sqrt(2 / squares);
    }
    for (int64_t i = k; i < m; ++i) {
      double dot = 0;
      for (int64_t j = k; j < n; ++j) dot += a(i, j) * v[j];
      for (int64_t j = k; j < n; ++j) a(i, j) -= dot * v[j];
    }
    reflections.push_back(std::move(v));
  }
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t k = 0; k <= i; ++k) l(i, k) = a(i, k);
    q(i, i) = 1;
    for (int64_t r = m; r-- > 0;) {
      double dot = 0;
      for (int64_t j = 0; j < n; ++j) dot += q(i, j) * reflections[r][j];
      for (int64_t j = 0; j < n; ++j) q(i, j) -= dot * reflections[r][j];
    }
  }
}

void Gelqf(const Call&, StepValues& values) {
  Operands o(values);
  const int64_t m = o.Last(0, 1), n = o.Last(0);
  for (int64_t k = 0; k < o.Matrices(0); ++k) {
    RowsTimesTriangle({o.inputs[0].data() + k * m * n, n},
                      {o.outputs[0].data() + k * m * n, n},
                      {o.outputs[1].data() + k * m * m, m}, m, n);
  }
}

// Makes A diagonal; the columns of V become its eigenvectors.
void Jacobi(const Matrix& a, const Matrix& v, int64_t n) {
  constexpr int kSweeps = 30;
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    for (int64_t p = 0; p < n; ++p) {
      for (int64_t q = p + 1; q < n; ++q) {
        if (a(p, q) == 0) continue;
        const double tau = (a(q, q) - a(p, p)) / (2 * a(p, q));
        const double t =
            (tau >= 0 ? 1 : -1) / (std::abs(tau) + std::sqrt(1 + tau * tau));
        const double c = 1 / std::sqrt(1 + t * t), s = t * c;
        for (int64_t j = 0; j < n; ++j) {
          const double x = a(j, p), y = a(j, q);
          a(j, p) = c * x - s * y;
          a(j, q) = s * x + c * y;
        }
        for (int64_t j = 0; j < n; ++j) {
          const double x = a(p, j), y = a(q, j);
          a(p, j) = c * x - s * y;
          a(q, j) = s * x + c * y;
          const double vx = v(j, p), vy = v(j, q);
          v(j, p) = c * vx - s * vy;
          v(j, q) = s * vx + c * vy;
        }
        a(p, q) = a(q, p) = 0;
      }
    }
  }
}

void Syevd(const Call&, StepValues& values) {
  Operands o(values);
  const int64_t n = o.Last(0);
  for (int64_t m = 0; m < o.Matrices(0); ++m) {
    const Matrix a(o.inputs[0].data() + m * n * n, n);
    std::vector<double> vectors(static_cast<size_t>(n * n), 0.0);
    const Matrix v(vectors.data(), n);
    for (int64_t i = 0; i < n; ++i) {
      v(i, i) = 1;
      for (int64_t k = 0; k < i; ++k) a(k, i) = a(i, k);
    }
    Jacobi(a, v, n);
    std::vector<int64_t> order(static_cast<size_t>(n));
    std::iota(order.begin(), order.end(), 0);
    std::ranges::sort(order, {}, [&](int64_t i) { return a(i, i); });
    const Matrix u(o.outputs[0].data() + m * n * n, n);
    for (int64_t i = 0; i < n; ++i) {
      const int64_t from = order[static_cast<size_t>(i)];
      o.outputs[1][static_cast<size_t>(m * n + i)] = a(from, from);
      int64_t greatest = 0;
      for (int64_t j = 1; j < n; ++j) {
        if (std::abs(v(j, from)) > std::abs(v(greatest, from))) greatest = j;
      }
      const double sign = v(greatest, from) < 0 ? -1 : 1;
      for (int64_t j = 0; j < n; ++j) u(i, j) = sign * v(j, from);
    }
  }
}

int64_t GelqfWorkspace(const std::vector<TensorType>& types) {
  return 33 * Axis(types, 0, 1) * SizeOf(types[0].dtype);
}

int64_t SyevdWorkspace(const std::vector<TensorType>& types) {
  const int64_t n = Axis(types, 0, 0);
  return (1 + 6 * n + 2 * n * n) * SizeOf(types[0].dtype) + (3 + 5 * n) * 4;
}

double TrsmFlops(const std::vector<TensorType>& types) {
  return static_cast<double>(types[1].shape.elements()) *
         static_cast<double>(Axis(types, 0, 0));
}

}  // namespace

CallFunction PotrfFunction() {
  return {.workspace = NoWorkspace,
          .interpret = Potrf,
          .flops = [](const auto& types) { return CubedSize(types, 1.0 / 3); }};
}

CallFunction PotriFunction() {
  return {.workspace = NoWorkspace,
          .interpret = Potri,
          .flops = [](const auto& types) { return CubedSize(types, 2.0 / 3); }};
}

CallFunction TrsmFunction() {
  return {.workspace = NoWorkspace, .interpret = Trsm, .flops = TrsmFlops};
}

CallFunction GelqfFunction() {
  return {.workspace = GelqfWorkspace,
          .interpret = Gelqf,
          .flops = [](const auto& types) { return CubedSize(types, 4); }};
}

CallFunction SyevdFunction() {
  return {.workspace = SyevdWorkspace,
          .interpret = Syevd,
          .flops = [](const auto& types) { return CubedSize(types, 9); }};
}

}  // namespace mxc
