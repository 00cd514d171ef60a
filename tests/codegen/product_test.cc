// SPDX-License-Identifier: Apache-2.0
// Products by a device's units for matrices, on an emulated device.
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "codegen/backend.h"
#include "codegen/cuda/product_shape.h"
#include "ir/program/interpreter.h"
#include "tests/codegen/contraction_case.h"
#include "tests/codegen/emulated_kernel.h"
#include "tests/codegen/native_kernel.h"

namespace mxc::test {
namespace {

using Floats = std::unique_ptr<FencedFloats>;

// The kernel of a case in the layouts of the candidate, and its operands.
class DeviceProduct {
 public:
  DeviceProduct(const ContractionCase& c, const KernelCandidate& candidate)
      : program_(Build(c, candidate)), plan_(Plan(program_)) {
    const Step& step = program_.steps[0];
    kernel_ = std::make_unique<EmulatedKernel>(
        EmulatedTarget(), static_cast<int>(step.operands().size()), plan_.emit);
    std::mt19937_64 random(7);
    std::uniform_real_distribution<float> uniform(-1, 1);
    for (const int input : step.inputs) {
      std::byte* to = nullptr;
      inputs_.push_back(Tensor::Allocate(program_.buffers[input].type, &to));
      for (int64_t i = 0; i < inputs_.back().shape().elements(); ++i) {
        StoreElement(to + 4 * i, DType::kF32, uniform(random));
      }
      memory_.push_back(Allocate(program_.buffers[input]));
      Scatter(program_.buffers[input], inputs_.back(), *memory_.back());
    }
    memory_.push_back(Allocate(program_.buffers[step.outputs[0]]));
  }

  // The output's memory; empty where the device would have stopped.
  std::vector<float> Run(const EmulatedKernel::Order& order) {
    FencedFloats& output = *memory_.back();
    std::fill_n(output.data(), output.size(), NAN);
    std::vector<void*> operands;
    for (const Floats& floats : memory_) operands.push_back(floats->data());
    wrong_ = kernel_->Run(operands, plan_.launch, order);
    if (!wrong_.empty()) return {};
    return {output.data(), output.data() + output.size()};
  }

  // The largest error, of the largest value.
  double Error(const std::vector<float>& got) const {
    const Step& step = program_.steps[0];
    const Tensor want = InterpretStep(program_, step, inputs_)[0];
    const Buffer& buffer = program_.buffers[step.outputs[0]];
    double largest = 0, error = 0;
    ForEachIndex(buffer.type.shape, [&](int64_t i, const Extents& index) {
      const float y = got[static_cast<size_t>(buffer.layout.Offset(index))];
      largest = std::max(largest, std::fabs(want.At(i)));
      error = std::max(error,
                       std::isfinite(y) ? std::fabs(y - want.At(i)) : INFINITY);
    });
    return error / largest;
  }

  const std::string& wrong() const { return wrong_; }

 private:
  // Operands begin where a plan would put them.
  static KernelPlan Plan(Program& program) {
    for (Buffer& buffer : program.buffers) buffer.offset = 0;
    const Target target = EmulatedTarget();
    return BackendOf(target).Plan(program, program.steps[0], target, {});
  }

  static Floats Allocate(const Buffer& buffer) {
    return std::make_unique<FencedFloats>((buffer.layout.reach() + 3) / 4 * 4,
                                          FencedFloats::Fence::kAfter);
  }

  template <class F>
  static void ForEachIndex(const Shape& shape, F f) {
    Extents index(static_cast<size_t>(shape.rank()), 0);
    for (int64_t i = 0; i < shape.elements(); ++i) {
      f(i, index);
      for (size_t axis = index.size(); axis-- > 0;) {
        if (++index[axis] < shape[static_cast<int>(axis)]) break;
        index[axis] = 0;
      }
    }
  }

  static void Scatter(const Buffer& buffer, const Tensor& values,
                      FencedFloats& to) {
    std::fill_n(to.data(), to.size(), NAN);
    ForEachIndex(buffer.type.shape, [&](int64_t i, const Extents& index) {
      to.data()[buffer.layout.Offset(index)] = static_cast<float>(values.At(i));
    });
  }

