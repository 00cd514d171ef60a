// SPDX-License-Identifier: Apache-2.0
#include "codegen/cpu/contraction/tile_transform.h"

#include <algorithm>
#include <cmath>

namespace mxc::contraction {
namespace {

class RowSums {
 public:
  RowSums(KernelFunction& kernel, std::span<const double> matrix,
          std::vector<llvm::Value*> x)
      : b_(kernel.b()),
        matrix_(matrix.begin(), matrix.end()),
        columns_(x.size()),
        rows_(matrix.size() / x.size()),
        x_(std::move(x)) {}

  std::vector<llvm::Value*> Emit() {
    for (size_t j = 0; j + 1 < columns_; ++j) {
      if (ColumnsMatch(j)) CombineColumns(j++);
    }
    std::vector<llvm::Value*> sums;
    for (size_t i = 0; i < rows_; ++i) {
      if (i + 1 < rows_ && RowsMatch(i)) {
        AppendPair(i++, sums);
      } else {
        sums.push_back(Sum(Row(i)));
      }
    }
    return sums;
  }

 private:
  using Coefficients = std::vector<double>;

  double& At(size_t i, size_t j) { return matrix_[i * columns_ + j]; }
  Coefficients Row(size_t i) const {
    const auto first = matrix_.begin() + i * columns_;
    return Coefficients(first, first + columns_);
  }

  // Entries equal up to the sign in every row, with both signs met.
  bool ColumnsMatch(size_t j) {
    bool equal = false, opposite = false;
    for (size_t i = 0; i < rows_; ++i) {
      const double a = At(i, j), b = At(i, j + 1);
      if (std::fabs(a) != std::fabs(b)) return false;
      if (a != 0) (a == b ? equal : opposite) = true;
    }
    return equal && opposite;
  }
  bool RowsMatch(size_t i) {
    int equal = 0, opposite = 0;
    for (size_t j = 0; j < columns_; ++j) {
      const double a = At(i, j), b = At(i + 1, j);
      if (std::fabs(a) != std::fabs(b)) return false;
      if (a != 0) ++(a == b ? equal : opposite);
    }
    return equal > 0 && opposite > 0 && equal + opposite > 2;
  }

  // From now on column j stands for x[j] + x[j + 1], the next for their
  // difference.
  void CombineColumns(size_t j) {
    llvm::Value* sum = b_.CreateFAdd(x_[j], x_[j + 1]);
    llvm::Value* difference = b_.CreateFSub(x_[j], x_[j + 1]);
    x_[j] = sum;
    x_[j + 1] = difference;
    for (size_t i = 0; i < rows_; ++i) {
      const bool equal = At(i, j) == At(i, j + 1);
      At(i, equal ? j + 1 : j) = 0;
    }
    for (size_t i = 0; i < rows_; ++i) {
      // a·x − a·y = a·(x − y): the sign is the first column's.
      if (At(i, j) == 0 && At(i, j + 1) != 0) At(i, j + 1) = -At(i, j + 1);
    }
  }

  void AppendPair(size_t i, std::vector<llvm::Value*>& sums) {
    Coefficients equal = Row(i), opposite = Row(i);
    for (size_t j = 0; j < columns_; ++j) {
      (At(i, j) == At(i + 1, j) ? opposite : equal)[j] = 0;
    }
    const double factor = TakeFactor(opposite);
    llvm::Value* e = Sum(equal);
    llvm::Value* o = Sum(opposite);
    sums.push_back(Add(e, factor, o));
    sums.push_back(Add(e, -factor, o));
  }

  // A factor without which one coefficient is 1, so that its term needs no
  // multiplication; 1 where taking it out would round.
  static double TakeFactor(Coefficients& coefficients) {
    const auto is_one = [](double x) { return std::fabs(x) == 1; };
    if (std::ranges::any_of(coefficients, is_one)) return 1;
    for (const double factor : coefficients) {
      const auto divides = [&](double x) {
        return static_cast<float>(x / factor) * factor == x;
      };
      if (factor == 0 || !std::ranges::all_of(coefficients, divides)) continue;
      for (double& x : coefficients) x /= factor;
      return factor;
    }
    return 1;
  }

