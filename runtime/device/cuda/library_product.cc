// SPDX-License-Identifier: Apache-2.0
#include "runtime/device/cuda/library_product.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace mxc::runtime {
namespace {

using Strides = MatrixProduct::Strides;

constexpr int kMostProposals = 8;
// Of the addresses of operands: algorithms are found for both, in bytes.
constexpr std::array<uint32_t, 2> kAlignments = {16, sizeof(float)};
// The library proposes nothing for a bias that lies nowhere.
constexpr CudaAddress kSomeAddress = 256;

// A matrix by columns, as cuBLASLt has it.
struct Stored {
  int64_t rows = 0, columns = 0, leading = 0, group = 0;
  bool transposed = false;
};

// Lines of the depth are the rows of the first factor, columns of the second.
// Nothing where the elements of neither lie side by side.
std::optional<Stored> StoredAs(const Strides& strides, int64_t lines,
                               int64_t depth, bool lines_are_rows) {
  const auto by = [&](int64_t rows, int64_t columns, int64_t next,
                      bool transposed) -> std::optional<Stored> {
    const int64_t leading = columns == 1 ? std::max(next, rows) : next;
    if (leading < rows) return std::nullopt;
    return Stored{rows, columns, leading, strides.group, transposed};
  };
  std::optional<Stored> stored;
  if (strides.element == 1 || depth == 1) {
    stored = by(depth, lines, strides.line, lines_are_rows);
  }
  if (!stored && (strides.line == 1 || lines == 1)) {
    stored = by(lines, depth, strides.element, !lines_are_rows);
  }
  return stored;
}

// D = first · second. Its columns are the rows of out, so that weight is first;
// where out lies the other way, data is.
struct Factors {
  Stored first, second, out;
  bool weight_first = true;
};

std::optional<Factors> FactorsOf(const MatrixProduct& p) {
  for (const bool weight_first : {true, false}) {
    if (!weight_first && p.bias > 0) break;  // it is one for each row of D
    const auto data = StoredAs(p.data, p.rows, p.depth, !weight_first);
    const auto weight = StoredAs(p.weight, p.columns, p.depth, weight_first);
    const auto out = StoredAs(p.out, p.rows, p.columns, false);
    if (!data || !weight || !out || out->transposed == weight_first) continue;
    return weight_first ? Factors{*weight, *data, *out, true}
                        : Factors{*data, *weight, *out, false};
  }
  return std::nullopt;
}

class CublasLtStep final : public CudaLibraryStep {
 public:
  CublasLtStep(const CublasLt& library, const MatrixProduct& product,
               const Factors& factors, uint64_t workspace_bytes)
      : library_(library),
        product_(product),
        weight_first_(factors.weight_first),
        workspace_bytes_(workspace_bytes) {}
  ~CublasLtStep() override {
    for (CublasLtMatrix matrix : {first_, second_, out_}) {
      if (matrix != nullptr) library_.destroy_matrix(matrix);
    }
    if (what_ != nullptr) library_.destroy_product(what_);
  }

  bool Open(const Factors& factors) {
    return Describe(factors) &&
           std::ranges::all_of(kAlignments, [&](auto a) { return Choose(a); });
  }

  Status Run(std::span<void* const> operands, CudaAddress workspace,
             CudaStreamHandle stream) override {
    const void* data = operands[0];
    const void* weight = operands[1];
    void* out = operands.back();
    CublasLtStatus status = 0;
    uintptr_t addresses = Address(data) | Address(weight) | Address(out);
    if (product_.bias > 0) {
      const void* bias = operands[static_cast<size_t>(product_.bias)];
      status = library_.set_product(what_, kProductBias, &bias, sizeof bias);
      addresses |= Address(bias);
    }
    const bool aligned = addresses % kAlignments.front() == 0;
    const CublasLtAlgorithm& algorithm =
        aligned ? algorithms_.front() : algorithms_.back();
    const float one = 1, zero = 0;
    if (!weight_first_) std::swap(data, weight);
    if (status == 0) {
      status = library_.multiply(library_.handle(), what_, &one, weight, first_,
                                 data, second_, &zero, out, out_, out, out_,
                                 &algorithm, reinterpret_cast<void*>(workspace),
                                 workspace_bytes_, stream);
    }
    if (status == 0) return {};
    return Fail(StatusCode::kFailed, "cannot multiply matrices: %s",
                library_.Text(status).c_str());
  }

 private:
  static uintptr_t Address(const void* data) {
    return reinterpret_cast<uintptr_t>(data);
  }

  template <class T>
  bool Set(int attribute, T value) {
    return library_.set_product(what_, attribute, &value, sizeof value) == 0;
  }

