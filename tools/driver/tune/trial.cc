// SPDX-License-Identifier: Apache-2.0
#include "tools/driver/tune/trial.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "ir/program/add_buffer.h"
#include "ir/program/contraction_text.h"
#include "ir/program/copy_step.h"
#include "ir/program/int4_blocks.h"
#include "ir/program/steps/contraction.h"
#include "ir/program/steps/map.h"
#include "passes/passes.h"

namespace mxc {
namespace {

constexpr std::string_view kName = "trial";
// Rows of what is read to fill the caches: tasks for any number of threads.
constexpr int64_t kEvictionRows = 1024;

int64_t ExtentOf(Role role, const Contraction& c, const Extents& spatial) {
  switch (role) {
    case Role::kBatch:
      return c.batch;
    case Role::kGroup:
      return c.groups;
    case Role::kIn:
      return c.in;
    case Role::kOut:
      return c.out;
    case Role::kGroupIn:
      return c.groups * c.in;
    case Role::kGroupOut:
      return c.groups * c.out;
    case Role::kGroupBatch:
      return c.groups * c.batch;
    case Role::kSpatial0:
    case Role::kSpatial1:
    case Role::kSpatial2:
      break;
  }
  return spatial[static_cast<size_t>(role) -
                 static_cast<size_t>(Role::kSpatial0)];
}

// A role that several axes play (the rows of a product) is the first one's.
Shape ShapeOf(const std::vector<Role>& axes, const Contraction& c,
              const Extents& spatial) {
  Extents dims;
  for (size_t i = 0; i < axes.size(); ++i) {
    const bool again =
        std::find(axes.begin(), axes.begin() + static_cast<ptrdiff_t>(i),
                  axes[i]) != axes.begin() + static_cast<ptrdiff_t>(i);
    dims.push_back(again ? 1 : ExtentOf(axes[i], c, spatial));
  }
  return dims;
}

// Small numbers of both signs: their sums are neither large nor subnormal.
Tensor Numbers(const TensorType& type) {
  constexpr int64_t kPeriod = 251;
  std::byte* bytes = nullptr;
  Tensor tensor = Tensor::Allocate(type, &bytes);
  const int64_t size = SizeOf(type.dtype);
  for (int64_t i = 0; i < type.shape.elements(); ++i) {
    const auto number = static_cast<double>(i % kPeriod - kPeriod / 2);
    StoreElement(bytes + i * size, type.dtype, number / kPeriod);
  }
  return tensor;
}

class Builder {
 public:
  int Add(std::string name, const Shape& shape, BufferKind kind,
          DType dtype = DType::kF32) {
    const int buffer =
        AddBuffer(program_, std::move(name), {dtype, shape}, kind);
    if (kind == BufferKind::kConstant) {
      program_.buffers[buffer].constant =
          Numbers(program_.buffers[buffer].type);
    }
    return buffer;
  }

  void AddMap(std::string name, int from, int to, Expr value) {
    const Extents& dims = program_.buffers[to].type.shape.dims();
    Step step;
    step.name = std::move(name);
    step.inputs = {from};
    step.outputs = {to};
    step.body = Map{{{0, Extents(dims.size(), 0), dims, std::move(value)}}};
    program_.steps.push_back(std::move(step));
  }

  // Each row's largest value.
  void AddEviction(int64_t bytes) {
    const int64_t columns = std::max<int64_t>(1, bytes / 4 / kEvictionRows);
    const int memory =
        Add("eviction", {kEvictionRows, columns}, BufferKind::kInput);
    const int rest = Add("evicted", {kEvictionRows}, BufferKind::kOutput);
    const int column = FreshReductionVar();
    AddMap("evict", memory, rest,
           Reduce(ReduceOp::kMax, {{column, Expr(0), Expr(columns)}},
                  Load(0, DType::kF32, {Var(0), Var(column)})));
  }

  // An input that a step copies, as if it had computed it.
  int AddActivation(const std::string& name, const Shape& shape, DType dtype) {
    const int input = Add(name, shape, BufferKind::kInput, dtype);
    const int copy =
        Add(name + "/written", shape, BufferKind::kInternal, dtype);
    program_.steps.push_back(
        CopyStep(program_, input, copy, name, {}, SourceLoc()));
    return copy;
  }

  // What a 1x1 convolution of a few channels writes: threads then hold the
  // parts of it that they hold in a network.
  int AddConvolved(const Contraction& writer) {
    const int input =
        Add("data", ShapeOf(writer.data_axes, writer, writer.input),
            BufferKind::kInput);
    const int weight =
        Add("writer", ShapeOf(writer.weight_axes, writer, writer.kernel),
            BufferKind::kConstant);
    return AddContraction("data", writer, input, weight,
                          Rectified(writer.types.sum));
  }

  static Expr Rectified(DType sum) { return Max(Acc(sum), Constant(0, sum)); }

  int AddContraction(std::string_view name, const Contraction& c, int data,
                     int weight, Expr epilogue) {
    const int result = Add("result", ShapeOf(c.output_axes, c, c.output),
                           BufferKind::kInternal, c.types.output);
    Step step;
    step.name = name;
    step.inputs = {data, weight};
    step.outputs = {result};
    step.body = ContractionStep{c, std::move(epilogue), {}};
    program_.steps.push_back(std::move(step));
    return result;
  }

