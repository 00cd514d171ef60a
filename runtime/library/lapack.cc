// SPDX-License-Identifier: Apache-2.0
//
// A row-major matrix is the transpose of a column-major one: lower triangles
// are LAPACK's upper ones, rows its columns, and what multiplies from the left
// multiplies from the right.
#include "runtime/library/lapack.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string_view>

#include "runtime/library/lapack_routines.h"

namespace mxc::runtime {
namespace {

constexpr int kWrongOperands = -1000;
// 2 n² elements of workspace are counted in 32 bits.
constexpr int64_t kMostRows = 32767;

// What a call hands over, after a look at it.
class Call {
 public:
  explicit Call(const mxc_call& call) : call_(call) {}

  bool IsSound(size_t inputs, size_t outputs) const {
    if (call_.input_count != inputs ||
        call_.operand_count != inputs + outputs) {
      return false;
    }
    const mxc_dtype dtype = call_.operands[0].dtype;
    bool sound = dtype == MXC_F32 || dtype == MXC_F64;
    for (size_t k = 0; k < call_.operand_count; ++k) {
      sound = sound && call_.operands[k].dtype == dtype && rank(k) >= 1;
    }
    return sound;
  }
  int rank(size_t k) const { return call_.operands[k].rank; }
  // The axis, counted from the last one.
  int64_t dim(size_t k, int from_last) const {
    return call_.operands[k].dims[rank(k) - 1 - from_last];
  }
  // Returns whether operand k is a batch of matrices [rows, columns].
  bool IsMatrices(size_t k, int64_t rows, int64_t columns) const {
    return rank(k) >= 2 && dim(k, 1) == rows && dim(k, 0) == columns &&
           rows <= kMostRows && columns <= kMostRows;
  }
  int64_t elements(size_t k) const {
    return static_cast<int64_t>(call_.operands[k].bytes /
                                (is_double() ? 8 : 4));
  }
  bool is_double() const { return call_.operands[0].dtype == MXC_F64; }
  template <class T>
  T* data(size_t k) const {
    return static_cast<T*>(call_.data[k]);
  }
  std::byte* workspace(uint64_t bytes) const {
    return call_.workspace_bytes >= bytes
               ? static_cast<std::byte*>(call_.workspace)
               : nullptr;
  }
  // Of words "name=0", the last one with this name.
  bool flag(std::string_view name, bool otherwise) const {
    std::string_view rest = call_.attributes;
    while (!rest.empty()) {
      const size_t end = std::min(rest.find(' '), rest.size());
      std::string_view word = rest.substr(0, end);
      rest.remove_prefix(std::min(end + 1, rest.size()));
      if (!word.starts_with(name)) continue;
      word.remove_prefix(name.size());
      if (word.starts_with('=')) otherwise = word != "=0";
    }
    return otherwise;
  }

