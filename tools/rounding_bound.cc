// SPDX-License-Identifier: Apache-2.0
#include "tools/rounding_bound.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <vector>

#include "codegen/contraction/algorithm.h"
#include "ir/program/in_place.h"
#include "ir/program/interpreter.h"
#include "ir/program/kernel_basis.h"
#include "ir/program/quarter_sums.h"

namespace mxc {
namespace {

using contraction::WinogradSumsTile;
using contraction::WinogradTile;
using contraction::WinogradTiles;
using contraction::WinogradWindows;

constexpr double kRoundoff = 0x1p-24;
// Windows have at most 8 x 8 entries.
using Square = std::array<double, 64>;
// Rows of both operands, and terms of their sums, that are looked at together.
constexpr int64_t kRows = 16, kTerms = 1024;

int64_t DivideUp(int64_t a, int64_t b) { return (a + b - 1) / b; }

// Values, and the squares of what their errors may be in units of u².
struct Uncertain {
  Square value{}, square{};
};

struct Transform {
  std::vector<double> matrix;  // rows of `columns`
  int rows = 0, columns = 0;

  double at(int i, int j) const { return matrix[i * columns + j]; }

  // Roundings in row i; a value that is passed on is not rounded.
  int Roundings(int i) const {
    int terms = 0;
    bool copied = true;
    for (int j = 0; j < columns; ++j) {
      if (at(i, j) == 0) continue;
      ++terms;
      copied = copied && std::abs(at(i, j)) == 1;
    }
    return terms == 1 && copied ? 0 : terms;
  }

  // One output of a row: of x[0], x[stride] ….
  void Dot(int i, const Uncertain& x, int first, int stride, Uncertain& out,
           int to) const {
    double value = 0, magnitude = 0, square = 0;
    for (int j = 0; j < columns; ++j) {
      const double t = at(i, j);
      const int from = first + j * stride;
      value += t * x.value[from];
      magnitude += std::abs(t * x.value[from]);
      square += t * t * x.square[from];
    }
    out.value[to] = value;
    out.square[to] = square + Roundings(i) * magnitude * magnitude;
  }
};

// Of the rows and of the columns of a tile.
struct Transforms {
  Transform left, right;

  int results() const { return left.rows * right.rows; }

  // left · x · rightᵀ.
  Uncertain BothSides(const Uncertain& x) const {
    Uncertain half, whole;
    for (int i = 0; i < left.rows; ++i) {
      for (int j = 0; j < right.columns; ++j)
        left.Dot(i, x, j, right.columns, half, i * right.columns + j);
    }
    for (int i = 0; i < left.rows; ++i) {
      for (int j = 0; j < right.rows; ++j)
        right.Dot(j, half, i * right.columns, 1, whole, i * right.rows + j);
    }
    return whole;
  }
};

// Tiles of an operand, numbered by row and term of the sums.
struct Operand {
  int64_t rows = 0;
  Transforms transform;
  std::function<void(int64_t row, int64_t term, Square& tile)> gather;
};

// Σ over `terms` of left(row, term) ∘ right(row, term), transformed, for all
// pairs of rows.
struct Sums {
  Operand left, right;
  int64_t terms = 0;
  Transforms transform;
  // Takes the result for two rows.
  std::function<void(int64_t left, int64_t right, const Uncertain&)> take;
};

// The transformed tiles of some rows and terms: terms lie side by side.
class Planes {
 public:
  Planes(const Operand& operand, int64_t row, int64_t rows, int64_t term,
         int64_t terms)
      : planes_(operand.transform.results()),
        terms_(terms),
        value_(rows * planes_ * terms),
        square_(value_.size()) {
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t t = 0; t < terms; ++t) {
        Uncertain tile;
        operand.gather(row + r, term + t, tile.value);
        const Uncertain plane = operand.transform.BothSides(tile);
        for (int64_t p = 0; p < planes_; ++p) {
          value_[At(r, p) + t] = plane.value[p];
          square_[At(r, p) + t] = plane.square[p];
        }
      }
    }
  }
  const double* value(int64_t row, int64_t plane) const {
    return &value_[At(row, plane)];
  }
  const double* square(int64_t row, int64_t plane) const {
    return &square_[At(row, plane)];
  }

