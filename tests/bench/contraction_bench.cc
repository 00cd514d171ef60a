// SPDX-License-Identifier: Apache-2.0
// GFLOP/s of the contraction kernels on layers of well-known networks, one
// thread:
//   contraction_bench [target] [part of a name] [MiB] [algorithm] [type] [wide]
// Data are in the caches; weights too, unless MiB of copies are used in turn.
// All kernels whose algorithm starts as given are measured; without one, the
// one that would be chosen. Operands and outputs are f32 or of the given type;
// the peak is that of f32. "wide": data are of the sums' type, as
// passes/widen_data leaves them.
#include <fmt/format.h>
#include <sys/mman.h>
#include <time.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "codegen/codegen.h"
#include "codegen/cpu/contraction/contraction.h"
#include "codegen/cpu/contraction/tile_choice.h"
#include "runtime/abi/abi.h"
#include "tests/codegen/contraction_case.h"
#include "tests/codegen/native_kernel.h"

namespace mxc::test {
namespace {

struct Layer {
  std::string name;
  Contraction contraction;
  bool residual = false;
};

ConvolutionShape ShapeOf(int64_t in, int64_t out, int64_t size, int64_t kernel,
                         int64_t stride = 1, int64_t groups = 1,
                         int64_t batch = 1) {
  const int64_t pad = kernel / 2;
  return {.batch = batch,
          .groups = groups,
          .in = in,
          .out = out,
          .input = {size, size},
          .kernel = {kernel, kernel},
          .stride = {stride, stride},
          .pad = {pad, pad}};
}

Contraction Conv(int64_t in, int64_t out, int64_t size, int64_t kernel,
                 int64_t stride = 1, int64_t groups = 1, int64_t batch = 1) {
  return Convolution(ShapeOf(in, out, size, kernel, stride, groups, batch));
}

// lhs · rhs with either of them transposed, as the gradients of products are.
Contraction Transposed(int64_t rows, int64_t in, int64_t out, bool lhs,
                       bool rhs) {
  Contraction c = Product(1, rows, in, out);
  if (lhs) c.data_axes = {Role::kIn, Role::kBatch};
  if (!rhs) c.weight_axes = {Role::kIn, Role::kOut};
  return c;
}

struct Trained {
  const char* name;
  ConvolutionShape shape;
};

// In the batches of a training step.
std::vector<Trained> TrainedLayers() {
  return {
      {"lenet 5x5 1-20 28", {64, 1, 1, 20, {28, 28}, {5, 5}, {}, {}, {}}},
      {"lenet 5x5 20-50 12", {64, 1, 20, 50, {12, 12}, {5, 5}, {}, {}, {}}},
      {"cifar 3x3 3-16 32", ShapeOf(3, 16, 32, 3, 1, 1, 32)},
      {"cifar 3x3 16 32", ShapeOf(16, 16, 32, 3, 1, 1, 32)},
      {"cifar 3x3/2 16-32 32", ShapeOf(16, 32, 32, 3, 2, 1, 32)},
      {"cifar 3x3 32 16", ShapeOf(32, 32, 16, 3, 1, 1, 32)},
      {"cifar 3x3 64 8", ShapeOf(64, 64, 8, 3, 1, 1, 32)},
      {"resnet 7x7/2 3-64 224", ShapeOf(3, 64, 224, 7, 2, 1, 4)},
      {"resnet 3x3 64 56", ShapeOf(64, 64, 56, 3, 1, 1, 4)},
      {"resnet 3x3/2 64-128 56", ShapeOf(64, 128, 56, 3, 2, 1, 4)},
      {"resnet 1x1/2 64-128 56", ShapeOf(64, 128, 56, 1, 2, 1, 4)},
      {"resnet 3x3 128 28", ShapeOf(128, 128, 28, 3, 1, 1, 8)},
      {"resnet 3x3 256 14", ShapeOf(256, 256, 14, 3, 1, 1, 8)},
      {"resnet 3x3/2 256-512 14", ShapeOf(256, 512, 14, 3, 2, 1, 8)},
      {"resnet 3x3 512 7", ShapeOf(512, 512, 7, 3, 1, 1, 16)},
      {"resnet 1x1 256-64 56", ShapeOf(256, 64, 56, 1, 1, 1, 4)},
      {"resnet 1x1 1024-256 14", ShapeOf(1024, 256, 14, 1, 1, 1, 8)},
      {"depthwise 3x3 128 56", ShapeOf(128, 128, 56, 3, 1, 128, 4)},
      {"depthwise 3x3/2 64 112", ShapeOf(64, 64, 112, 3, 2, 64, 4)},
      {"grouped 3x3 256/4 28", ShapeOf(256, 256, 28, 3, 1, 4, 4)},
  };
}

std::vector<Layer> Layers() {
  std::vector<Layer> layers = {
      {"resnet 7x7/2 3-64 224", Conv(3, 64, 224, 7, 2)},
      {"resnet 3x3 64 56", Conv(64, 64, 56, 3)},
      {"resnet 3x3 128 28", Conv(128, 128, 28, 3)},
      {"resnet 3x3 256 14", Conv(256, 256, 14, 3)},
      {"resnet 3x3 512 7", Conv(512, 512, 7, 3)},
      {"resnet 3x3/2 256 28", Conv(256, 256, 28, 3, 2)},
      {"resnet 1x1 64-64 56", Conv(64, 64, 56, 1)},
      {"resnet 1x1 64-256 56 +", Conv(64, 256, 56, 1), true},
      {"resnet 1x1 256-64 56", Conv(256, 64, 56, 1)},
      {"resnet 1x1 512-128 28", Conv(512, 128, 28, 1)},
      {"resnet 1x1 128-512 28 +", Conv(128, 512, 28, 1), true},
      {"resnet 1x1 256-1024 14 +", Conv(256, 1024, 14, 1), true},
      {"resnet 1x1 1024-256 14", Conv(1024, 256, 14, 1)},
      {"resnet 1x1 512-2048 7 +", Conv(512, 2048, 7, 1), true},
      {"resnet 1x1 2048-512 7", Conv(2048, 512, 7, 1)},
      {"resnet 1x1/2 256-512 56", Conv(256, 512, 56, 1, 2)},
      {"resnet 1x1/2 1024-2048 14", Conv(1024, 2048, 14, 1, 2)},
      {"vgg 3x3 3-64 224", Conv(3, 64, 224, 3)},
      {"vgg 3x3 64 224", Conv(64, 64, 224, 3)},
      {"vgg 3x3 64-128 112", Conv(64, 128, 112, 3)},
      {"vgg 3x3 128 112", Conv(128, 128, 112, 3)},
      {"vgg 3x3 256 56", Conv(256, 256, 56, 3)},
      {"vgg 3x3 512 28", Conv(512, 512, 28, 3)},
      {"vgg 3x3 512 14", Conv(512, 512, 14, 3)},
      {"mobilenet 3x3/2 3-32 224", Conv(3, 32, 224, 3, 2)},
      {"mobilenet 1x1 32-64 112", Conv(32, 64, 112, 1)},
      {"mobilenet 1x1 128-128 56", Conv(128, 128, 56, 1)},
      {"mobilenet 1x1 512-512 14", Conv(512, 512, 14, 1)},
      {"mobilenet 1x1 1024-1024 7", Conv(1024, 1024, 7, 1)},
      {"depthwise 3x3 32 112", Conv(32, 32, 112, 3, 1, 32)},
      {"depthwise 3x3 128 56", Conv(128, 128, 56, 3, 1, 128)},
      {"depthwise 3x3/2 64 112", Conv(64, 64, 112, 3, 2, 64)},
      {"depthwise 3x3 512 14", Conv(512, 512, 14, 3, 1, 512)},
      {"depthwise 3x3 1024 7", Conv(1024, 1024, 7, 3, 1, 1024)},
      {"resnext 3x3 128/32 56", Conv(128, 128, 56, 3, 1, 32)},
      {"resnext 3x3 256/32 28", Conv(256, 256, 28, 3, 1, 32)},
      {"inception 3x3 96-96 35", Conv(96, 96, 35, 3)},
      {"lenet 5x5 20-50 12", Conv(20, 50, 12, 5)},
      {"fc 2048-1000 b1", Product(1, 1, 2048, 1000)},
      {"fc 4096-4096 b1", Product(1, 1, 4096, 4096)},
      {"gemm 64x1024x1024", Product(1, 64, 1024, 1024)},
      {"gemm 512x512x512", Product(1, 512, 512, 512)},
      {"gemm 1024x1024x1024", Product(1, 1024, 1024, 1024)},
      {"bert 128x768x768", Product(1, 128, 768, 768)},
      {"bert 128x768x3072", Product(1, 128, 768, 3072)},
      {"bert 128x3072x768", Product(1, 128, 3072, 768)},
      {"bert 1024x768x3072", Product(1, 1024, 768, 3072)},
      {"bert 384x768x3072", Product(1, 384, 768, 3072)},
      {"bert 384x3072x768", Product(1, 384, 3072, 768)},
      {"bert 1024x3072x768", Product(1, 1024, 3072, 768)},
      {"rows 128x768x768", Transposed(128, 768, 768, false, false)},
      {"rows 1024x768x768", Transposed(1024, 768, 768, false, false)},
      {"rows 1024x768x3072", Transposed(1024, 768, 3072, false, false)},
      {"rows 1024x768x3088", Transposed(1024, 768, 3088, false, false)},
      {"rows 1024x3072x768", Transposed(1024, 3072, 768, false, false)},
      {"rows 768x1024x3072", Transposed(768, 1024, 3072, true, false)},
      {"rows 3072x1024x768", Transposed(3072, 1024, 768, true, false)},
      {"lstm 32x200x800", Product(1, 32, 200, 800)},
      {"fc b64 784-128 data", Transposed(64, 128, 784, false, false)},
      {"fc b64 784-128 weight", Transposed(128, 64, 784, true, false)},
      {"lstm 32x200x800 data", Transposed(32, 800, 200, false, false)},
      {"lstm 32x200x800 weight", Transposed(800, 32, 200, true, false)},
      {"gemm 512x512x512 tn", Transposed(512, 512, 512, true, false)},
      {"decoder 1120x200x10000", Product(1, 1120, 200, 10000)},
      {"decoder data", Transposed(1120, 10000, 200, false, false)},
      {"decoder weight", Transposed(10000, 1120, 200, true, false)},
      {"decoder weight exchanged", Transposed(200, 1120, 10000, false, false)},
  };
  for (const Trained& trained : TrainedLayers()) {
    const std::string name = trained.name;
    layers.push_back({name + " out", Convolution(trained.shape)});
    layers.push_back({name + " data", BackwardData(trained.shape)});
    layers.push_back({name + " weight", BackwardWeight(trained.shape)});
  }
  return layers;
}

// Of this thread on a core: the machine may be shared.
double ThreadSeconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) +
         1e-9 * static_cast<double>(now.tv_nsec);
}