  Program program_;
  const KernelPlan plan_;
  std::unique_ptr<EmulatedKernel> kernel_;
  std::vector<Tensor> inputs_;
  std::vector<Floats> memory_;
  std::string wrong_;
};

// Row-major, or with the channels of data and output side by side.
KernelCandidate CandidateFor(const Contraction& c, bool channels_last) {
  const auto found = ProductCandidates(c, EmulatedTarget().machine);
  REQUIRE(found.size() == 1);
  KernelCandidate candidate = found[0];
  if (channels_last) {
    candidate.data_block = c.groups * c.in;
    candidate.output_block = c.groups * c.out;
  }
  return candidate;
}

ContractionCase WithEpilogue(const Contraction& c) {
  return {c, Relu(Acc(DType::kF32) + Bias(c)) + Residual(c)};
}

void CheckProduct(const Contraction& c, bool channels_last) {
  DeviceProduct product(WithEpilogue(c), CandidateFor(c, channels_last));
  const std::vector<float> y = product.Run({});
  REQUIRE(product.wrong() == "");
  CHECK(product.Error(y) < 1e-6);
}

const ConvolutionShape kConvolutions[] = {
    {.batch = 2,
     .in = 16,
     .out = 40,
     .input = {9, 8},
     .kernel = {3, 3},
     .pad = {1, 1}},
    {.batch = 3,
     .in = 12,
     .out = 36,
     .input = {11, 13},
     .kernel = {3, 2},
     .stride = {2, 2},
     .dilate = {1, 2},
     .pad = {1, 0}},
    {.batch = 2,
     .groups = 2,
     .in = 24,
     .out = 32,
     .input = {8, 8},
     .kernel = {3, 3},
     .pad = {1, 1}},
    {.batch = 2, .in = 64, .out = 20, .input = {7, 7}, .kernel = {1, 1}},
    {.batch = 5,
     .in = 10,
     .out = 17,
     .input = {33},
     .kernel = {4},
     .stride = {3},
     .pad = {2}},
    {.batch = 1,
     .in = 8,
     .out = 16,
     .input = {5, 6, 7},
     .kernel = {2, 3, 2},
     .pad = {1, 1, 0}},
};

}  // namespace

TEST_CASE("convolutions, in any layout, with any epilogue") {
  for (const ConvolutionShape& shape : kConvolutions) {
    for (const bool channels_last : {false, true}) {
      CAPTURE(shape.in);
      CAPTURE(channels_last);
      CheckProduct(Convolution(shape), channels_last);
    }
  }
}

TEST_CASE("gradients of their data and of their weights") {
  for (const ConvolutionShape& shape : kConvolutions) {
    CAPTURE(shape.in);
    CheckProduct(BackwardData(shape), true);
    if (shape.groups == 1) CheckProduct(BackwardWeight(shape), false);
  }
}

TEST_CASE("products of matrices") {
  CheckProduct(Product(1, 70, 100, 33), false);
  CheckProduct(Product(1, 128, 64, 64), false);
  CheckProduct(Product(3, 40, 50, 24), false);
}

TEST_CASE("operands are rounded to tf32 where that is asked for") {
  const ContractionCase c = WithEpilogue(Convolution(kConvolutions[0]));
  const auto found =
      ProductCandidates(c.contraction, EmulatedTarget().machine, /*tf32=*/true);
  REQUIRE(found.size() == 1);
  DeviceProduct product(c, found[0]);
  const double error = product.Error(product.Run({}));
  CHECK(error > 1e-5);
  CHECK(error < 1e-3);
}

TEST_CASE("any order of threads gives the bytes, and each barrier is needed") {
  const Contraction c = Convolution(kConvolutions[0]);
  DeviceProduct product(WithEpilogue(c), CandidateFor(c, true));
  const std::vector<float> expected = product.Run({});
  const auto differs = [&](const std::vector<float>& other) {
    return other.size() != expected.size() ||
           std::memcmp(other.data(), expected.data(), 4 * other.size()) != 0;
  };
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    CHECK(!differs(product.Run({.backwards = true, .seed = seed})));
  }
  // One for each 16 of the depth, and two around the sums.
  const int barriers = 16 * 9 / ProductTile::kDepth + 2;
  for (int barrier = 1; barrier <= barriers; ++barrier) {
    CAPTURE(barrier);
    bool noticed = false;
    for (uint64_t seed = 1; seed <= 8 && !noticed; ++seed) {
      noticed = differs(product.Run(
          {.seed = seed, .without_barrier = static_cast<uint32_t>(barrier)}));
    }
    CHECK(noticed);
  }
  CHECK(!differs(product.Run(
      {.seed = 1, .without_barrier = static_cast<uint32_t>(barriers + 1)})));
}

TEST_CASE("few rows, columns or terms take a thread each") {
  const Machine machine = EmulatedTarget().machine;
  CHECK(ProductCandidates(Product(1, 4, 512, 512), machine).empty());
  CHECK(ProductCandidates(Product(1, 512, 512, 4), machine).empty());
  CHECK(ProductCandidates(Product(1, 512, 4, 512), machine).empty());
  const ConvolutionShape depthwise = {.batch = 2,
                                      .groups = 32,
                                      .in = 32,
                                      .out = 32,
                                      .input = {14, 14},
                                      .kernel = {3, 3}};
  CHECK(ProductCandidates(Convolution(depthwise), machine).empty());
}

TEST_CASE("a gradient of few weights is dealt in parts") {
  const ConvolutionShape shape = {.batch = 32,
                                  .in = 16,
                                  .out = 16,
                                  .input = {28, 28},
                                  .kernel = {3, 3},
                                  .pad = {1, 1}};
  const auto found =
      ProductCandidates(BackwardWeight(shape), EmulatedTarget().machine);
  REQUIRE(found.size() == 1);
  CHECK(found[0].parts == 32);
}

}  // namespace mxc::test