 private:
  size_t At(int64_t row, int64_t plane) const {
    return static_cast<size_t>((row * planes_ + plane) * terms_);
  }

  int64_t planes_, terms_;
  std::vector<double> value_, square_;
};

// Adds products to one plane's sum.
void Accumulate(const double* u, const double* du, const double* v,
                const double* dv, int64_t terms, double& value,
                double& square) {
  double sum = value, squares = square;
  for (int64_t t = 0; t < terms; ++t) {
    const double uu = u[t] * u[t], vv = v[t] * v[t];
    sum += u[t] * v[t];
    squares += uu * dv[t] + vv * du[t] + uu * vv + sum * sum;
  }
  value = sum;
  square = squares;
}

// All pairs of some rows.
void AddBlock(const Sums& sums, int64_t left, int64_t left_rows, int64_t right,
              int64_t right_rows) {
  const int64_t planes = sums.left.transform.results();
  std::vector<Uncertain> totals(left_rows * right_rows);
  for (int64_t term = 0; term < sums.terms; term += kTerms) {
    const int64_t terms = std::min(kTerms, sums.terms - term);
    const Planes u(sums.left, left, left_rows, term, terms);
    const Planes v(sums.right, right, right_rows, term, terms);
    for (int64_t l = 0; l < left_rows; ++l) {
      for (int64_t r = 0; r < right_rows; ++r) {
        Uncertain& total = totals[l * right_rows + r];
        for (int64_t p = 0; p < planes; ++p) {
          Accumulate(u.value(l, p), u.square(l, p), v.value(r, p),
                     v.square(r, p), terms, total.value[p], total.square[p]);
        }
      }
    }
  }
  for (int64_t l = 0; l < left_rows; ++l) {
    for (int64_t r = 0; r < right_rows; ++r) {
      sums.take(left + l, right + r,
                sums.transform.BothSides(totals[l * right_rows + r]));
    }
  }
}

void AddAll(const Sums& sums) {
  for (int64_t l = 0; l < sums.left.rows; l += kRows) {
    for (int64_t r = 0; r < sums.right.rows; r += kRows) {
      AddBlock(sums, l, std::min(kRows, sums.left.rows - l), r,
               std::min(kRows, sums.right.rows - r));
    }
  }
}

// The rectangle of `sides` from (top, left) on of a plane; zeros around it.
void Cut(const float* plane, int64_t height, int64_t width, int64_t top,
         int64_t left, const Extents& sides, Square& tile) {
  for (int64_t y = 0; y < sides[0]; ++y) {
    for (int64_t x = 0; x < sides[1]; ++x) {
      const int64_t i = top + y, j = left + x;
      const bool inside = i >= 0 && i < height && j >= 0 && j < width;
      tile[y * sides[1] + x] = inside ? plane[i * width + j] : 0;
    }
  }
}

