// SPDX-License-Identifier: Apache-2.0
// Recurrent layers over sequences of different lengths, and with bounds of
// their cells.
#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "ir/ops/op.h"
#include "tests/ir/gradient_run.h"
#include "tests/ir/op_run.h"

namespace mxc {
namespace {

constexpr int64_t kSteps = 6, kBatch = 3, kWidth = 4, kUnits = 5;

struct Layer {
  std::string mode;
  bool both = false;  // directions

  bool lstm() const { return mode == "lstm"; }
  int64_t cells() const { return both ? 4 : 2; }  // of two layers
  int64_t gates() const { return lstm() ? 4 : mode == "gru" ? 3 : 1; }
  int64_t parameters() const {
    const int64_t rows = gates() * kUnits, d = both ? 2 : 1;
    const int64_t read = kWidth + kUnits + 2 + d * kUnits + kUnits + 2;
    return d * rows * read;
  }
  std::vector<AttrText> Attrs(std::vector<AttrText> more) const {
    more.insert(more.end(), {{"mode", mode},
                             {"state_size", std::to_string(kUnits)},
                             {"num_layers", "2"},
                             {"bidirectional", PrintBool(both)},
                             {"state_outputs", "True"}});
    return more;
  }
};

Tensor Noise(const Shape& shape, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<float> values(static_cast<size_t>(shape.elements()));
  for (float& v : values) v = static_cast<float>(random() / 4294967296.0 - 0.5);
  return Tensor::FromFloats(shape, values);
}

// Element [t, n, k] of a tensor with three axes.
double At(const Tensor& x, int64_t t, int64_t n, int64_t k) {
  return x.At((t * x.shape()[1] + n) * x.shape()[2] + k);
}

// The first `steps` elements of axis 0 and element n of axis 1.
Tensor Part(const Tensor& x, int64_t steps, int64_t n) {
  std::vector<float> values;
  for (int64_t t = 0; t < steps; ++t) {
    for (int64_t k = 0; k < x.shape()[2]; ++k) {
      values.push_back(static_cast<float>(At(x, t, n, k)));
    }
  }
  return Tensor::FromFloats({steps, 1, x.shape()[2]}, values);
}

void CheckLengths(const Layer& layer) {
  const std::vector<float> lengths = {2, 6, 1};
  std::vector<Tensor> inputs = {Noise({kSteps, kBatch, kWidth}, 1),
                                Noise({layer.parameters()}, 2),
                                Noise({layer.cells(), kBatch, kUnits}, 3)};
  if (layer.lstm()) inputs.push_back(Noise(inputs[2].shape(), 4));
  std::vector<Tensor> with = inputs;
  with.push_back(Tensor::FromFloats({kBatch}, lengths));
  const auto together = EvaluateOp(
      "RNN", layer.Attrs({{"use_sequence_length", "True"}}), with, false);
  for (int64_t n = 0; n < kBatch; ++n) {
    CAPTURE(n);
    const auto length = static_cast<int64_t>(lengths[static_cast<size_t>(n)]);
    std::vector<Tensor> alone = {Part(inputs[0], length, n), inputs[1]};
    for (size_t i = 2; i < inputs.size(); ++i) {
      alone.push_back(Part(inputs[i], layer.cells(), n));
    }
    const auto expected = EvaluateOp("RNN", layer.Attrs({}), alone, false);
    const int64_t width = together[0].shape()[2];
    for (int64_t t = 0; t < kSteps; ++t) {
      for (int64_t k = 0; k < width; ++k) {
        CHECK(At(together[0], t, n, k) ==
              doctest::Approx(t < length ? At(expected[0], t, 0, k) : 0));
      }
    }
    for (size_t state = 1; state < expected.size(); ++state) {
      for (int64_t cell = 0; cell < layer.cells(); ++cell) {
        for (int64_t k = 0; k < kUnits; ++k) {
          CHECK(At(together[state], cell, n, k) ==
                doctest::Approx(At(expected[state], cell, 0, k)));
        }
      }
    }
  }
}

TEST_CASE("a sequence that is over is as if it ran alone") {
  for (const char* mode : {"rnn_relu", "rnn_tanh", "lstm", "gru"}) {
    for (const bool both : {false, true}) {
      CAPTURE(mode);
      CAPTURE(both);
      CheckLengths({mode, both});
    }
  }
}

TEST_CASE("an lstm's cell stays within its bounds") {
  const Layer layer{"lstm", false};
  const std::vector<Tensor> inputs = {
      Noise({kSteps, kBatch, kWidth}, 1), Noise({layer.parameters()}, 2),
      Noise({2, kBatch, kUnits}, 3), Noise({2, kBatch, kUnits}, 4)};
  const auto cells = [&](std::vector<AttrText> bounds) {
    return EvaluateOp("RNN", layer.Attrs(std::move(bounds)), inputs, false)[2];
  };
  const Tensor clipped = cells(
      {{"lstm_state_clip_min", "-0.01"}, {"lstm_state_clip_max", "0.02"}});
  double least = 1, greatest = -1;
  for (int64_t i = 0; i < clipped.shape().elements(); ++i) {
    least = std::min(least, clipped.At(i));
    greatest = std::max(greatest, clipped.At(i));
  }
  CHECK(least == doctest::Approx(-0.01));
  CHECK(greatest == doctest::Approx(0.02));
  const Tensor free = cells({}), wide = cells({{"lstm_state_clip_min", "-9"},
                                               {"lstm_state_clip_max", "9"}});
  for (int64_t i = 0; i < free.shape().elements(); ++i) {
    CHECK(free.At(i) == wide.At(i));
  }
}

TEST_CASE("any number of steps is one layer") {
  const OpRun run = InferOp("RNN", Layer{"lstm", true}.Attrs({}),
                            {{20000, 2, kWidth}, {}, {}, {}}, true);
  CHECK(run.error.empty());
  CHECK(run.outputs[0].shape == Shape{20000, 2, 2 * kUnits});
}

TEST_CASE("gradients of a run that does not train") {
  for (const std::string mode : {"lstm", "gru", "rnn_tanh"}) {
    CAPTURE(mode);
    const Layer layer = {mode};
    std::vector<Tensor> inputs = {SomeDoubles({2, kBatch, kWidth}),
                                  SomeDoubles({layer.parameters()}, 1),
                                  SomeDoubles({2, kBatch, kUnits}, 2)};
    if (layer.lstm()) inputs.push_back(SomeDoubles({2, kBatch, kUnits}, 3));
    CheckGradient("RNN", layer.Attrs({}), inputs, 1e-5, false);
  }
}

}  // namespace
}  // namespace mxc