  // One element, so that somebody reads the result.
  void AddReader(int result) {
    const int output = Add("output", {1}, BufferKind::kOutput);
    const auto rank =
        static_cast<size_t>(program_.buffers[result].type.shape.rank());
    AddMap("read", result, output,
           Cast(Load(0, program_.buffers[result].type.dtype,
                     std::vector<Expr>(rank, Expr(0))),
                DType::kF32));
  }

  Program Build() && { return std::move(program_); }

 private:
  Program program_;
};

// The convolution that writes the data of another; nothing where they are no
// activation of a convolution, or few channels, as an image has.
std::optional<Contraction> WriterOf(const Contraction& c) {
  constexpr int64_t kChannels = 16;
  using Axes = std::vector<Role>;
  const bool plain = c.types == ContractionTypes() && c.kernel.size() == 2 &&
                     c.groups * c.in >= kChannels && c.data_axes.size() == 4 &&
                     c.data_axes[0] == Role::kBatch &&
                     c.data_axes[2] == Role::kSpatial0 &&
                     c.data_axes[3] == Role::kSpatial1;
  if (!plain) return std::nullopt;
  Contraction writer;
  writer.batch = c.batch;
  writer.in = kChannels;
  writer.out = c.groups * c.in;
  writer.input = writer.output = c.input;
  writer.kernel = writer.stride = writer.dilate = writer.data_dilate = {1, 1};
  writer.pad = {0, 0};
  writer.data_axes =
      Axes{Role::kBatch, Role::kGroupIn, Role::kSpatial0, Role::kSpatial1};
  writer.weight_axes =
      Axes{Role::kGroupOut, Role::kIn, Role::kSpatial0, Role::kSpatial1};
  writer.output_axes =
      Axes{Role::kBatch, Role::kGroupOut, Role::kSpatial0, Role::kSpatial1};
  return writer;
}

// The catalog as if it knew one kernel alone for the contraction, whole or in
// parts.
class OneKernel : public KernelCatalog {
 public:
  OneKernel(const Contraction& contraction, const KernelCandidate& kernel,
            const KernelCatalog& catalog)
      : KernelCatalog(catalog.machine()),
        contraction_(ToString(contraction)),
        parts_(TextOf(SumsOf(contraction, kernel))),
        writer_(TextOf(WriterOf(contraction))),
        kernel_(kernel),
        catalog_(catalog) {}

  std::vector<KernelCandidate> Candidates(const Contraction& c) const override {
    const std::string text = ToString(c);
    if (text == contraction_) return {kernel_};
    if (text == writer_) return catalog_.Candidates(c);
    if (text != parts_) return {};
    auto candidates = catalog_.Candidates(c);
    std::erase_if(candidates, [&](const KernelCandidate& candidate) {
      return candidate.choice != kernel_.choice;
    });
    return candidates;
  }

 private:
  // What the kernel computes where a second step finishes it.
  static std::optional<Contraction> SumsOf(const Contraction& c,
                                           const KernelCandidate& kernel) {
    if (kernel.parts == 0) return std::nullopt;
    Contraction sums = kernel.parts > 1 ? InParts(c, kernel.parts) : c;
    sums.types.output = sums.types.sum;
    return sums;
  }

  static std::string TextOf(const std::optional<Contraction>& c) {
    return c ? ToString(*c) : "";
  }

  const std::string contraction_, parts_, writer_;
  const KernelCandidate& kernel_;
  const KernelCatalog& catalog_;
};

Expr EpilogueOf(const Contraction& c, const Trials& trials) {
  const DType sum = c.types.sum;
  return Cast(trials.of_sums ? Acc(sum) : Builder::Rectified(sum),
              c.types.output);
}

Program Build(const Contraction& c, bool constant_weight, const Trials& trials,
              int64_t eviction_bytes) {
  Builder builder;
  builder.AddEviction(eviction_bytes);
  const Shape shape = c.int4_group > 0 ? Shape({c.out, WeightRows(c)})
                                       : ShapeOf(c.weight_axes, c, c.kernel);
  const int weight =
      constant_weight
          ? builder.Add("weight", shape, BufferKind::kConstant, c.types.weight)
          : builder.AddActivation("weight", shape, c.types.weight);
  const auto writer = WriterOf(c);
  const int data =
      writer ? builder.AddConvolved(*writer)
             : builder.AddActivation("data", ShapeOf(c.data_axes, c, c.input),
                                     c.types.data);
  builder.AddReader(
      builder.AddContraction(kName, c, data, weight, EpilogueOf(c, trials)));
  return std::move(builder).Build();
}

}  // namespace

Result<Program> MakeTrial(const Contraction& contraction,
                          const KernelCandidate& kernel, bool constant_weight,
                          const KernelCatalog& catalog, const Target& target,
                          int64_t eviction_bytes) {
  Program program =
      Build(contraction, constant_weight, catalog.trials(), eviction_bytes);
  const OneKernel one(contraction, kernel, catalog);
  PassContext context;
  context.target = &target;
  context.catalog = &one;
  for (const char* pass :
       {"select-kernels", "choose-layouts", "assign-layouts", "plan-memory"}) {
    MXC_ASSIGN([[maybe_unused]] const bool changed,
               RunProgramPass(pass, program, context));
  }
  const auto broken = Verify(program);
  MXC_CHECK(!broken, "{}", *broken);
  return program;
}

bool IsTried(const Step& step) {
  return step.name == kName || step.name == std::string(kName) + "/parts";
}

}  // namespace mxc