// Windows of `sides` in the basis of those of `whole`, which are as large or
// larger. An axis of 1 is left as it is.
struct Windows {
  Extents whole, sides;
};
Transforms BothAxes(
    const Windows& windows,
    const std::function<Transform(size_t axis, KernelBasis basis)>& transform) {
  const auto along = [&](size_t axis) {
    const int64_t n = windows.whole[axis];
    return n == 1 ? Transform{{1}, 1, 1} : transform(axis, BasisOfWindow(n));
  };
  return {along(0), along(1)};
}
Transforms DataTransform(const Windows& windows) {
  return BothAxes(windows, [&](size_t axis, KernelBasis basis) {
    const int n = static_cast<int>(windows.sides[axis]);
    return Transform{DataMatrix(basis, n), n, n};
  });
}
Transforms KernelTransform(const Windows& windows, const Extents& kernel) {
  return BothAxes(windows, [&](size_t axis, KernelBasis basis) {
    const std::vector<double> all = KernelMatrix(basis, kernel[axis]);
    const PointRange points = PointsOf(basis, windows.sides[axis]);
    return Transform{{all.begin() + points.first * kernel[axis],
                      all.begin() + points.end() * kernel[axis]},
                     static_cast<int>(points.count),
                     static_cast<int>(kernel[axis])};
  });
}
Transforms OutputTransform(const Windows& windows, const Extents& outputs) {
  return BothAxes(windows, [&](size_t axis, KernelBasis basis) {
    return Transform{OutputMatrix(basis, outputs[axis], windows.sides[axis]),
                     static_cast<int>(outputs[axis]),
                     static_cast<int>(windows.sides[axis])};
  });
}

// The contraction's sums, row-major as its output, and λ σ of each.
struct Bounded {
  std::vector<double> sum, bound;

  explicit Bounded(const Shape& shape)
      : sum(static_cast<size_t>(shape.elements())), bound(sum.size()) {}
  void Set(int64_t at, double value, double square) {
    sum[at] = value;
    bound[at] = kRoundingDeviations * kRoundoff * std::sqrt(square);
  }
};

// Tiles of an axis that have as many outputs, and where the first of them is.
struct AxisTiles {
  int64_t first, count, outputs;
};
std::vector<AxisTiles> TilesAlong(int64_t extent, int64_t outputs) {
  const int64_t full = extent / outputs, rest = extent % outputs;
  std::vector<AxisTiles> tiles;
  if (full > 0) tiles.push_back({0, full, outputs});
  if (rest > 0) tiles.push_back({full * outputs, 1, rest});
  return tiles;
}

// f[N, C, y, x] by f[M, C, …], or f[C, M, …] where the channels are exchanged;
// the outputs of some tiles.
void AddTiles(const Contraction& c, const Extents& whole, const AxisTiles& down,
              const AxisTiles& across, const float* data, const float* weight,
              Bounded& out) {
  const Extents tile = {down.outputs, across.outputs};
  const Windows windows = {
      whole, {tile[0] + c.kernel[0] - 1, tile[1] + c.kernel[1] - 1}};
  const int64_t positions = c.kernel[0] * c.kernel[1];
  const int64_t tiles = down.count * across.count;
  const bool exchanged = c.weight_axes[1] == Role::kOut;
  struct Place {
    int64_t image, top, left;
  };
  const auto place = [&](int64_t row) -> Place {
    const int64_t t = row % tiles;
    return {row / tiles, down.first + t / across.count * tile[0],
            across.first + t % across.count * tile[1]};
  };
  Sums sums;
  sums.terms = c.in;
  sums.left = {c.out, KernelTransform(windows, c.kernel),
               [&](int64_t m, int64_t k, Square& kernel) {
                 const int64_t at = exchanged ? k * c.out + m : m * c.in + k;
                 Cut(weight + at * positions, c.kernel[0], c.kernel[1], 0, 0,
                     c.kernel, kernel);
                 if (c.flip)
                   std::reverse(kernel.begin(), kernel.begin() + positions);
               }};
  sums.right = {c.batch * tiles, DataTransform(windows),
                [&](int64_t row, int64_t k, Square& window) {
                  const Place at = place(row);
                  Cut(data + (at.image * c.in + k) * c.input[0] * c.input[1],
                      c.input[0], c.input[1], at.top - c.pad[0],
                      at.left - c.pad[1], windows.sides, window);
                }};
  sums.transform = OutputTransform(windows, tile);
  sums.take = [&](int64_t m, int64_t row, const Uncertain& y) {
    const Place at = place(row);
    const int64_t plane = (at.image * c.out + m) * c.output[0];
    for (int64_t i = 0; i < tile[0]; ++i) {
      for (int64_t j = 0; j < tile[1]; ++j) {
        out.Set((plane + at.top + i) * c.output[1] + at.left + j,
                y.value[i * tile[1] + j], y.square[i * tile[1] + j]);
      }
    }
  };
  AddAll(sums);
}

