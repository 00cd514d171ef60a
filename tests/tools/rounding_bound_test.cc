// SPDX-License-Identifier: Apache-2.0
#include "tools/verify/rounding_bound.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "ir/program/add_buffer.h"
#include "ir/program/interpreter.h"
#include "ir/program/kernel_basis.h"
#include "ir/program/steps/contraction.h"
#include "ir/program/steps/map.h"
#include "ir/program/steps/tile_loop.h"
#include "tools/verify/difference.h"

namespace mxc {
namespace {

using Floats = std::vector<float>;

struct Layer {
  int64_t in, out, size, kernel, tile;
  bool exchanged = false;  // the weight's channels, as for a gradient
  bool line = false;       // the kernel has one row

  int64_t rows() const { return line ? 1 : kernel; }
};

// A convolution that keeps the size, and max(sum, 0) · scale.
Program Convolution(const Layer& layer, double scale) {
  const auto& [in, out, size, kernel, tile, exchanged, line] = layer;
  const int64_t rows = layer.rows();
  Program program;
  const auto add = [&](Extents dims, BufferKind kind) {
    AddBuffer(program, "", {DType::kF32, Shape(std::move(dims))}, kind);
  };
  add({1, in, size, size}, BufferKind::kInput);
  add(exchanged ? Extents{in, out, rows, kernel}
                : Extents{out, in, rows, kernel},
      BufferKind::kInput);
  add({1, out, size, size}, BufferKind::kOutput);
  Contraction c;
  c.in = in, c.out = out;
  c.input = c.output = {size, size};
  c.kernel = {rows, kernel};
  c.stride = c.dilate = c.data_dilate = {1, 1};
  c.pad = {rows / 2, kernel / 2};
  c.data_axes = {Role::kBatch, Role::kGroupIn, Role::kSpatial0,
                 Role::kSpatial1};
  c.weight_axes = {exchanged ? Role::kGroupIn : Role::kGroupOut,
                   exchanged ? Role::kOut : Role::kIn, Role::kSpatial0,
                   Role::kSpatial1};
  c.output_axes = {Role::kBatch, Role::kGroupOut, Role::kSpatial0,
                   Role::kSpatial1};
  Step step;
  step.inputs = {0, 1};
  step.outputs = {2};
  step.body =
      ContractionStep{c,
                      Max(Acc(), Constant(0)) * Constant(scale),
                      {fmt::format("winograd{}", layer.tile), {8, 6, 2}}};
  program.steps = {step};
  return program;
}

struct Matrix {
  std::vector<double> entries;
  int64_t columns = 1;

  int64_t rows() const {
    return static_cast<int64_t>(entries.size()) / columns;
  }
  float at(int64_t i, int64_t j) const {
    return static_cast<float>(entries[i * columns + j]);
  }
};

// a · x · bᵀ in single precision.
Floats BothSides(const Matrix& a, const Matrix& b, const Floats& x) {
  Floats half(a.rows() * b.columns), whole(a.rows() * b.rows());
  for (int64_t i = 0; i < a.rows(); ++i) {
    for (int64_t j = 0; j < b.columns; ++j) {
      for (int64_t k = 0; k < a.columns; ++k) {
        half[i * b.columns + j] += a.at(i, k) * x[k * b.columns + j];
      }
    }
  }
  for (int64_t i = 0; i < a.rows(); ++i) {
    for (int64_t j = 0; j < b.rows(); ++j) {
      for (int64_t k = 0; k < b.columns; ++k) {
        whole[i * b.rows() + j] += half[i * b.columns + k] * b.at(j, k);
      }
    }
  }
  return whole;
}

// The transforms of an axis with so many outputs; none if it has one kernel
// row.
struct Axis {
  Matrix kernels, windows, outputs;