// Seconds of the fastest of several calls.
template <class F>
double Time(F f) {
  double best = 1e9, total = 0;
  for (int i = 0; i < 3 || (total < 0.12 && i < 400); ++i) {
    const double start = ThreadSeconds();
    f();
    const double seconds = ThreadSeconds() - start;
    best = std::min(best, seconds);
    total += seconds;
  }
  return best;
}

// Multiply-adds alone, in registers.
double PeakFlops(const Target& target) {
  constexpr int kSums = 12;
  const int lanes = target.machine.lanes(DType::kF32);
  const NativeKernel kernel(target, 1, [&](KernelFunction& k) {
    auto& b = k.b();
    llvm::FastMathFlags flags;
    flags.setAllowContract();
    b.setFastMathFlags(flags);
    llvm::Type* type = k.VectorOf(b.getFloatTy(), lanes);
    llvm::Value* x = b.CreateAlignedLoad(type, k.operand(0), llvm::Align(4));
    auto sums = k.Loop(k.begin(), k.end(), 1, KernelFunction::Carried(kSums, x),
                       [&](llvm::Value*, const KernelFunction::Carried& in) {
                         KernelFunction::Carried out;
                         for (llvm::Value* sum : in) {
                           out.push_back(b.CreateFAdd(b.CreateFMul(sum, x), x));
                         }
                         return out;
                       });
    llvm::Value* all = sums[0];
    for (int i = 1; i < kSums; ++i) all = b.CreateFAdd(all, sums[i]);
    b.CreateAlignedStore(all, k.operand(0), llvm::Align(4));
  });
  std::vector<float> values(64, 0.5f);
  constexpr int64_t kRounds = 1'000'000;
  const double seconds = Time([&] { kernel.Run({values.data()}, 0, kRounds); });
  return 2.0 * kSums * lanes * kRounds / seconds;
}