// Tiles at the end are as small as what is left of the output.
void AddConvolution(const Contraction& c, std::string_view algorithm,
                    const float* data, const float* weight, Bounded& out) {
  const Extents tile = WinogradTiles(c, algorithm);
  const Extents whole = WinogradWindows(c, algorithm);
  for (const AxisTiles& down : TilesAlong(c.output[0], tile[0])) {
    for (const AxisTiles& across : TilesAlong(c.output[1], tile[1])) {
      AddTiles(c, whole, down, across, data, weight, out);
    }
  }
}

// f[N, C, y, x] by f[M, C, 1, 1] in quarters (quarter_sums.h): a tile has those
// of the data, the weights or the outputs.
void AddQuarters(const Contraction& c, const float* data, const float* weight,
                 Bounded& out) {
  const int64_t in = c.in / 2, channels = c.out / 2;
  const int64_t positions = c.output[0] * c.output[1];
  const int64_t pairs = DivideUp(positions, 2);
  const auto transform = [](std::span<const double> matrix, int rows,
                            int columns) {
    return Transforms{{{matrix.begin(), matrix.end()}, rows, columns},
                      {{1}, 1, 1}};
  };
  Sums sums;
  sums.terms = in;
  sums.left = {
      channels, transform(kWeightQuarters, kQuarterProducts, kQuarters),
      [&](int64_t m, int64_t k, Square& tile) {
        for (int64_t q = 0; q < kQuarters; ++q) {
          tile[q] = weight[(m + q % 2 * channels) * c.in + k + q / 2 * in];
        }
      }};
  sums.right = {
      c.batch * pairs, transform(kDataQuarters, kQuarterProducts, kQuarters),
      [&](int64_t row, int64_t k, Square& tile) {
        for (int64_t q = 0; q < kQuarters; ++q) {
          const int64_t at = row % pairs + q / 2 * pairs;
          const int64_t plane = row / pairs * c.in + k + q % 2 * in;
          const int64_t y = at / c.output[1] * c.stride[0];
          const int64_t x = at % c.output[1] * c.stride[1];
          tile[q] = at < positions
                        ? data[(plane * c.input[0] + y) * c.input[1] + x]
                        : 0;
        }
      }};
  sums.transform = transform(kOutputQuarters, kQuarters, kQuarterProducts);
  sums.take = [&](int64_t m, int64_t row, const Uncertain& y) {
    for (int64_t q = 0; q < kQuarters; ++q) {
      const int64_t at = row % pairs + q / 2 * pairs;
      if (at >= positions) continue;
      const int64_t plane = row / pairs * c.out + m + q % 2 * channels;
      out.Set(plane * positions + at, y.value[q], y.square[q]);
    }
  };
  AddAll(sums);
}

