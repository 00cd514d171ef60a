// SPDX-License-Identifier: Apache-2.0
#include "runtime/device/cuda/library_convolution.h"

#include <algorithm>
#include <array>
#include <deque>
#include <optional>
#include <vector>

#include "runtime/base/element.h"

namespace mxc::runtime {
namespace {

using Tensor = Convolution::Tensor;

// What tensors are called by: operands 0 and 1, the output, a bias; sums that
// stay in the library.
constexpr std::array<int64_t, 4> kNumbers = {1, 2, 3, 4};
constexpr int64_t kBiasNumber = kNumbers[3], kSumsNumber = 5;

std::optional<int> TypeOf(int64_t dtype) {
  switch (static_cast<ElementType>(dtype)) {
    case ElementType::kF32:
      return kDnnF32;
    case ElementType::kF16:
      return kDnnF16;
    case ElementType::kBF16:
      return kDnnBf16;
    default:
      return std::nullopt;
  }
}

class CudnnStep final : public CudaLibraryStep {
 public:
  CudnnStep(const Cudnn& library, const Convolution& convolution,
            uint64_t workspace_bytes)
      : library_(library), c_(convolution), workspace_bytes_(workspace_bytes) {}

  // The first engine that is allowed, of those that the library thinks fast or,
  // failing that, of all.
  bool Open() {
    if (!Describe()) return false;
    for (const int mode : {kHeuristicA, kHeuristicFallback}) {
      if (Choose(mode)) return true;
    }
    return false;
  }

  Status Run(std::span<void* const> operands, CudaAddress workspace,
             CudaStreamHandle stream) override {
    std::vector<void*> pointers = {operands[0], operands[1], operands.back()};
    if (c_.bias > 0) {
      pointers.push_back(operands[static_cast<size_t>(c_.bias)]);
    }
    auto* const memory = reinterpret_cast<void*>(workspace);
    DnnDescriptor given(library_, kDnnOperands);
    given
        .Set(kOperandNumbers, kDnnInt64,
             std::span(kNumbers).first(pointers.size()))
        .Set(kOperandPointers, kDnnPointer, std::span<void* const>(pointers))
        .Set(kOperandWorkspace, kDnnPointer, memory);
    (void)given.Finalize();
    CudnnStatus status = given.status();
    if (status == 0) {
      status = library_.Execute(plan_->get(), given.get(), stream);
    }
    if (status == 0) return {};
    return Fail(StatusCode::kFailed, "cannot convolve: %s",
                library_.Text(status).c_str());
  }

 private:
  DnnDescriptor& Add(int kind) { return parts_.emplace_back(library_, kind); }

  // Aligned as all operands are, to 16 bytes.
  DnnDescriptor* AddTensor(int64_t number, int type,
                           std::span<const int64_t> extents,
                           std::span<const int64_t> strides,
                           bool is_virtual = false) {
    constexpr int64_t kAlignment = 16;
    DnnDescriptor& tensor = Add(kDnnTensor);
    tensor.Set(kTensorType, kDnnDataType, type)
        .Set(kTensorExtents, kDnnInt64, extents)
        .Set(kTensorStrides, kDnnInt64, strides)
        .Set(kTensorNumber, kDnnInt64, number)
        .Set(kTensorAlignment, kDnnInt64, kAlignment)
        .Set(kTensorIsVirtual, kDnnBool, is_virtual);
    return tensor.Finalize() ? &tensor : nullptr;
  }

  DnnDescriptor* AddWindow() {
    const auto axes = static_cast<size_t>(c_.axes);
    std::vector<int64_t> before, after, strides, dilations;
    for (const Convolution::Axis& axis : std::span(c_.along).first(axes)) {
      before.push_back(axis.before);
      after.push_back(axis.after);
      strides.push_back(axis.stride);
      dilations.push_back(axis.dilate);
    }
    const auto span = [](const std::vector<int64_t>& values) {
      return std::span<const int64_t>(values);
    };
    DnnDescriptor& window = Add(kDnnConvolution);
    window.Set(kConvolutionAxes, kDnnInt64, c_.axes)
        .Set(kConvolutionNumbers, kDnnDataType, kDnnF32)
        .Set(kConvolutionMode, kDnnConvolutionMode, kCrossCorrelation)
        .Set(kConvolutionBefore, kDnnInt64, span(before))
        .Set(kConvolutionAfter, kDnnInt64, span(after))
        .Set(kConvolutionDilations, kDnnInt64, span(dilations))
        .Set(kConvolutionStrides, kDnnInt64, span(strides));
    return window.Finalize() ? &window : nullptr;
  }