// Copies of the weights, weight_bytes in all, are used in turn: more than the
// caches hold show the rate inside a network.
void Measure(const Layer& layer, const KernelCandidate& candidate, bool sums,
             const Target& target, double peak, int64_t weight_bytes) {
  const Expr sum = Acc(layer.contraction.types.sum);
  Expr value = sum + Bias(layer.contraction);
  if (layer.residual) value = value + Residual(layer.contraction);
  // Halo for a following 3x3 convolution, but none among pointwise ones.
  const bool pointwise = layer.contraction.kernel.empty() ||
                         layer.contraction.kernel[0] == 1 || sums;
  const ContractionCase c = {layer.contraction, sums ? sum : Relu(value), 0,
                             pointwise ? 0 : 1};
  const Program program = Build(c, candidate);
  const Step& step = program.steps[0];
  const FunctionPlan plan = PlanContraction(program, step, target);
  const double start = ThreadSeconds();
  const NativeKernel kernel(target, 5, plan.emit);
  const double compile = 1e3 * (ThreadSeconds() - start);
  const auto allocate = [](int64_t size) {
    constexpr int64_t kHugePage = 2 << 20;
    const size_t bytes = (size + kHugePage) / kHugePage * kHugePage;
    void* memory = std::aligned_alloc(kHugePage, bytes);
    madvise(memory, bytes, MADV_HUGEPAGE);
    std::memset(memory, 0, bytes);
    return memory;
  };
  std::vector<void*> operands, weights;
  for (const Buffer& buffer : program.buffers) {
    operands.push_back(allocate(buffer.bytes()));
  }
  const int64_t bytes = program.buffers[1].bytes();
  for (int64_t used = bytes; used < weight_bytes; used += bytes) {
    weights.push_back(allocate(bytes));
  }
  weights.push_back(operands[1]);
  void* scratch =
      allocate(std::max<int64_t>(plan.scratch_bytes, MXC_SCRATCH_NOTE));
  size_t turn = 0;
  const double seconds = Time([&] {
    operands[1] = weights[turn++ % weights.size()];
    std::memset(scratch, 0, MXC_SCRATCH_NOTE);
    kernel.Run(operands, 0, plan.tasks, scratch);
  });
  const double flops = layer.contraction.flops() / seconds;
  const auto tile = contraction::TileOf(candidate.choice).tile;
  fmt::print(
      "{:28} {:9} {:2}x{} tasks {:3} {:8.3f} ms {:7.1f} GF/s {:5.1f} %"
      "   compile {:5.1f} ms, {:5} B\n",
      layer.name, candidate.choice.algorithm, tile.pixels, tile.vectors,
      plan.tasks, seconds * 1e3, flops * 1e-9, 100 * flops / peak, compile,
      kernel.object_bytes());
  operands.erase(operands.begin() + 1);
  for (void* memory : operands) std::free(memory);
  for (void* memory : weights) std::free(memory);
  std::free(scratch);
}