  bool Describe(const Factors& factors) {
    const int type =
        product_.tf32 != 0 ? kCublasComputeTf32 : kCublasComputeF32;
    const auto transposed = [](const Stored& matrix) -> int32_t {
      return matrix.transposed ? kCublasTransposed : kCublasPlain;
    };
    if (library_.create_product(&what_, type, kCublasF32) != 0 ||
        !Set(kProductTransposeA, transposed(factors.first)) ||
        !Set(kProductTransposeB, transposed(factors.second))) {
      return false;
    }
    if (product_.bias > 0 &&
        (!Set<uint32_t>(kProductEpilogue, kCublasBiasEpilogue) ||
         !Set(kProductBias, kSomeAddress))) {
      return false;
    }
    return Lay(factors.first, first_) && Lay(factors.second, second_) &&
           Lay(factors.out, out_);
  }

  bool Lay(const Stored& stored, CublasLtMatrix& matrix) {
    const auto groups = static_cast<int32_t>(product_.groups);
    return library_.create_matrix(
               &matrix, kCublasF32, static_cast<uint64_t>(stored.rows),
               static_cast<uint64_t>(stored.columns), stored.leading) == 0 &&
           library_.set_matrix(matrix, kMatrixBatch, &groups, sizeof groups) ==
               0 &&
           library_.set_matrix(matrix, kMatrixBatchStride, &stored.group,
                               sizeof stored.group) == 0;
  }

  // The first of what the library proposes that is allowed.
  bool Choose(uint32_t alignment) {
    std::array<CublasLtProposal, kMostProposals> proposals;
    int count = 0;
    CublasLtWish wish = nullptr;
    if (library_.create_wish(&wish) != 0) return false;
    const bool proposed =
        SetWishes(wish, alignment) &&
        library_.propose(library_.handle(), what_, first_, second_, out_, out_,
                         wish, kMostProposals, proposals.data(), &count) == 0;
    library_.destroy_wish(wish);
    if (!proposed) return false;
    const auto end = proposals.begin() + std::clamp(count, 0, kMostProposals);
    const auto found = std::find_if(
        proposals.begin(), end,
        [this](const CublasLtProposal& p) { return IsAllowed(p); });
    if (found == end) return false;
    algorithms_[alignment == kAlignments.front() ? 0 : 1] = found->algorithm;
    return true;
  }

  bool SetWishes(CublasLtWish wish, uint32_t alignment) const {
    const auto set = [&](int attribute, auto value) {
      return library_.set_wish(wish, attribute, &value, sizeof value) == 0;
    };
    for (int operand = 0; operand < 4; ++operand) {  // A, B, C, D
      if (!set(kWishAlignmentA + operand, alignment)) return false;
    }
    return set(kWishWorkspace, workspace_bytes_) &&
           set(kWishReductions, kReductionNone | kReductionInOrder);
  }

  // Parts of a sum that are added in place are added as they come.
  bool IsAllowed(const CublasLtProposal& proposal) const {
    uint32_t reduction = 0;
    uint64_t numbers = 0;
    size_t written = 0;
    const CublasLtAlgorithm* algorithm = &proposal.algorithm;
    if (proposal.status != 0 || proposal.workspace_bytes > workspace_bytes_ ||
        library_.ask_algorithm(algorithm, kAlgorithmReduction, &reduction,
                               sizeof reduction, &written) != 0 ||
        library_.ask_ability(algorithm, kAbilityNumbers, &numbers,
                             sizeof numbers, &written) != 0) {
      return false;
    }
    const uint64_t rounded =
        kNumbersF16 | kNumbersBf16 | (product_.tf32 != 0 ? 0 : kNumbersTf32);
    return (reduction == kReductionNone || reduction == kReductionInOrder) &&
           (numbers & rounded) == 0;
  }

  const CublasLt& library_;
  const MatrixProduct product_;
  const bool weight_first_;
  const uint64_t workspace_bytes_;
  CublasLtProduct what_ = nullptr;
  CublasLtMatrix first_ = nullptr, second_ = nullptr, out_ = nullptr;
  std::array<CublasLtAlgorithm, kAlignments.size()> algorithms_ = {};
};

}  // namespace

std::unique_ptr<CudaLibraryStep> PlanLibraryProduct(
    const CublasLt& library, const MatrixProduct& product,
    uint64_t workspace_bytes) {
  const auto factors = FactorsOf(product);
  if (!factors) return nullptr;
  auto step = std::make_unique<CublasLtStep>(library, product, *factors,
                                             workspace_bytes);
  if (!step->Open(*factors)) return nullptr;
  return step;
}

}  // namespace mxc::runtime