  // Sums that a bias is added to stay in the library.
  bool Describe() {
    const auto operands = c_.Operands();
    std::array<DnnDescriptor*, 3> found = {};
    for (size_t i = 0; i < operands.size(); ++i) {
      const Tensor& tensor = *operands[i];
      const auto type = TypeOf(tensor.dtype);
      if (!type) return false;
      found[i] = AddTensor(kNumbers[i], *type, c_.ExtentsOf(tensor),
                           c_.StridesOf(tensor));
      if (found[i] == nullptr) return false;
    }
    DnnDescriptor* const out = found[2];
    std::vector<CudnnDescriptor> operations;
    if (c_.bias > 0) {
      found[2] = AddTensor(kSumsNumber, kDnnF32, c_.ExtentsOf(c_.y),
                           c_.StridesOf(c_.y), /*is_virtual=*/true);
    }
    const auto of = [&](const Tensor& tensor) {
      return found[static_cast<size_t>(std::ranges::find(operands, &tensor) -
                                       operands.begin())];
    };
    DnnDescriptor* const window = AddWindow();
    if (window == nullptr || found[2] == nullptr) return false;
    const DnnOperation& known = kDnnOperations[c_.kind];
    const float one = 1, zero = 0;
    DnnDescriptor& operation = Add(known.kind);
    operation.Set(known.convolution, *window)
        .Set(known.x, *of(c_.x))
        .Set(known.w, *of(c_.w))
        .Set(known.y, *of(c_.y))
        .Set(known.alpha, kDnnFloat, one)
        .Set(known.beta, kDnnFloat, zero);
    if (!operation.Finalize()) return false;
    operations.push_back(operation.get());
    if (c_.bias > 0) {
      DnnDescriptor* const add = AddBias(*found[2], *out);
      if (add == nullptr) return false;
      operations.push_back(add->get());
    }
    graph_.emplace(library_, kDnnGraph);
    return graph_
        ->Set(kGraphOperations, kDnnDescriptor,
              std::span<const CudnnDescriptor>(operations))
        .Set(kGraphHandle, kDnnHandleType, library_.handle())
        .Finalize();
  }

  DnnDescriptor* AddBias(const DnnDescriptor& sums, const DnnDescriptor& out) {
    std::vector<int64_t> extents(static_cast<size_t>(2 + c_.axes), 1);
    extents[1] = c_.out;
    std::vector<int64_t> strides(extents.size(), 1);
    strides[0] = c_.out;
    DnnDescriptor* const bias =
        AddTensor(kBiasNumber, kDnnF32, extents, strides);
    if (bias == nullptr) return nullptr;
    DnnDescriptor& add = Add(kDnnPointwise);
    add.Set(kPointwiseMode, kDnnPointwiseMode, kPointwiseAdd)
        .Set(kPointwiseNumbers, kDnnDataType, kDnnF32);
    if (!add.Finalize()) return nullptr;
    DnnDescriptor& operation = Add(kDnnPointwiseOperation);
    operation.Set(kAddOperation, add)
        .Set(kAddX, sums)
        .Set(kAddB, *bias)
        .Set(kAddY, out);
    return operation.Finalize() ? &operation : nullptr;
  }

  bool Choose(int mode) {
    constexpr int64_t kMostEngines = 64;
    DnnDescriptor heuristics(library_, kDnnHeuristics);
    heuristics.Set(kHeuristicsGraph, *graph_)
        .Set(kHeuristicsMode, kDnnHeuristicMode, mode);
    if (!heuristics.Finalize()) return false;
    std::deque<DnnDescriptor> choices;
    std::vector<CudnnDescriptor> rows;
    for (int64_t i = 0; i < kMostEngines; ++i) {
      rows.push_back(choices.emplace_back(library_, kDnnEngineChoice).get());
      if (rows.back() == nullptr) return false;
    }
    const int64_t count = heuristics.Get(kHeuristicsResults, kDnnDescriptor,
                                         kMostEngines, rows.data());
    for (int64_t i = 0; i < count; ++i) {
      if (IsAllowed(choices[static_cast<size_t>(i)]) &&
          Plan(choices[static_cast<size_t>(i)])) {
        return true;
      }
    }
    return false;
  }

  bool IsAllowed(const DnnDescriptor& choice) const {
    DnnDescriptor engine(library_, kDnnEngine);
    CudnnDescriptor handle = engine.get();
    if (handle == nullptr ||
        choice.Get(kEngineOfChoice, kDnnDescriptor, 1, &handle) != 1) {
      return false;
    }
    std::array<int, kMostNotes> notes = {};
    int64_t count = 0;
    if (library_.get(handle, kNotesOfEngine, kDnnNoteType, kMostNotes, &count,
                     notes.data()) != 0) {
      return false;
    }
    return std::ranges::all_of(std::span(notes).first(static_cast<size_t>(
                                   std::clamp<int64_t>(count, 0, kMostNotes))),
                               [this](int note) { return IsAllowed(note); });
  }

  // On tensor cores f32 is tf32.
  bool IsAllowed(int note) const {
    const auto operands = c_.Operands();
    const auto is_f32 = [&](size_t i) {
      return static_cast<ElementType>(operands[i]->dtype) == ElementType::kF32;
    };
    const bool of_f32 = is_f32(0) || is_f32(1);
    if (note == kNoteTensorCore) return !of_f32 || c_.tf32 == 1;
    return note > kNoteLastWinograd;
  }

  bool Plan(const DnnDescriptor& choice) {
    plan_.emplace(library_, kDnnPlan);
    plan_->Set(kPlanChoice, choice)
        .Set(kPlanHandle, kDnnHandleType, library_.handle());
    int64_t needed = 0;
    return plan_->Finalize() &&
           plan_->Get(kPlanWorkspace, kDnnInt64, 1, &needed) == 1 &&
           needed >= 0 && static_cast<uint64_t>(needed) <= workspace_bytes_;
  }

  const Cudnn& library_;
  const Convolution c_;
  const uint64_t workspace_bytes_;
  std::deque<DnnDescriptor> parts_;  // that the graph is made of
  std::optional<DnnDescriptor> graph_, plan_;
};

}  // namespace

std::unique_ptr<CudaLibraryStep> PlanLibraryConvolution(
    const Cudnn& library, const Convolution& convolution,
    uint64_t workspace_bytes) {
  auto step =
      std::make_unique<CudnnStep>(library, convolution, workspace_bytes);
  if (!step->Open()) return nullptr;
  return step;
}

}  // namespace mxc::runtime