// The gradient f[M, C, r, r] of a kernel from f[N, C, y, x] and f[N, M, y, x],
// or its parts: as many as there are groups.
void AddGradient(const Contraction& c, int64_t tile, const float* data,
                 const float* weight, int64_t part, Bounded& out) {
  const int64_t r = c.output[0], n = tile + r - 1;
  const Extents sides = {n, n}, square = {tile, tile};
  const Windows windows = {sides, sides};
  const int64_t columns = DivideUp(c.kernel[1], tile);
  const int64_t tiles = DivideUp(c.kernel[0], tile) * columns;
  Sums sums;
  sums.terms = c.in * tiles;
  sums.left = {c.out, KernelTransform(windows, square),
               [&](int64_t m, int64_t term, Square& window) {
                 const int64_t image = part * c.in + term / tiles;
                 const int64_t t = term % tiles;
                 Cut(weight + (image * c.out + m) * c.kernel[0] * c.kernel[1],
                     c.kernel[0], c.kernel[1], t / columns * tile,
                     t % columns * tile, square, window);
               }};
  sums.right = {
      c.batch, DataTransform(windows),
      [&](int64_t channel, int64_t term, Square& window) {
        const int64_t image = part * c.in + term / tiles;
        const int64_t t = term % tiles;
        Cut(data + (image * c.batch + channel) * c.input[0] * c.input[1],
            c.input[0], c.input[1], t / columns * tile - c.pad[0],
            t % columns * tile - c.pad[1], sides, window);
      }};
  sums.transform = OutputTransform(windows, {r, r});
  sums.take = [&](int64_t m, int64_t channel, const Uncertain& y) {
    const int64_t first = ((part * c.out + m) * c.batch + channel) * r * r;
    for (int64_t i = 0; i < r * r; ++i) {
      out.Set(first + i, y.value[i], y.square[i]);
    }
  };
  AddAll(sums);
}

// The step's output where the contraction's sums are those.
Tensor Finish(const Program& program, const Step& step,
              std::span<const Tensor> operands, const Tensor& sums) {
  Program with = program;
  Buffer buffer;
  buffer.name = "sums";
  buffer.type = sums.type();
  buffer.layout = Layout::RowMajor(sums.shape());
  with.buffers.push_back(buffer);
  Step finish = step;
  const int operand = static_cast<int>(step.inputs.size());
  finish.inputs.push_back(static_cast<int>(with.buffers.size()) - 1);
  std::vector<Expr> index;
  for (int axis = 0; axis < sums.shape().rank(); ++axis) {
    index.push_back(Var(axis));
  }
  const Expr value =
      Rewrite(step.contraction()->epilogue, [&](const Expr& e) -> Expr {
        return e->kind == ExprKind::kAcc ? Load(operand, DType::kF32, index)
                                         : Expr();
      });
  const Extents& dims = sums.shape().dims();
  finish.body = Map{{{0, Extents(dims.size(), 0), dims, value}}};
  std::vector<Tensor> all(operands.begin(), operands.end());
  all.push_back(sums);
  return InterpretStep(with, finish, all)[0];
}

bool AnyBounds(std::span<const Tensor> bounds) {
  return std::ranges::any_of(bounds,
                             [](const Tensor& t) { return !t.empty(); });
}

// The operands, moved by so many of their bounds.
std::vector<Tensor> Moved(std::span<const Tensor> operands,
                          std::span<const Tensor> bounds, double by) {
  std::vector<Tensor> moved(operands.begin(), operands.end());
  for (size_t i = 0; i < bounds.size(); ++i) {
    if (bounds[i].empty()) continue;
    std::vector<float> values(operands[i].floats().begin(),
                              operands[i].floats().end());
    for (size_t k = 0; k < values.size(); ++k) {
      values[k] += static_cast<float>(by) * bounds[i].floats()[k];
    }
    moved[i] = Tensor::FromFloats(operands[i].shape(), values);
  }
  return moved;
}

constexpr double kEpilogueRoundings = 4;

// What `compute` makes of all that it is given, moved to both ends of its
// bounds (-1, 1), and a few roundings of its own of values of such magnitudes.
Tensor AtBothEnds(const std::function<Tensor(double by)>& compute,
                  const std::function<double(size_t)>& magnitude) {
  const Tensor exact = compute(0), above = compute(1), below = compute(-1);
  std::vector<float> bounds(static_cast<size_t>(exact.shape().elements()));
  for (size_t i = 0; i < bounds.size(); ++i) {
    const auto k = static_cast<int64_t>(i);
    const double change = std::max(std::abs(above.At(k) - exact.At(k)),
                                   std::abs(below.At(k) - exact.At(k)));
    bounds[i] =
        static_cast<float>(change + kEpilogueRoundings * kRoundoff *
                                        (std::abs(exact.At(k)) + magnitude(i)));
  }
  return Tensor::FromFloats(exact.shape(), bounds);
}

