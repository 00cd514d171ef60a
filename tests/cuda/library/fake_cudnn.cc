// SPDX-License-Identifier: Apache-2.0
// libcudnn.so.9 for machines without a GPU: as much of it as the runtime calls,
// behind the driver beside it (tests/cuda/driver). It believes nothing: what it is
// given is checked, and of its engines, as heuristics may list them, some are not
// what a caller who wants f32 may take:
//   1 has tensor cores           2 adds as it comes: another sum each time
//   3 wants memory to work in    4 is Winograd's      5 is right
// The fallback alone knows engine 5.
// MXC_FAKE_CUDNN_FAIL=N: the N-th call fails. MXC_FAKE_CUDNN_BROKEN=1: nothing
// can be put into a stream. MXC_FAKE_CUDNN_MOST=N: it has but the first N engines.
// MXC_FAKE_CUDNN_LOG=FILE: a line of each convolution that is put into a stream.
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "runtime/base/element.h"
#include "runtime/device/cuda/cudnn.h"
#include "tests/cuda/library/fake_library.h"

namespace mxc::runtime {
namespace {

constexpr CudnnStatus kBadParameter = 2000, kNotSupported = 3000,
                      kNoSuccess = 5000;
constexpr int64_t kWantedMemory = 1 << 30;
enum Engine : int64_t {
  kTensorCores = 1,
  kAnyOrder,
  kHungry,
  kWinograd,
  kRight
};

bool Fails() {
  static NthCall calls("MXC_FAKE_CUDNN_FAIL");
  return calls.IsIt();
}

struct Attribute {
  int type = 0;
  int64_t count = 0;
  std::vector<std::byte> bytes;
};

struct Descriptor {
  int kind = 0;
  bool finalized = false;
  std::map<int, Attribute> attributes;
  int64_t engine = 0;  // of an engine, a choice and a plan

  bool Has(int attribute) const { return attributes.contains(attribute); }
  template <class T>
  std::vector<T> All(int attribute) const {
    const Attribute& found = attributes.at(attribute);
    std::vector<T> values(static_cast<size_t>(found.count));
    std::memcpy(values.data(), found.bytes.data(), found.bytes.size());
    return values;
  }
  template <class T>
  T One(int attribute) const {
    T value = {};
    std::memcpy(&value, attributes.at(attribute).bytes.data(), sizeof value);
    return value;
  }
  const Descriptor& Of(int attribute) const {
    return **All<const Descriptor*>(attribute).data();
  }
};

Descriptor& From(CudnnDescriptor descriptor) {
  return *static_cast<Descriptor*>(descriptor);
}

size_t BytesOf(int type) {
  switch (type) {
    case kDnnBool:
      return 1;
    case kDnnHandleType:
    case kDnnInt64:
    case kDnnPointer:
    case kDnnDescriptor:
      return 8;
    default:
      return 4;
  }
}

// A tensor as it was described.
struct Lying {
  int type = 0;
  int64_t number = 0;
  std::vector<int64_t> extents, strides;
  bool is_virtual = false;

  explicit Lying(const Descriptor& tensor)
      : type(tensor.One<int>(kTensorType)),
        number(tensor.One<int64_t>(kTensorNumber)),
        extents(tensor.All<int64_t>(kTensorExtents)),
        strides(tensor.All<int64_t>(kTensorStrides)),
        is_virtual(tensor.One<bool>(kTensorIsVirtual)) {}

  int64_t At(std::span<const int64_t> index) const {
    int64_t at = 0;
    for (size_t i = 0; i < strides.size(); ++i) at += index[i] * strides[i];
    return at;
  }
};

uint32_t Bits16(const void* memory, int64_t at) {
  uint16_t bits = 0;
  std::memcpy(&bits, static_cast<const char*>(memory) + 2 * at, 2);
  return bits;
}

double Load(const void* memory, int type, int64_t at) {
  if (type == kDnnF32) return static_cast<const float*>(memory)[at];
  if (type == kDnnBf16) return std::bit_cast<float>(Bits16(memory, at) << 16);
  return static_cast<double>(
      std::bit_cast<_Float16>(static_cast<uint16_t>(Bits16(memory, at))));
}

void Store(void* memory, int type, int64_t at, double value) {
  const auto rounded = static_cast<float>(value);
  if (type == kDnnF32) {
    static_cast<float*>(memory)[at] = rounded;
    return;
  }
  uint16_t bits = std::bit_cast<uint16_t>(static_cast<_Float16>(rounded));
  if (type == kDnnBf16) {  // to the nearest, ties to even
    const auto whole = std::bit_cast<uint32_t>(rounded);
    bits = static_cast<uint16_t>((whole + 0x7fff + (whole >> 16 & 1)) >> 16);
  }
  std::memcpy(static_cast<char*>(memory) + 2 * at, &bits, 2);
}

const DnnOperation* OperationOf(int kind) {
  for (const DnnOperation& known : kDnnOperations) {
    if (known.kind == kind) return &known;
  }
  return nullptr;
}

// A convolution with the memory of its tensors, in double.
struct Convolving {
  int kind;
  Lying x, w, y;
  std::vector<int64_t> before, strides, dilations;
  std::map<int64_t, void*> memory;  // by the tensors' numbers
  int64_t bias = 0, out = 0;        // numbers; bias 0: there is none
  int out_type = 0;
  int64_t engine = 0;

