// SPDX-License-Identifier: Apache-2.0
// libcublasLt.so.13 for machines without a GPU: as much of it as the runtime
// calls, behind the driver beside it (tests/cuda/driver). It believes nothing:
// what it is given is checked, and of its algorithms, as heuristics may list
// them, only the last one is what a caller who wants f32 may take:
//   1 rounds operands to tf32    2 adds parts in place: another sum each time
//   3 wants memory to work in    4 is for another device    5 is right
// MXC_FAKE_CUBLASLT_FAIL=N: the N-th call fails. MXC_FAKE_CUBLASLT_BROKEN=1: no
// product can be put into a stream. MXC_FAKE_CUBLASLT_MOST=N: it has but the
// first N algorithms. MXC_FAKE_CUBLASLT_LOG=FILE: a line of each product that is
// put into a stream.
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <utility>

#include "runtime/device/cuda/cublaslt.h"
#include "tests/cuda/library/fake_library.h"

namespace mxc::runtime {
namespace {

constexpr CublasLtStatus kInvalid = 7, kUnsupported = 15, kBroken = 14;
constexpr int kAlgorithms = 5;

}  // namespace

struct cublasLtMatmulDescOpaque_t {
  int type = 0;
  int32_t transposed[2] = {};
  uint32_t epilogue = 1;
  const float* bias = nullptr;
};
struct cublasLtMatrixLayoutOpaque_t {
  uint64_t rows = 0, columns = 0;
  int64_t leading = 0, group = 0;
  int32_t groups = 1;
};
struct cublasLtMatmulPreferenceOpaque_t {
  uint64_t workspace = 0;
  uint32_t reductions = 0;
  uint32_t alignments[4] = {256, 256, 256, 256};
};

namespace {

using Product = cublasLtMatmulDescOpaque_t;
using Matrix = cublasLtMatrixLayoutOpaque_t;

bool Fails() {
  static NthCall calls("MXC_FAKE_CUBLASLT_FAIL");
  return calls.IsIt();
}

// Reads an attribute of the size that it must have.
template <class T>
CublasLtStatus Take(T& to, const void* value, size_t bytes) {
  if (bytes != sizeof to || value == nullptr) return kInvalid;
  std::memcpy(&to, value, sizeof to);
  return 0;
}

template <class T>
CublasLtStatus Tell(T value, void* to, size_t bytes, size_t* written) {
  if (bytes != sizeof value) return kInvalid;
  std::memcpy(to, &value, sizeof value);
  *written = sizeof value;
  return 0;
}

struct Multiplication {
  Product what;
  Matrix a_layout, b_layout, d_layout;
  const float *a, *b;
  float* d;
  float alpha;
  uint64_t algorithm;
};

// What (row, column) of op(matrix) is.
float ElementOf(const float* values, const Matrix& layout, int32_t transposed,
                int64_t group, uint64_t row, uint64_t column) {
  if (transposed != 0) std::swap(row, column);
  return values[group * layout.group + static_cast<int64_t>(row) +
                static_cast<int64_t>(column) * layout.leading];
}

float Rounded(float value, uint64_t algorithm) {
  if (algorithm != 1) return value;
  return std::bit_cast<float>((std::bit_cast<uint32_t>(value) + 0x1000u) &
                              0xffffe000u);
}

void Compute(const Multiplication& m) {
  const uint64_t depth =
      m.what.transposed[0] != 0 ? m.a_layout.rows : m.a_layout.columns;
  static float in_place = 0;
  if (m.algorithm == 2) in_place += 1;
  for (int64_t g = 0; g < m.d_layout.groups; ++g) {
    for (uint64_t column = 0; column < m.d_layout.columns; ++column) {
      for (uint64_t row = 0; row < m.d_layout.rows; ++row) {
        double sum = 0;
        for (uint64_t k = 0; k < depth; ++k) {
          const float a =
              ElementOf(m.a, m.a_layout, m.what.transposed[0], g, row, k);
          const float b =
              ElementOf(m.b, m.b_layout, m.what.transposed[1], g, k, column);
          sum += double{Rounded(a, m.algorithm)} * Rounded(b, m.algorithm);
        }
        if (m.what.epilogue == kCublasBiasEpilogue) sum += m.what.bias[row];
        m.d[g * m.d_layout.group + static_cast<int64_t>(row) +
            static_cast<int64_t>(column) * m.d_layout.leading] =
            static_cast<float>(m.alpha * sum) + in_place;
      }
    }
  }
}

// op(A) [m, k] · op(B) [k, n] = D [m, n], of as many groups each.
bool Fit(const Product& what, const Matrix& a, const Matrix& b,
         const Matrix& d) {
  const uint64_t m = what.transposed[0] != 0 ? a.columns : a.rows;
  const uint64_t a_depth = what.transposed[0] != 0 ? a.rows : a.columns;
  const uint64_t b_depth = what.transposed[1] != 0 ? b.columns : b.rows;
  const uint64_t n = what.transposed[1] != 0 ? b.rows : b.columns;
  return a_depth == b_depth && m == d.rows && n == d.columns &&
         a.groups == d.groups && b.groups == d.groups;
}

void Log(const Multiplication& m) {
  LogLine("MXC_FAKE_CUBLASLT_LOG", "%d x %llu x %llu by %llu\n",
          m.d_layout.groups, static_cast<unsigned long long>(m.d_layout.rows),
          static_cast<unsigned long long>(m.d_layout.columns),
          static_cast<unsigned long long>(m.algorithm));
}

}  // namespace

MXC_FAKE(cublasLtCreate, (CublasLtHandle * handle)) {
  static int something;
  *handle = reinterpret_cast<CublasLtHandle>(&something);
  return Fails() ? kBroken : 0;
}
MXC_FAKE(cublasLtMatmulDescCreate,
         (CublasLtProduct * product, int type, int scale)) {
  const bool known = type == kCublasComputeF32 || type == kCublasComputeTf32;
  if (!known || scale != kCublasF32) return kInvalid;
  if (Fails()) return kBroken;
  *product = new Product{.type = type};
  return 0;
}
MXC_FAKE(cublasLtMatmulDescDestroy, (CublasLtProduct product)) {
  delete product;
  return 0;
}
MXC_FAKE(cublasLtMatmulDescSetAttribute,
         (CublasLtProduct product, int attribute, const void* value,
          size_t bytes)) {
  if (Fails()) return kBroken;
  switch (attribute) {
    case kProductTransposeA:
      return Take(product->transposed[0], value, bytes);
    case kProductTransposeB:
      return Take(product->transposed[1], value, bytes);
    case kProductEpilogue:
      return Take(product->epilogue, value, bytes);
    case kProductBias:
      return Take(product->bias, value, bytes);
    default:
      return kInvalid;
  }
}
MXC_FAKE(cublasLtMatrixLayoutCreate,
         (CublasLtMatrix * matrix, int type, uint64_t rows, uint64_t columns,
          int64_t leading)) {
  if (type != kCublasF32 || rows == 0 || columns == 0 ||
      leading < static_cast<int64_t>(rows)) {
    return kInvalid;
  }
  if (Fails()) return kBroken;
  *matrix = new Matrix{.rows = rows, .columns = columns, .leading = leading};
  return 0;
}
MXC_FAKE(cublasLtMatrixLayoutDestroy, (CublasLtMatrix matrix)) {
  delete matrix;
  return 0;
}
MXC_FAKE(cublasLtMatrixLayoutSetAttribute,
         (CublasLtMatrix matrix, int attribute, const void* value,
          size_t bytes)) {
  if (Fails()) return kBroken;
  switch (attribute) {
    case kMatrixBatch:
      return Take(matrix->groups, value, bytes);
    case kMatrixBatchStride:
      return Take(matrix->group, value, bytes);
    default:
      return kInvalid;
  }
}
MXC_FAKE(cublasLtMatmulPreferenceCreate, (CublasLtWish * wish)) {
  if (Fails()) return kBroken;
  *wish = new cublasLtMatmulPreferenceOpaque_t;
  return 0;
}
MXC_FAKE(cublasLtMatmulPreferenceDestroy, (CublasLtWish wish)) {
  delete wish;
  return 0;
}
MXC_FAKE(cublasLtMatmulPreferenceSetAttribute,
         (CublasLtWish wish, int attribute, const void* value, size_t bytes)) {
  if (Fails()) return kBroken;
  if (attribute == kWishWorkspace) return Take(wish->workspace, value, bytes);
  if (attribute == kWishReductions) return Take(wish->reductions, value, bytes);
  const int operand = attribute - kWishAlignmentA;
  if (operand < 0 || operand > 3) return kInvalid;
  return Take(wish->alignments[operand], value, bytes);
}
MXC_FAKE(cublasLtMatmulAlgoGetHeuristic,
         (CublasLtHandle, CublasLtProduct product, CublasLtMatrix a,
          CublasLtMatrix b, CublasLtMatrix c, CublasLtMatrix d,
          CublasLtWish wish, int most, CublasLtProposal* proposals,
          int* count)) {
  if (Fails()) return kBroken;
  if (c != d || !Fit(*product, *a, *b, *d)) return kInvalid;
  if (wish->reductions != (kReductionNone | kReductionInOrder)) return kInvalid;
  if (product->epilogue == kCublasBiasEpilogue && product->bias == nullptr) {
    return kUnsupported;
  }
  const uint64_t known = Setting("MXC_FAKE_CUBLASLT_MOST", kAlgorithms);
  *count = 0;
  for (uint64_t i = 1; i <= known && *count < most; ++i) {
    proposals[(*count)++] = {
        .algorithm = {{i, wish->alignments[0]}},
        .workspace_bytes = i == 3 ? wish->workspace + 1 : 0,
        .status = i == 4 ? kUnsupported : 0,
        .waves = 1,
        .reserved = {}};
  }
  return *count > 0 ? 0 : kUnsupported;
}
MXC_FAKE(cublasLtMatmulAlgoConfigGetAttribute,
         (const CublasLtAlgorithm* algorithm, int attribute, void* value,
          size_t bytes, size_t* written)) {
  if (Fails()) return kBroken;
  if (attribute != kAlgorithmReduction) return kInvalid;
  return Tell<uint32_t>(algorithm->data[0] == 2 ? 1 : 0, value, bytes, written);
}
MXC_FAKE(cublasLtMatmulAlgoCapGetAttribute,
         (const CublasLtAlgorithm* algorithm, int attribute, void* value,
          size_t bytes, size_t* written)) {
  if (Fails()) return kBroken;
  if (attribute != kAbilityNumbers) return kInvalid;
  constexpr uint64_t kF32 = 8 << 16;
  return Tell<uint64_t>(algorithm->data[0] == 1 ? kNumbersTf32 : kF32, value,
                        bytes, written);
}
MXC_FAKE(cublasLtMatmul,
         (CublasLtHandle, CublasLtProduct product, const void* alpha,
          const void* a, CublasLtMatrix a_layout, const void* b,
          CublasLtMatrix b_layout, const void* beta, const void* c,
          CublasLtMatrix, void* d, CublasLtMatrix d_layout,
          const CublasLtAlgorithm* algorithm, void*, size_t,
          CudaStreamHandle stream)) {
  if (Fails() || Setting("MXC_FAKE_CUBLASLT_BROKEN", 0) != 0) return kBroken;
  const auto alignment = static_cast<uint32_t>(algorithm->data[1]);
  const bool biased = product->epilogue == kCublasBiasEpilogue;
  if (!Fit(*product, *a_layout, *b_layout, *d_layout) || c != d ||
      *static_cast<const float*>(beta) != 0 || !OnDevice(a, alignment) ||
      !OnDevice(b, alignment) || !OnDevice(d, alignment) ||
      (biased && !OnDevice(product->bias, sizeof(float)))) {
    return kInvalid;
  }
  static std::deque<Multiplication> all;  // graphs do them again
  all.push_back({.what = *product,
                 .a_layout = *a_layout,
                 .b_layout = *b_layout,
                 .d_layout = *d_layout,
                 .a = static_cast<const float*>(a),
                 .b = static_cast<const float*>(b),
                 .d = static_cast<float*>(d),
                 .alpha = *static_cast<const float*>(alpha),
                 .algorithm = algorithm->data[0]});
  Log(all.back());
  const auto compute = [](void* one) {
    Compute(*static_cast<const Multiplication*>(one));
  };
  return cuLaunchHostFunc(stream, compute, &all.back()) == 0 ? 0 : kBroken;
}
extern "C" [[gnu::visibility("default")]] const char* cublasLtGetStatusString(
    CublasLtStatus status) {
  return status == kInvalid       ? "an unsupported value or parameter"
         : status == kUnsupported ? "not supported"
                                  : "an internal operation failed";
}

}  // namespace mxc::runtime