Tensor ThroughEpilogue(const Program& program, const Step& step,
                       std::span<const Tensor> operands,
                       std::span<const Tensor> operand_bounds,
                       const Bounded& bounded) {
  const Shape& shape = program.buffers[step.outputs[0]].type.shape;
  const auto compute = [&](double by) {
    std::vector<float> sums(bounded.sum.size());
    for (size_t i = 0; i < sums.size(); ++i) {
      sums[i] = static_cast<float>(bounded.sum[i] + by * bounded.bound[i]);
    }
    return Finish(program, step, Moved(operands, operand_bounds, by),
                  Tensor::FromFloats(shape, sums));
  };
  return AtBothEnds(compute,
                    [&](size_t i) { return std::abs(bounded.sum[i]); });
}

// The contraction alone, on other operands than the step's.
Tensor SumsOf(const Program& program, const Step& step,
              std::span<const Tensor> operands) {
  Step sums = step;
  sums.contraction()->epilogue = Acc();
  return InterpretStep(program, sums, operands)[0];
}

Tensor Squares(const Tensor& values) {
  std::vector<float> squares(values.floats().begin(), values.floats().end());
  for (float& value : squares) value *= value;
  return Tensor::FromFloats(values.shape(), squares);
}

// Errors of data and weight, independent of each other.
void AddOperandErrors(const Program& program, const Step& step,
                      std::span<const Tensor> operands,
                      std::span<const Tensor> operand_bounds,
                      Bounded& bounded) {
  for (size_t i = 0; i < std::min<size_t>(2, operand_bounds.size()); ++i) {
    if (operand_bounds[i].empty()) continue;
    std::vector<Tensor> squares(operands.begin(), operands.end());
    squares[i] = Squares(operand_bounds[i]);
    squares[1 - i] = Squares(operands[1 - i]);
    const Tensor sums = SumsOf(program, step, squares);
    for (size_t k = 0; k < bounded.bound.size(); ++k) {
      bounded.bound[k] = std::hypot(
          bounded.bound[k], std::sqrt(sums.At(static_cast<int64_t>(k))));
    }
  }
}

// The sums, and what the algorithm's roundings may do to them.
Bounded SumsOfAlgorithm(const Program& program, const Step& step,
                        std::span<const Tensor> operands) {
  const ContractionStep& body = *step.contraction();
  const Contraction& c = body.contraction;
  Bounded bounded(program.buffers[step.outputs[0]].type.shape);
  const float* data = operands[0].floats().data();
  const float* weight = operands[1].floats().data();
  if (WinogradTile(body.choice.algorithm) > 0) {
    AddConvolution(c, body.choice.algorithm, data, weight, bounded);
    return bounded;
  }
  if (body.choice.algorithm == contraction::kStrassen) {
    AddQuarters(c, data, weight, bounded);
    return bounded;
  }
  const int64_t tile = WinogradSumsTile(body.choice.algorithm);
  for (int64_t part = 0; tile > 0 && part < c.groups; ++part) {
    AddGradient(c, tile, data, weight, part, bounded);
  }
  if (tile > 0) return bounded;
  const Tensor sums = SumsOf(program, step, operands);
  for (size_t i = 0; i < bounded.sum.size(); ++i) {
    bounded.sum[i] = sums.At(static_cast<int64_t>(i));
  }
  return bounded;
}