  // Calls f(x, w, y) with where the elements of each product lie.
  template <class F>
  void EachProduct(const F& f) const {
    const int64_t groups = x.extents[1] / w.extents[1];
    const int64_t outs = w.extents[0] / groups;
    std::vector<int64_t> in(x.extents), window(w.extents);
    Each(y.extents, [&](const std::vector<int64_t>& to) {
      std::vector<int64_t> taps(w.extents.begin() + 1, w.extents.end());
      Each(taps, [&](const std::vector<int64_t>& tap) {
        window[0] = to[1];
        in[0] = to[0];
        in[1] = to[1] / outs * w.extents[1] + tap[0];
        bool inside = true;
        for (size_t i = 0; i < before.size(); ++i) {
          in[2 + i] =
              to[2 + i] * strides[i] + tap[1 + i] * dilations[i] - before[i];
          inside &= in[2 + i] >= 0 && in[2 + i] < x.extents[2 + i];
        }
        std::ranges::copy(tap, window.begin() + 1);
        if (inside) f(x.At(in), w.At(window), y.At(to), to[1]);
      });
    });
  }

  template <class F>
  static void Each(const std::vector<int64_t>& extents, const F& f) {
    std::vector<int64_t> index(extents.size());
    while (true) {
      f(index);
      size_t i = extents.size();
      while (i > 0 && ++index[i - 1] == extents[i - 1]) index[--i] = 0;
      if (i == 0) return;
    }
  }

