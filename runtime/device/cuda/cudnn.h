// SPDX-License-Identifier: Apache-2.0
// NVIDIA's library for convolutions, where the machine has it: version 9, whose
// graphs of operations are descriptors. What of its API is used is declared here,
// as the driver's is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>

#include "runtime/device/cuda/driver.h"

namespace mxc::runtime {

using CudnnStatus = int;
using CudnnHandle = struct cudnnContext*;
using CudnnDescriptor = void*;

// Values of cudnn_graph_v9.h. Kinds of descriptors.
inline constexpr int kDnnPointwise = 0, kDnnConvolution = 1, kDnnEngine = 2,
                     kDnnEngineChoice = 3, kDnnHeuristics = 4, kDnnPlan = 5,
                     kDnnForward = 10, kDnnOfWeight = 11, kDnnOfData = 12,
                     kDnnPointwiseOperation = 13, kDnnGraph = 15,
                     kDnnOperands = 16, kDnnTensor = 17;
// Types of attributes.
inline constexpr int kDnnHandleType = 0, kDnnDataType = 1, kDnnBool = 2,
                     kDnnInt64 = 3, kDnnFloat = 4, kDnnPointer = 6,
                     kDnnConvolutionMode = 7, kDnnHeuristicMode = 8,
                     kDnnNoteType = 11, kDnnPointwiseMode = 14,
                     kDnnDescriptor = 15;
// Attributes, by the kinds that have them.
inline constexpr int kPointwiseMode = 0, kPointwiseNumbers = 1;
inline constexpr int kConvolutionNumbers = 100, kConvolutionMode = 101,
                     kConvolutionDilations = 102, kConvolutionStrides = 103,
                     kConvolutionAfter = 104, kConvolutionBefore = 105,
                     kConvolutionAxes = 106;
inline constexpr int kHeuristicsMode = 200, kHeuristicsGraph = 201,
                     kHeuristicsResults = 202;
inline constexpr int kEngineOfChoice = 300, kNotesOfEngine = 1303;
inline constexpr int kPlanHandle = 400, kPlanChoice = 401, kPlanWorkspace = 402;
// Of each operation: both factors of the sum, its convolution, and the tensors
// as they lie in x, w, y.
struct DnnOperation {
  int kind, alpha, beta, convolution, x, w, y;
};
inline constexpr DnnOperation kDnnOperations[] = {
    {kDnnForward, 700, 701, 702, 704, 703, 705},
    {kDnnOfData, 706, 707, 708, 710, 709, 711},
    {kDnnOfWeight, 712, 713, 714, 716, 715, 717}};
inline constexpr int kAddOperation = 750, kAddX = 751, kAddB = 752, kAddY = 753;
inline constexpr int kGraphHandle = 800, kGraphOperations = 801;
inline constexpr int kTensorAlignment = 900, kTensorType = 901,
                     kTensorExtents = 902, kTensorStrides = 903,
                     kTensorNumber = 906, kTensorIsVirtual = 907;
inline constexpr int kOperandNumbers = 1000, kOperandPointers = 1001,
                     kOperandWorkspace = 1003;
// Values of attributes.
inline constexpr int kDnnF32 = 0, kDnnF16 = 2, kDnnBf16 = 9;
inline constexpr int kCrossCorrelation = 1, kPointwiseAdd = 0;
inline constexpr int kHeuristicFallback = 2, kHeuristicA = 3;
inline constexpr int kNoteTensorCore = 0, kNoteDownConverts = 1,
                     kNoteRoundsSums = 2, kNoteFft = 3, kNoteAnyOrder = 4,
                     kNoteWinograd = 5, kNoteLastWinograd = 8;
inline constexpr int kMostNotes = 16;

class Cudnn {
 public:
  // On the device of the context that this thread has. kUnsupported, with the
  // cause, where the machine has no such library. It stays loaded.
  static StatusOr<std::unique_ptr<const Cudnn>> Open();

  CudnnHandle handle() const { return handle_; }
  std::string Text(CudnnStatus status) const;
  // Puts a plan into the stream. Any thread may.
  CudnnStatus Execute(CudnnDescriptor plan, CudnnDescriptor operands,
                      CudaStreamHandle stream) const;

#define MXC_CUDNN_FUNCTION(member, symbol, parameters) \
  CudnnStatus(*member) parameters = nullptr;
#include "runtime/device/cuda/cudnn.def"

 private:
  const char* (*text_)(CudnnStatus status) = nullptr;
  CudnnHandle handle_ = nullptr;
  mutable std::mutex mutex_;  // of the handle's stream
};

// A descriptor that goes with this; what was set after a failure is not.
class DnnDescriptor {
 public:
  DnnDescriptor(const Cudnn& library, int kind);
  ~DnnDescriptor();
  DnnDescriptor(const DnnDescriptor&) = delete;

  template <class T>
  DnnDescriptor& Set(int attribute, int type, std::span<const T> values) {
    return SetBytes(attribute, type, static_cast<int64_t>(values.size()),
                    values.data());
  }
  template <class T>
  DnnDescriptor& Set(int attribute, int type, const T& value) {
    return SetBytes(attribute, type, 1, &value);
  }
  DnnDescriptor& Set(int attribute, const DnnDescriptor& other);
  // No attribute is set after this. False: something was wrong, which status
  // tells.
  bool Finalize();
  CudnnStatus status() const { return status_; }

  // So many of the values as there are; 0 where it cannot be asked.
  int64_t Get(int attribute, int type, int64_t most, void* values) const;
  CudnnDescriptor get() const { return descriptor_; }

 private:
  DnnDescriptor& SetBytes(int attribute, int type, int64_t count,
                          const void* values);

  const Cudnn& library_;
  CudnnDescriptor descriptor_ = nullptr;
  CudnnStatus status_ = 0;
};

}  // namespace mxc::runtime