  int64_t window() const { return windows.columns; }
  int64_t count() const { return outputs.rows(); }
};
Axis AxisOf(KernelBasis basis, int64_t kernel, int64_t outputs) {
  if (kernel == 1) return {{{1}, 1}, {{1}, 1}, {{1}, 1}};
  const int64_t window = outputs + kernel - 1;
  const PointRange points = PointsOf(basis, window);
  const std::vector<double> all = KernelMatrix(basis, kernel);
  return {{{all.begin() + points.first * kernel,
            all.begin() + points.end() * kernel},
           kernel},
          {DataMatrix(basis, window), window},
          {OutputMatrix(basis, outputs, window), window}};
}

// Winograd's algorithm as it stands in the books, in single precision; with
// smaller tiles at the end.
Floats Winograd(const Layer& layer, std::span<const float> data,
                std::span<const float> weight) {
  const int64_t r = layer.kernel, m = layer.tile, p = layer.rows();
  const int64_t size = layer.size, step = layer.line ? 1 : m;
  const KernelBasis basis = BasisOfWindow(m + r - 1);
  Floats out(layer.out * size * size);
  for (int64_t o = 0; o < layer.out; ++o) {
    for (int64_t top = 0; top < size; top += step) {
      for (int64_t left = 0; left < size; left += m) {
        const Axis down = AxisOf(basis, p, std::min(step, size - top));
        const Axis across = AxisOf(basis, r, std::min(m, size - left));
        const int64_t planes = down.window() * across.window();
        Floats sum(planes);
        for (int64_t c = 0; c < layer.in; ++c) {
          const int64_t at =
              (layer.exchanged ? c * layer.out + o : o * layer.in + c) * p * r;
          const Floats u = BothSides(
              down.kernels, across.kernels,
              Floats(weight.begin() + at, weight.begin() + at + p * r));
          Floats d(planes);
          for (int64_t i = 0; i < planes; ++i) {
            const int64_t y = top + i / across.window() - p / 2;
            const int64_t x = left + i % across.window() - r / 2;
            if (y < 0 || x < 0 || y >= size || x >= size) continue;
            d[i] = data[(c * size + y) * size + x];
          }
          const Floats v = BothSides(down.windows, across.windows, d);
          for (int64_t i = 0; i < planes; ++i) sum[i] += u[i] * v[i];
        }
        const Floats y = BothSides(down.outputs, across.outputs, sum);
        for (int64_t i = 0; i < down.count() * across.count(); ++i) {
          out[(o * size + top + i / across.count()) * size + left +
              i % across.count()] = y[i];
        }
      }
    }
  }
  return out;
}

Tensor Random(const Shape& shape, std::mt19937& random, float low) {
  std::uniform_real_distribution<float> uniform(low, 1);
  Floats values(static_cast<size_t>(shape.elements()));
  for (float& value : values) value = uniform(random);
  return Tensor::FromFloats(shape, values);
}

}  // namespace

TEST_CASE("rounding bound: holds for Winograd's algorithm, and is near") {
  const Layer layers[] = {
      {16, 4, 9, 3, 2},        {16, 4, 9, 3, 4}, {16, 4, 13, 3, 6},
      {200, 2, 8, 3, 4},       {20, 3, 8, 5, 2}, {20, 3, 9, 5, 4},
      {16, 20, 7, 3, 4, true}, {16, 4, 9, 4, 5}, {16, 4, 9, 7, 2, false, true}};
  std::mt19937 random(7);
  for (const Layer& layer : layers) {
    for (const float low : {-1.0f, 0.0f}) {
      CAPTURE(layer.in);
      CAPTURE(layer.kernel);
      CAPTURE(layer.tile);
      constexpr double kScale = 0.25;
      const Program program = Convolution(layer, kScale);
      const std::vector<Tensor> operands = {
          Random(program.buffers[0].type.shape, random, low),
          Random(program.buffers[1].type.shape, random, -1)};
      const auto bounds = RoundingBounds(program, program.steps[0], operands);
      REQUIRE(bounds.size() == 1);
      const Tensor exact =
          InterpretStep(program, program.steps[0], operands)[0];
      const Floats sums =
          Winograd(layer, operands[0].floats(), operands[1].floats());
      double largest_error = 0, largest_bound = 0;
      int beyond = 0;
      for (size_t i = 0; i < sums.size(); ++i) {
        const auto at = static_cast<int64_t>(i);
        const double error =
            std::abs(kScale * std::max(0.0f, sums[i]) - exact.At(at));
        beyond += error > bounds[0].At(at);
        largest_error = std::max(largest_error, error);
        largest_bound = std::max(largest_bound, bounds[0].At(at));
      }
      CHECK(beyond == 0);
      CHECK(largest_error > 0);
      CHECK(largest_bound < 60 * largest_error);
    }
  }
}

// The values rounded to bf16, in that type.
Tensor AsBrain(const Tensor& values) {
  std::byte* to = nullptr;
  Tensor brain = Tensor::Allocate({DType::kBF16, values.shape()}, &to);
  for (int64_t i = 0; i < values.shape().elements(); ++i) {
    StoreElement(to + i * SizeOf(DType::kBF16), DType::kBF16, values.At(i));
  }
  return brain;
}

TEST_CASE("rounding bound: a narrow output may be rounded to the other side") {
  const Layer layer = {16, 4, 13, 3, 6};
  Program program = Convolution(layer, 0.25);
  ContractionStep& body = *program.steps[0].contraction();
  for (const int b : {0, 2}) program.buffers[b].type.dtype = DType::kBF16;
  body.contraction.types = {DType::kBF16, DType::kF32, DType::kF32,
                            DType::kBF16};
  body.epilogue = Cast(body.epilogue, DType::kBF16);
  std::mt19937 random(7);
  const std::vector<Tensor> operands = {
      AsBrain(Random(program.buffers[0].type.shape, random, -1)),
      Random(program.buffers[1].type.shape, random, -1)};
  const auto bounds = RoundingBounds(program, program.steps[0], operands);
  REQUIRE(bounds.size() == 1);
  const Tensor exact = InterpretStep(program, program.steps[0], operands)[0];
  Floats data(static_cast<size_t>(operands[0].shape().elements()));
  for (size_t i = 0; i < data.size(); ++i) {
    data[i] = static_cast<float>(operands[0].At(static_cast<int64_t>(i)));
  }
  const Floats sums = Winograd(layer, data, operands[1].floats());
  int other_side = 0;
  for (size_t i = 0; i < sums.size(); ++i) {
    const auto at = static_cast<int64_t>(i);
    const double e = exact.At(at), last_bit = LastBit(DType::kBF16) * e;
    const double found = Rounded(0.25 * std::max(0.0f, sums[i]), DType::kBF16);
    other_side += found != e;
    CHECK(std::abs(found - e) <= bounds[0].At(at));
    CHECK(bounds[0].At(at) >= last_bit);
    CHECK(bounds[0].At(at) < 2 * last_bit + 2e-4);
  }
  CHECK(other_side < std::ssize(sums) / 20);
}

// Two images, one at a time: the convolution, then `factor` times its output.
Program InTiles(const Program& convolution, double factor) {
  Program tile = convolution;
  Buffer product = tile.buffers[2];
  tile.buffers[2].kind = BufferKind::kInternal;
  tile.buffers[2].offset = 0;
  product.kind = BufferKind::kOutput;
  tile.buffers.insert(tile.buffers.begin() + 2, product);
  tile.steps[0].outputs = {3};
  Step multiply;
  multiply.inputs = {3};
  multiply.outputs = {2};
  const Extents& dims = product.type.shape.dims();
  multiply.body = Map{{{0, Extents(4, 0), dims,
                        Load(0, DType::kF32, {Var(0), Var(1), Var(2), Var(3)}) *
                            Constant(factor)}}};
  tile.steps.push_back(multiply);
  tile.places[kKernelPlace].arena_bytes = tile.lower_bound_bytes =
      tile.naive_bytes = tile.buffers[3].bytes();

  Program program;
  program.buffers = {tile.buffers[0], tile.buffers[1], tile.buffers[2]};
  for (const int cut : {0, 2}) {
    program.buffers[cut].type.shape[0] = 2;
    program.buffers[cut].layout =
        Layout::RowMajor(program.buffers[cut].type.shape);
  }
  Step step;
  step.inputs = {0, 1};
  step.outputs = {2};
  step.body = TileLoop{2,
                       {{{{0, 0, 1}}}, {}, {{{0, 0, 1}}}},
                       std::make_shared<const Program>(std::move(tile))};
  program.steps = {step};
  return program;
}

TEST_CASE("rounding bound: passes through the steps of a tile") {
  const Program apart = Convolution({16, 16, 8, 3, 4}, 1);
  const Program tiles = InTiles(apart, -3);
  REQUIRE_MESSAGE(!Verify(tiles), *Verify(tiles));
  std::mt19937 random(7);
  const Tensor weight = Random(apart.buffers[1].type.shape, random, -1);
  const Tensor data = Random(tiles.buffers[0].type.shape, random, 0);
  const std::vector<Tensor> operands = {data, weight};
  const auto bounds = RoundingBounds(tiles, tiles.steps[0], operands);
  REQUIRE(bounds.size() == 1);
  const auto half = static_cast<size_t>(data.shape().elements() / 2);
  for (size_t image = 0; image < 2; ++image) {
    const std::vector<Tensor> own = {
        Tensor::FromFloats(apart.buffers[0].type.shape,
                           data.floats().subspan(image * half, half)),
        weight};
    const auto alone = RoundingBounds(apart, apart.steps[0], own);
    REQUIRE(alone.size() == 1);
    const int64_t elements = alone[0].shape().elements();
    for (int64_t i = 0; i < elements; ++i) {
      const double bound =
          bounds[0].At(static_cast<int64_t>(image) * elements + i);
      CHECK(bound >= 2.9 * alone[0].At(i));
      CHECK(bound <= 3 * alone[0].At(i) + 2e-5);
    }
  }
}

TEST_CASE("rounding bound: other steps have none") {
  Program program = Convolution({16, 4, 8, 3, 4}, 1);
  program.steps[0].contraction()->choice.algorithm = "direct";
  std::mt19937 random(7);
  const std::vector<Tensor> operands = {
      Random(program.buffers[0].type.shape, random, -1),
      Random(program.buffers[1].type.shape, random, -1)};
  CHECK(RoundingBounds(program, program.steps[0], operands).empty());
}

TEST_CASE("difference: an element beyond its own bound is wrong") {
  const std::vector<float> expected = {1, 2, 3}, found = {1, 2.25, 3.5};
  const std::vector<float> wide = {0, .5, .5}, narrow = {0, .5, .25};
  const auto tensor = [](const std::vector<float>& values) {
    return Tensor::FromFloats({3}, values);
  };
  const Tensor within = tensor(wide), beyond = tensor(narrow);
  CHECK(Compare(tensor(found), tensor(expected), {}, &within).worst == -1);
  CHECK(Compare(tensor(found), tensor(expected), {}, &beyond).worst == 2);
  CHECK(Compare(tensor(found), tensor(expected), {}).worst == 2);
}

}  // namespace mxc