 private:
  const mxc_call& call_;
};

// Calls f with a T for the type of the operands.
template <class F>
int ByType(const Call& call, F f) {
  const StatusOr<const Lapack*> lapack = LoadLapack();
  if (!lapack.ok()) return kWrongOperands;
  return call.is_double() ? f((*lapack)->f64, double{})
                          : f((*lapack)->f32, float{});
}

// Calls f(matrix) for each of a batch in operand k, until one fails.
template <class T, class F>
int ForMatrices(const Call& call, size_t k, int64_t elements, F f) {
  T* data = call.data<T>(k);
  int info = 0;
  for (int64_t at = 0; at < call.elements(k) && info == 0; at += elements) {
    info = f(data + at);
  }
  return info;
}

template <class T>
void CopyOperand(const Call& call, size_t from, size_t to) {
  std::memcpy(call.data<T>(to), call.data<T>(from),
              static_cast<size_t>(call.elements(to)) * sizeof(T));
}

// Calls f(lapack, matrix, n, lower) for each of the square matrices of output
// 1, which begin as those of input 0.
template <class F>
int OnSquares(const mxc_call* raw, F f) {
  const Call call(*raw);
  if (!call.IsSound(1, 1)) return kWrongOperands;
  const int64_t n = call.dim(0, 0);
  if (!call.IsMatrices(0, n, n) || !call.IsMatrices(1, n, n) || n == 0 ||
      call.elements(0) != call.elements(1)) {
    return kWrongOperands;
  }
  return ByType(call, [&]<class T>(const LapackRoutines<T>& lapack, T) {
    CopyOperand<T>(call, 0, 1);
    return ForMatrices<T>(call, 1, n * n, [&](T* matrix) {
      return f(lapack, matrix, static_cast<int>(n), call.flag("lower", true));
    });
  });
}

int Potrf(const mxc_call* call) {
  return OnSquares(call, []<class T>(const LapackRoutines<T>& lapack, T* a,
                                     int n, bool lower) {
    int info = 0;
    lapack.potrf(lower ? "U" : "L", &n, a, &n, &info, 1);
    for (int row = 0; row < n; ++row, a += n) {
      if (lower) std::fill(a + row + 1, a + n, T{0});
      if (!lower) std::fill(a, a + row, T{0});
    }
    return info;
  });
}

int Potri(const mxc_call* call) {
  return OnSquares(call, []<class T>(const LapackRoutines<T>& lapack, T* a,
                                     int n, bool lower) {
    int info = 0;
    lapack.potri(lower ? "U" : "L", &n, a, &n, &info, 1);
    // The inverse is symmetric; one triangle was computed.
    for (int64_t row = 0; row < n; ++row) {
      for (int64_t column = 0; column < row; ++column) {
        T& below = a[row * n + column];
        T& above = a[column * n + row];
        (lower ? above : below) = lower ? below : above;
      }
    }
    return info;
  });
}

int Trsm(const mxc_call* raw) {
  const Call call(*raw);
  if (!call.IsSound(2, 1)) return kWrongOperands;
  const bool right = call.flag("rightside", false);
  const int64_t k = call.dim(0, 0);
  const int64_t m = call.rank(1) >= 2 ? call.dim(1, 1) : 0, n = call.dim(1, 0);
  if (!call.IsMatrices(0, k, k) || !call.IsMatrices(1, m, n) ||
      !call.IsMatrices(2, m, n) || k != (right ? n : m) ||
      call.elements(1) != call.elements(2) || m * n == 0 ||
      call.elements(0) / (k * k) != call.elements(1) / (m * n)) {
    return kWrongOperands;
  }
  return ByType(call, [&]<class T>(const LapackRoutines<T>& lapack, T) {
    CopyOperand<T>(call, 1, 2);
    const int rows = static_cast<int>(n), columns = static_cast<int>(m);
    const int order = static_cast<int>(k);
    const T one = 1;
    const T* a = call.data<T>(0);
    return ForMatrices<T>(call, 2, m * n, [&](T* x) {
      lapack.trsm(right ? "L" : "R", call.flag("lower", true) ? "U" : "L",
                  call.flag("transpose", false) ? "T" : "N", "N", &rows,
                  &columns, &one, a, &order, x, &rows, 1, 1, 1, 1);
      a += k * k;
      return 0;
    });
  });
}

int Gelqf(const mxc_call* raw) {
  const Call call(*raw);
  if (!call.IsSound(1, 2) || call.rank(0) < 2) return kWrongOperands;
  const int64_t m = call.dim(0, 1), n = call.dim(0, 0);
  if (!call.IsMatrices(0, m, n) || !call.IsMatrices(1, m, n) ||
      !call.IsMatrices(2, m, m) || m > n || m == 0 ||
      call.elements(0) != call.elements(1) ||
      call.elements(2) / (m * m) != call.elements(1) / (m * n)) {
    return kWrongOperands;
  }
  return ByType(call, [&]<class T>(const LapackRoutines<T>& lapack, T) {
    constexpr int64_t kWork = 32;  // for each row
    std::byte* workspace =
        call.workspace(static_cast<uint64_t>((1 + kWork) * m) * sizeof(T));
    if (workspace == nullptr) return kWrongOperands;
    T* tau = reinterpret_cast<T*>(workspace);
    T* l = call.data<T>(2);
    CopyOperand<T>(call, 0, 1);
    const int rows = static_cast<int>(n), columns = static_cast<int>(m);
    const int work = static_cast<int>(kWork * m);
    return ForMatrices<T>(call, 1, m * n, [&](T* q) {
      int info = 0;
      lapack.geqrf(&rows, &columns, q, &rows, tau, tau + m, &work, &info);
      for (int64_t i = 0; i < m; ++i, l += m) {
        std::copy(q + i * n, q + i * n + i + 1, l);
        std::fill(l + i + 1, l + m, T{0});
      }
      if (info != 0) return info;
      lapack.orgqr(&rows, &columns, &columns, q, &rows, tau, tau + m, &work,
                   &info);
      return info;
    });
  });
}

// The element of each row that is the greatest in absolute value, the first of
// them, becomes positive.
template <class T>
void SetSigns(T* rows, int64_t n) {
  for (T* row = rows; row < rows + n * n; row += n) {
    const T* greatest = std::max_element(
        row, row + n, [](T a, T b) { return std::abs(a) < std::abs(b); });
    if (*greatest >= 0) continue;
    std::transform(row, row + n, row, [](T value) { return -value; });
  }
}

int Syevd(const mxc_call* raw) {
  const Call call(*raw);
  if (!call.IsSound(1, 2)) return kWrongOperands;
  const int64_t n = call.dim(0, 0);
  if (!call.IsMatrices(0, n, n) || !call.IsMatrices(1, n, n) || n == 0 ||
      call.dim(2, 0) != n || call.elements(0) != call.elements(1) ||
      call.elements(2) != call.elements(1) / n) {
    return kWrongOperands;
  }
  return ByType(call, [&]<class T>(const LapackRoutines<T>& lapack, T) {
    const int work = static_cast<int>(1 + 6 * n + 2 * n * n);
    const int integers = static_cast<int>(3 + 5 * n);
    std::byte* workspace =
        call.workspace(static_cast<uint64_t>(work) * sizeof(T) +
                       static_cast<uint64_t>(integers) * 4);
    if (workspace == nullptr) return kWrongOperands;
    T* values = call.data<T>(2);
    CopyOperand<T>(call, 0, 1);
    const auto size = static_cast<int>(n);
    return ForMatrices<T>(call, 1, n * n, [&](T* u) {
      int info = 0;
      lapack.syevd("V", "U", &size, u, &size, values,
                   reinterpret_cast<T*>(workspace), &work,
                   reinterpret_cast<int*>(workspace + work * sizeof(T)),
                   &integers, &info, 1, 1);
      values += n;
      SetSigns(u, n);
      return info;
    });
  });
}

StatusOr<Function> IfLoaded(mxc_function function) {
  const StatusOr<const Lapack*> lapack = LoadLapack();
  if (!lapack.ok()) return lapack.status();
  return Function{function, nullptr};
}

}  // namespace

StatusOr<Function> LoadPotrf() { return IfLoaded(&Potrf); }
StatusOr<Function> LoadPotri() { return IfLoaded(&Potri); }
StatusOr<Function> LoadTrsm() { return IfLoaded(&Trsm); }
StatusOr<Function> LoadGelqf() { return IfLoaded(&Gelqf); }
StatusOr<Function> LoadSyevd() { return IfLoaded(&Syevd); }

}  // namespace mxc::runtime