  void Run() const {
    static double in_place = 0;
    if (engine == kAnyOrder) in_place += 1;
    std::map<int64_t, double> sums;
    const auto load = [&](const Lying& tensor, int64_t at) {
      return Load(memory.at(tensor.number), tensor.type, at);
    };
    const Lying& result = kind == kDnnOfData ? x : kind == kDnnOfWeight ? w : y;
    Each(result.extents, [&](const std::vector<int64_t>& index) {
      double& sum = sums[result.At(index)];
      sum = in_place;
      if (bias != 0) sum += Load(memory.at(bias), kDnnF32, index[1]);
    });
    EachProduct([&](int64_t at_x, int64_t at_w, int64_t at_y, int64_t) {
      if (kind == kDnnOfData) {
        sums[at_x] += load(y, at_y) * load(w, at_w);
      } else if (kind == kDnnOfWeight) {
        sums[at_w] += load(x, at_x) * load(y, at_y);
      } else {
        sums[at_y] += load(x, at_x) * load(w, at_w);
      }
    });
    for (const auto& [at, sum] : sums) Store(memory.at(out), out_type, at, sum);
  }
};

// What the graph of a plan says, without memory.
Convolving Read(const Descriptor& graph) {
  const auto operations = graph.All<const Descriptor*>(kGraphOperations);
  const Descriptor& first = *operations[0];
  const DnnOperation& known = *OperationOf(first.kind);
  const Descriptor& window = first.Of(known.convolution);
  Convolving c{first.kind,
               Lying(first.Of(known.x)),
               Lying(first.Of(known.w)),
               Lying(first.Of(known.y)),
               window.All<int64_t>(kConvolutionBefore),
               window.All<int64_t>(kConvolutionStrides),
               window.All<int64_t>(kConvolutionDilations),
               {}};
  const Lying& result = c.kind == kDnnOfData     ? c.x
                        : c.kind == kDnnOfWeight ? c.w
                                                 : c.y;
  c.out = result.number, c.out_type = result.type;
  if (operations.size() > 1) {
    const Lying to(operations[1]->Of(kAddY));
    c.bias = Lying(operations[1]->Of(kAddB)).number;
    c.out = to.number, c.out_type = to.type;
  }
  return c;
}

// Windows of y fill x and what is around it, but for less than a stride.
bool Fits(const Descriptor& operation) {
  const DnnOperation& known = *OperationOf(operation.kind);
  const Lying x(operation.Of(known.x)), w(operation.Of(known.w)),
      y(operation.Of(known.y));
  const Descriptor& window = operation.Of(known.convolution);
  const auto before = window.All<int64_t>(kConvolutionBefore);
  const auto after = window.All<int64_t>(kConvolutionAfter);
  const auto strides = window.All<int64_t>(kConvolutionStrides);
  const auto dilations = window.All<int64_t>(kConvolutionDilations);
  const auto axes = static_cast<size_t>(window.One<int64_t>(kConvolutionAxes));
  bool fits = x.extents.size() == axes + 2 && w.extents.size() == axes + 2 &&
              y.extents.size() == axes + 2 && x.extents[0] == y.extents[0] &&
              w.extents[0] == y.extents[1] &&
              x.extents[1] % w.extents[1] == 0 &&
              operation.One<float>(known.alpha) == 1 &&
              operation.One<float>(known.beta) == 0;
  for (size_t i = 0; fits && i < axes; ++i) {
    const int64_t room = x.extents[2 + i] + before[i] + after[i] -
                         (w.extents[2 + i] - 1) * dilations[i] - 1;
    fits = before[i] >= 0 && after[i] >= 0 && room >= 0 &&
           room / strides[i] + 1 == y.extents[2 + i];
  }
  return fits;
}

bool IsOfF32(const Convolving& c) {
  const auto is = [](const Lying& tensor) { return tensor.type == kDnnF32; };
  if (c.kind == kDnnOfData) return is(c.y) && is(c.w);
  return is(c.x) && is(c.kind == kDnnOfWeight ? c.y : c.w);
}

std::vector<int64_t> EnginesOf(const Descriptor& heuristics) {
  std::vector<int64_t> engines = {kTensorCores, kAnyOrder, kHungry, kWinograd};
  if (heuristics.One<int>(kHeuristicsMode) == kHeuristicFallback) {
    engines = {kHungry, kRight};
  }
  const auto most =
      static_cast<int64_t>(Setting("MXC_FAKE_CUDNN_MOST", kRight));
  std::erase_if(engines, [most](int64_t engine) { return engine > most; });
  return engines;
}

CudnnStatus GetResults(const Descriptor& heuristics, int64_t most,
                       int64_t* count, void* values) {
  const std::vector<int64_t> engines = EnginesOf(heuristics);
  *count = std::min(most, std::ssize(engines));
  for (int64_t i = 0; i < *count; ++i) {
    Descriptor& choice = From(static_cast<CudnnDescriptor*>(values)[i]);
    if (choice.kind != kDnnEngineChoice) return kBadParameter;
    choice.engine = engines[static_cast<size_t>(i)];
  }
  return 0;
}

CudnnStatus GetNotes(int64_t engine, int64_t most, int64_t* count,
                     void* values) {
  constexpr int kNotes[] = {-1, kNoteTensorCore,   kNoteAnyOrder,
                            -1, kNoteWinograd + 1, -1};
  const int note = kNotes[engine];
  *count = note < 0 ? 0 : 1;
  if (most < *count) return kBadParameter;
  if (note >= 0) *static_cast<int*>(values) = note;
  return 0;
}

}  // namespace

MXC_FAKE(cudnnCreate, (CudnnHandle * handle)) {
  static CudaStreamHandle stream = nullptr;
  *handle = reinterpret_cast<CudnnHandle>(&stream);
  return Fails() ? kNoSuccess : 0;
}
MXC_FAKE(cudnnSetStream, (CudnnHandle handle, CudaStreamHandle stream)) {
  *reinterpret_cast<CudaStreamHandle*>(handle) = stream;
  return Fails() ? kNoSuccess : 0;
}
MXC_FAKE(cudnnBackendCreateDescriptor,
         (int kind, CudnnDescriptor* descriptor)) {
  if (Fails()) return kNoSuccess;
  auto made = std::make_unique<Descriptor>();
  made->kind = kind;
  *descriptor = made.release();
  return 0;
}
MXC_FAKE(cudnnBackendDestroyDescriptor, (CudnnDescriptor descriptor)) {
  delete &From(descriptor);
  return 0;
}
MXC_FAKE(cudnnBackendSetAttribute,
         (CudnnDescriptor descriptor, int attribute, int type, int64_t count,
          const void* values)) {
  if (Fails()) return kNoSuccess;
  Descriptor& into = From(descriptor);
  if (into.finalized || count < 1 || values == nullptr) return kBadParameter;
  const auto* bytes = static_cast<const std::byte*>(values);
  const size_t size = BytesOf(type) * static_cast<size_t>(count);
  into.attributes[attribute] = {type, count, {bytes, bytes + size}};
  if (type != kDnnDescriptor) return 0;
  // Only what is whole is part of something.
  for (const Descriptor* part : into.All<const Descriptor*>(attribute)) {
    if (!part->finalized && part->kind != kDnnEngineChoice) {
      return kBadParameter;
    }
  }
  return 0;
}
MXC_FAKE(cudnnBackendFinalize, (CudnnDescriptor descriptor)) {
  if (Fails()) return kNoSuccess;
  Descriptor& it = From(descriptor);
  if (OperationOf(it.kind) != nullptr && !Fits(it)) return kBadParameter;
  if (it.kind == kDnnPlan) {
    if (!it.Has(kPlanHandle)) return kBadParameter;
    // The choice need not live as long as the plan.
    const Descriptor& choice = it.Of(kPlanChoice);
    if (choice.engine == 0) return kBadParameter;
    it.engine = choice.engine;
    it.attributes[kHeuristicsGraph] = choice.attributes.at(kHeuristicsGraph);
  }
  it.finalized = true;
  return 0;
}
MXC_FAKE(cudnnBackendGetAttribute,
         (CudnnDescriptor descriptor, int attribute, int type, int64_t most,
          int64_t* count, void* values)) {
  if (Fails()) return kNoSuccess;
  const Descriptor& it = From(descriptor);
  if (it.kind == kDnnHeuristics && attribute == kHeuristicsResults) {
    // What a choice is of is found again when it is planned.
    const CudnnStatus status = GetResults(it, most, count, values);
    for (int64_t i = 0; status == 0 && i < *count; ++i) {
      From(static_cast<CudnnDescriptor*>(values)[i])
          .attributes[kHeuristicsGraph] = it.attributes.at(kHeuristicsGraph);
    }
    return status;
  }
  if (it.kind == kDnnEngineChoice && attribute == kEngineOfChoice) {
    From(*static_cast<CudnnDescriptor*>(values)).engine = it.engine;
    *count = 1;
    return 0;
  }
  if (it.kind == kDnnEngine && attribute == kNotesOfEngine) {
    return GetNotes(it.engine, most, count, values);
  }
  if (it.kind == kDnnPlan && attribute == kPlanWorkspace && type == kDnnInt64) {
    *static_cast<int64_t*>(values) = it.engine == kHungry ? kWantedMemory : 0;
    *count = 1;
    return 0;
  }
  return kNotSupported;
}
MXC_FAKE(cudnnBackendExecute,
         (CudnnHandle handle, CudnnDescriptor plan, CudnnDescriptor operands)) {
  if (Fails() || Setting("MXC_FAKE_CUDNN_BROKEN", 0) == 1) return kNoSuccess;
  const Descriptor& given = From(operands);
  if (!given.finalized || !From(plan).finalized) return kBadParameter;
  const Descriptor& graph = From(plan).Of(kHeuristicsGraph);
  // They live until the process ends: a graph may run them again.
  static std::deque<Convolving> all;
  Convolving& convolving = all.emplace_back(Read(graph));
  convolving.engine = From(plan).engine;
  const auto numbers = given.All<int64_t>(kOperandNumbers);
  const auto pointers = given.All<void*>(kOperandPointers);
  if (numbers.size() != pointers.size()) return kBadParameter;
  for (size_t i = 0; i < numbers.size(); ++i) {
    constexpr uint64_t kAlignment = 16;
    if (!OnDevice(pointers[i], kAlignment)) return kBadParameter;
    convolving.memory[numbers[i]] = pointers[i];
  }
  LogLine("MXC_FAKE_CUDNN_LOG", "%d of %s%s by %d\n", convolving.kind,
          IsOfF32(convolving) ? "f32" : "16 bits",
          convolving.bias != 0 ? " with bias" : "",
          static_cast<int>(convolving.engine));
  const auto compute = [](void* one) {
    static_cast<const Convolving*>(one)->Run();
  };
  return cuLaunchHostFunc(*reinterpret_cast<CudaStreamHandle*>(handle), compute,
                          &convolving) == 0
             ? 0
             : kNoSuccess;
}
extern "C" [[gnu::visibility("default")]] const char* cudnnGetErrorString(
    CudnnStatus status) {
  return status == kBadParameter   ? "CUDNN_STATUS_BAD_PARAM"
         : status == kNotSupported ? "CUDNN_STATUS_NOT_SUPPORTED"
                                   : "CUDNN_STATUS_EXECUTION_FAILED";
}

}  // namespace mxc::runtime
