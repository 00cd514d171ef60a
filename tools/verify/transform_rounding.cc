// SPDX-License-Identifier: Apache-2.0
#include "tools/verify/transform_rounding.h"

#include <algorithm>
#include <array>
#include <functional>
#include <span>

#include "codegen/cpu/contraction/algorithm.h"
#include "codegen/cpu/contraction/tile_choice.h"
#include "ir/program/kernel_basis.h"
#include "ir/program/quarter_sums.h"
#include "ir/support/division.h"

namespace mxc {
namespace {

using contraction::WinogradSumsTile;
using contraction::WinogradTile;
using contraction::WinogradTiles;
using contraction::WinogradWindows;

// Windows have at most 8 x 8 entries.
using Square = std::array<double, 64>;
// Rows of both operands, and terms of their sums, that are looked at together.
constexpr int64_t kRows = 16, kTerms = 1024;

// Values, and the squares of what their errors may be in units of u².
struct Uncertain {
  Square value{}, square{};
};
// Of sums, with the sums of their partial sums.
struct Total : Uncertain {
  Square partial{};
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
  // For each plane, a row of the earlier planes whose sums its sum goes on
  // from; empty: none does.
  std::span<const double> starts;
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
                const double* dv, int64_t terms, double& value, double& square,
                double& partial) {
  double sum = value, squares = square, partials = partial;
  for (int64_t t = 0; t < terms; ++t) {
    const double uu = u[t] * u[t], vv = v[t] * v[t];
    sum += u[t] * v[t];
    squares += uu * dv[t] + vv * du[t] + uu * vv + sum * sum;
    partials += sum;
  }
  value = sum;
  square = squares;
  partial = partials;
}

// Partial sums that go on from another sum s are s + x for each x so far:
// Σ (s + x)² = Σ x² + 2 s Σ x + n s².
void GoOn(const Sums& sums, Total& total) {
  const int64_t planes = sums.left.transform.results();
  if (sums.starts.empty()) return;
  for (int64_t p = 0; p < planes; ++p) {
    double start = 0;
    for (int64_t q = 0; q < p; ++q) {
      start += sums.starts[p * planes + q] * total.value[q];
    }
    total.square[p] += 2 * start * total.partial[p] +
                       static_cast<double>(sums.terms) * start * start;
  }
}

// All pairs of some rows.
void AddBlock(const Sums& sums, int64_t left, int64_t left_rows, int64_t right,
              int64_t right_rows) {
  const int64_t planes = sums.left.transform.results();
  std::vector<Total> totals(left_rows * right_rows);
  for (int64_t term = 0; term < sums.terms; term += kTerms) {
    const int64_t terms = std::min(kTerms, sums.terms - term);
    const Planes u(sums.left, left, left_rows, term, terms);
    const Planes v(sums.right, right, right_rows, term, terms);
    for (int64_t l = 0; l < left_rows; ++l) {
      for (int64_t r = 0; r < right_rows; ++r) {
        Total& total = totals[l * right_rows + r];
        for (int64_t p = 0; p < planes; ++p) {
          Accumulate(u.value(l, p), u.square(l, p), v.value(r, p),
                     v.square(r, p), terms, total.value[p], total.square[p],
                     total.partial[p]);
        }
      }
    }
  }
  for (int64_t l = 0; l < left_rows; ++l) {
    for (int64_t r = 0; r < right_rows; ++r) {
      Total& total = totals[l * right_rows + r];
      GoOn(sums, total);
      sums.take(left + l, right + r, sums.transform.BothSides(total));
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
void AddQuarters(const Contraction& c, int64_t panel, const float* data,
                 const float* weight, Bounded& out) {
  const int64_t in = c.in / 2, channels = c.out / 2;
  const int64_t positions = c.output[0] * c.output[1];
  const int64_t pairs = DivideUp(c.batch * positions, 2);
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
          tile[q] =
              weight[ChannelOfHalf(q % 2, m, panel) * c.in + k + q / 2 * in];
        }
      }};
  sums.right = {pairs, transform(kDataQuarters, kQuarterProducts, kQuarters),
                [&](int64_t row, int64_t k, Square& tile) {
                  for (int64_t q = 0; q < kQuarters; ++q) {
                    const int64_t position = 2 * row + q / 2;
                    const int64_t image = position / positions;
                    const int64_t at = position % positions;
                    const int64_t plane = image * c.in + k + q % 2 * in;
                    const int64_t y = at / c.output[1] * c.stride[0];
                    const int64_t x = at % c.output[1] * c.stride[1];
                    tile[q] =
                        image < c.batch
                            ? data[(plane * c.input[0] + y) * c.input[1] + x]
                            : 0;
                  }
                }};
  sums.starts = kProductStarts;
  sums.transform = transform(kOutputQuarters, kQuarters, kQuarterProducts);
  sums.take = [&](int64_t m, int64_t row, const Uncertain& y) {
    for (int64_t q = 0; q < kQuarters; ++q) {
      const int64_t position = 2 * row + q / 2;
      const int64_t image = position / positions;
      if (image == c.batch) continue;
      const int64_t plane = image * c.out + ChannelOfHalf(q % 2, m, panel);
      out.Set(plane * positions + position % positions, y.value[q],
              y.square[q]);
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

}  // namespace

bool HasTransforms(const ContractionStep& step) {
  const std::string& algorithm = step.choice.algorithm;
  return WinogradTile(algorithm) > 0 || WinogradSumsTile(algorithm) > 0 ||
         algorithm == contraction::kStrassen;
}

Bounded SumsOfTransforms(const ContractionStep& step, const Shape& shape,
                         const Tensor& data, const Tensor& weight) {
  const Contraction& c = step.contraction;
  const std::string& algorithm = step.choice.algorithm;
  const float *x = data.floats().data(), *w = weight.floats().data();
  Bounded bounded(shape);
  if (algorithm == contraction::kStrassen) {
    const auto [lanes, tile] = contraction::TileOf(step.choice);
    AddQuarters(c, lanes * tile.vectors, x, w, bounded);
  } else if (WinogradTile(algorithm) > 0) {
    AddConvolution(c, algorithm, x, w, bounded);
  } else {
    for (int64_t part = 0; part < c.groups; ++part) {
      AddGradient(c, WinogradSumsTile(algorithm), x, w, part, bounded);
    }
  }
  return bounded;
}

}  // namespace mxc