std::vector<Tensor> BoundsOfMap(const Program& program, const Step& step,
                                std::span<const Tensor> operands,
                                std::span<const Tensor> operand_bounds) {
  std::vector<Tensor> bounds(step.outputs.size());
  for (size_t o = 0; o < bounds.size(); ++o) {
    if (program.buffers[step.outputs[o]].type.dtype != DType::kF32) continue;
    bounds[o] = AtBothEnds(
        [&](double by) {
          return InterpretStep(program, step,
                               Moved(operands, operand_bounds, by))[o];
        },
        [](size_t) { return 0; });
  }
  return bounds;
}

bool UsesTransforms(const Step& step) {
  if (const TileLoop* loop = step.loop()) {
    return std::ranges::any_of(loop->tile->steps, UsesTransforms);
  }
  const ContractionStep* body = step.contraction();
  if (body == nullptr) return false;
  const std::string& algorithm = body->choice.algorithm;
  return WinogradTile(algorithm) > 0 || WinogradSumsTile(algorithm) > 0 ||
         algorithm == contraction::kStrassen;
}

// By the steps of each tile.
std::vector<Tensor> BoundsOfLoop(const Program& program, const Step& step,
                                 std::span<const Tensor> operands,
                                 std::span<const Tensor> operand_bounds) {
  const TileLoop& loop = *step.loop();
  const Program& tile = *loop.tile;
  std::vector<std::vector<float>> found(step.outputs.size());
  for (int64_t t = 0; t < loop.tiles; ++t) {
    std::vector<Tensor> values(tile.buffers.size()), bounds = values;
    for (size_t i = 0; i < operands.size(); ++i) {
      values[i] = CutWindow(loop, i, t, operands[i]);
      if (i < operand_bounds.size() && !operand_bounds[i].empty()) {
        bounds[i] = CutWindow(loop, i, t, operand_bounds[i]);
      }
    }
    for (const Step& inner : tile.steps) {
      std::vector<Tensor> on, off;
      for (const int b : inner.inputs) {
        on.push_back(values[b]);
        off.push_back(bounds[b]);
      }
      const auto results = InterpretStep(tile, inner, on);
      const auto errors = RoundingBounds(tile, inner, on, off);
      for (size_t o = 0; o < results.size(); ++o) {
        values[inner.outputs[o]] = results[o];
        if (!errors.empty()) bounds[inner.outputs[o]] = errors[o];
      }
    }
    for (size_t o = 0; o < found.size(); ++o) {
      const size_t w = operands.size() + o;
      if (bounds[w].empty()) continue;
      const Shape& whole = program.buffers[step.outputs[o]].type.shape;
      found[o].resize(static_cast<size_t>(whole.elements()));
      for (const WindowRun& run :
           RunsOf(loop.windows[w], t, whole, bounds[w].shape())) {
        std::copy_n(bounds[w].floats().begin() + run.part, run.count,
                    found[o].begin() + run.operand);
      }
    }
  }
  std::vector<Tensor> bounds(found.size());
  for (size_t o = 0; o < found.size(); ++o) {
    if (found[o].empty()) continue;
    bounds[o] = Tensor::FromFloats(program.buffers[step.outputs[o]].type.shape,
                                   found[o]);
  }
  return AnyBounds(bounds) ? bounds : std::vector<Tensor>();
}

}  // namespace

std::vector<Tensor> RoundingBounds(const Program& program, const Step& step,
                                   std::span<const Tensor> operands,
                                   std::span<const Tensor> operand_bounds) {
  if (!AnyBounds(operand_bounds) && !UsesTransforms(step)) return {};
  if (step.loop() != nullptr) {
    return BoundsOfLoop(program, step, operands, operand_bounds);
  }
  if (step.contraction() == nullptr) {
    return BoundsOfMap(program, step, operands, operand_bounds);
  }
  Bounded bounded = SumsOfAlgorithm(program, step, operands);
  AddOperandErrors(program, step, operands, operand_bounds, bounded);
  return {ThroughEpilogue(program, step, operands, operand_bounds, bounded)};
}

}  // namespace mxc