void Measure(Layer layer, const Target& target, double peak,
             int64_t weight_bytes, const char* algorithm) {
  const auto catalog =
      MakeKernelCatalog(target, {.constant_weights = algorithm != nullptr});
  auto candidates = catalog->Candidates(layer.contraction);
  if (candidates.empty()) {
    fmt::print("{:28} no kernel\n", layer.name);
    return;
  }
  const int64_t parts = candidates[0].parts;
  if (parts > 1) {
    layer.contraction = InParts(layer.contraction, parts);
  } else if (parts == 1) {
    layer.contraction.types.output = layer.contraction.types.sum;
  }
  if (parts > 0) candidates = catalog->Candidates(layer.contraction);
  if (algorithm == nullptr) candidates.resize(1);
  for (const KernelCandidate& candidate : candidates) {
    if (algorithm && !candidate.choice.algorithm.starts_with(algorithm)) {
      continue;
    }
    Measure(layer, candidate, parts > 0, target, peak, weight_bytes);
  }
}

}  // namespace
}  // namespace mxc::test

int main(int argc, char** argv) {
  const auto target = mxc::ResolveTarget(argc > 1 ? argv[1] : "native");
  if (!target.ok() || !mxc::test::CanRun(*target)) {
    fmt::print("this machine cannot run code for that target\n");
    return 1;
  }
  const double peak = mxc::test::PeakFlops(*target);
  const int64_t cold = argc > 3 ? std::atoll(argv[3]) << 20 : 0;
  const auto dtype = mxc::DTypeFromShortName(argc > 5 ? argv[5] : "f32");
  fmt::print("{}: {:.1f} GF/s peak\n", target->name, peak * 1e-9);
  for (auto layer : mxc::test::Layers()) {
    mxc::Contraction& c = layer.contraction;
    if (dtype) c = mxc::test::Typed(c, *dtype);
    if (argc > 6) c.types.data = c.types.sum;
    if (argc > 2 && !std::strstr(layer.name.c_str(), argv[2])) continue;
    mxc::test::Measure(layer, *target, peak, cold,
                       argc > 4 && *argv[4] ? argv[4] : nullptr);
  }
}