  // A term of coefficient 1 first, so that all others can be fused to it.
  llvm::Value* Sum(const Coefficients& coefficients) {
    std::vector<size_t> order;
    for (size_t j = 0; j < columns_; ++j) {
      if (coefficients[j] != 0) order.push_back(j);
    }
    std::ranges::stable_sort(
        order, {}, [&](size_t j) { return coefficients[j] == 1 ? 0 : 1; });
    llvm::Value* sum = nullptr;
    for (const size_t j : order) sum = Add(sum, coefficients[j], x_[j]);
    return sum ? sum : llvm::Constant::getNullValue(x_[0]->getType());
  }

  llvm::Value* Add(llvm::Value* sum, double coefficient, llvm::Value* x) {
    llvm::Constant* factor = llvm::ConstantFP::get(x->getType(), coefficient);
    if (!sum) return coefficient == 1 ? x : b_.CreateFMul(x, factor);
    if (coefficient == 1) return b_.CreateFAdd(sum, x);
    if (coefficient == -1) return b_.CreateFSub(sum, x);
    return b_.CreateFAdd(b_.CreateFMul(x, factor), sum);
  }

  KernelFunction::Builder& b_;
  Coefficients matrix_;
  const size_t columns_, rows_;
  std::vector<llvm::Value*> x_;
};

}  // namespace

std::vector<llvm::Value*> Multiply(KernelFunction& kernel,
                                   std::span<const double> matrix,
                                   const std::vector<llvm::Value*>& x) {
  llvm::FastMathFlags flags;
  flags.setAllowContract();
  llvm::IRBuilderBase::FastMathFlagGuard guard(kernel.b());
  kernel.b().setFastMathFlags(flags);
  return RowSums(kernel, matrix, x).Emit();
}

std::vector<llvm::Value*> MultiplyBothSides(KernelFunction& kernel,
                                            std::span<const double> matrix,
                                            int columns,
                                            std::vector<llvm::Value*> x) {
  const int rows = static_cast<int>(matrix.size()) / columns;
  std::vector<llvm::Value*> half(static_cast<size_t>(rows) * columns);
  for (int j = 0; j < columns; ++j) {
    std::vector<llvm::Value*> column;
    for (int i = 0; i < columns; ++i) column.push_back(x[i * columns + j]);
    column = Multiply(kernel, matrix, column);
    for (int i = 0; i < rows; ++i) half[i * columns + j] = column[i];
  }
  std::vector<llvm::Value*> result;
  for (int i = 0; i < rows; ++i) {
    const auto first = half.begin() + i * columns;
    const auto row = Multiply(kernel, matrix, {first, first + columns});
    result.insert(result.end(), row.begin(), row.end());
  }
  return result;
}

void TransformLines(KernelFunction& kernel, const LineTransform& transform,
                    int64_t count, const VectorLines& from,
                    const VectorLines& to) {
  kernel.Loop(kernel.Int(0), kernel.Int(count), 1, [&](llvm::Value* line) {
    llvm::Value* source = from.memory.Advance(from.base, line, from.line);
    std::vector<llvm::Value*> x;
    for (int64_t i = 0; i < transform.columns; ++i) {
      x.push_back(
          from.memory.LoadVector(from.memory.At(source, i * from.entry)));
    }
    x = Multiply(kernel, transform.matrix, x);
    llvm::Value* place = to.memory.Advance(to.base, line, to.line);
    for (size_t i = 0; i < x.size(); ++i) {
      const int64_t offset = static_cast<int64_t>(i) * to.entry;
      to.memory.StoreVector(x[i], to.memory.At(place, offset));
    }
  });
}

}  // namespace mxc::contraction
