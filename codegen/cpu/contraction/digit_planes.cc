// SPDX-License-Identifier: Apache-2.0
#include "codegen/cpu/contraction/digit_planes.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

#include "ir/program/int4_blocks.h"
#include "runtime/abi/abi.h"

namespace mxc::contraction {
namespace {

constexpr int kPlanes = 3, kDigitBits = 8;
constexpr int kLanes = 16, kBytesOfLane = 4;
// Of a group's digits: where the numbers that each plane starts from, and the
// digits, lie behind the scale.
constexpr int64_t kStarts = 4, kDigits = kStarts + 4 * kPlanes;
// What one instruction multiplies for each lane: inputs, and rows of bytes.
constexpr int64_t kRowsOfStep = 4, kInputsOfStep = 2 * kRowsOfStep;
constexpr int64_t kMostGroup = 128;

int64_t GroupBytes(int64_t group) { return kDigits + kPlanes * group; }

int64_t GroupOf(const Nest& nest) {
  return nest.main.axes[1].extent * nest.main.unroll;
}

}  // namespace

bool TakesDigitPlanes(const CpuMachine& machine, const Contraction& c) {
  const int64_t group = c.int4_group;
  const bool has_unit = std::ranges::any_of(
      machine.products,
      [](const ProductUnit& unit) { return unit.name == "vpdpbusd zmm"; });
  return has_unit && group > 0 && group % (2 * kInputsOfStep) == 0 &&
         group <= kMostGroup && c.batch == 1 && c.groups == 1 &&
         c.data_axes.back() == Role::kIn && c.types.data == DType::kF32 &&
         c.types.sum == DType::kF32 && c.out >= kPlaneVectors * kLanes;
}

int64_t DigitPlaneScratch(const Contraction& c) {
  return kLineBytes + c.in / c.int4_group * GroupBytes(c.int4_group);
}

DigitPlanes::DigitPlanes(KernelFunction& kernel, const Nest& nest)
    : FlatMemory(kernel, DType::kF32, kLanes),
      group_(GroupOf(nest)),
      groups_(nest.main.axes[0].extent) {}

llvm::Value* DigitPlanes::Of(llvm::Value* row) {
  static_assert(MXC_SCRATCH_NOTE <= kLineBytes);
  llvm::Value* digits = ByteAt(kernel_.scratch(), kLineBytes);
  FillOnce(kernel_.Int(0), [&] {
    kernel_.Loop(kernel_.Int(0), kernel_.Int(groups_), 1, [&](llvm::Value* i) {
      WriteGroup(Advance(row, i, group_),
                 kernel_.ElementAddress(digits, i, GroupBytes(group_)));
    });
  });
  return digits;
}

// The elements as integers; writes the scale.
llvm::Value* DigitPlanes::NumbersOf(llvm::Value* elements, llvm::Value* to) {
  // Of a float: mantissa, exponent; what is not finite.
  constexpr uint64_t kMantissa = 23, kMagnitude = 0x7fffffff,
                     kInfinite = 0x7f800000;
  // What three digits hold ends at 127 · (65536 + 256 + 1), a little below 2^23:
  // mantissas above count as 2.
  constexpr uint64_t kRound = 0x10200;
  constexpr uint64_t kLeastExponent = 23;
  const auto lanes = static_cast<int>(group_);
  llvm::Type* words = kernel_.VectorOf(b_.getInt32Ty(), lanes);
  llvm::Value* values = b_.CreateAlignedLoad(
      kernel_.VectorOf(b_.getFloatTy(), lanes), elements, llvm::Align(4));
  llvm::Value* magnitudes =
      b_.CreateAnd(b_.CreateBitCast(values, words), kMagnitude);
  llvm::Value* largest =
      b_.CreateUnaryIntrinsic(llvm::Intrinsic::vector_reduce_umax, magnitudes);
  llvm::Value* exponent = b_.CreateBinaryIntrinsic(
      llvm::Intrinsic::umax,
      b_.CreateLShr(b_.CreateAdd(largest, b_.getInt32(kRound)), kMantissa),
      b_.getInt32(kLeastExponent));
  const auto power = [&](llvm::Value* biased) {
    return b_.CreateBitCast(b_.CreateShl(biased, kMantissa), b_.getFloatTy());
  };
  // Exponents are biased by 127; the largest number has 23 bits.
  llvm::Value* up = power(b_.CreateSub(b_.getInt32(276), exponent));
  llvm::Value* down = power(b_.CreateSub(exponent, b_.getInt32(22)));
  llvm::Value* finite = b_.CreateICmpULT(largest, b_.getInt32(kInfinite));
  b_.CreateAlignedStore(
      b_.CreateSelect(finite, down, llvm::ConstantFP::getNaN(b_.getFloatTy())),
      to, llvm::Align(4));
  llvm::Value* scaled = b_.CreateUnaryIntrinsic(
      llvm::Intrinsic::rint,
      b_.CreateFMul(values,
                    b_.CreateVectorSplat(static_cast<unsigned>(lanes), up)));
  return b_.CreateIntrinsic(llvm::Intrinsic::fptosi_sat,
                            {words, scaled->getType()}, {scaled});
}

void DigitPlanes::WritePlane(llvm::Value* bytes, int plane,
                             llvm::Value* digits) {
  const int64_t half = group_ / 2;
  for (int64_t upper = 0; upper < 2; ++upper) {
    std::vector<int> inputs(static_cast<size_t>(half));
    for (size_t i = 0; i < inputs.size(); ++i) {
      inputs[i] = static_cast<int>(2 * i) + static_cast<int>(upper);
    }
    b_.CreateAlignedStore(b_.CreateShuffleVector(bytes, inputs),
                          ByteAt(digits, kDigits + (2 * plane + upper) * half),
                          llvm::Align(1));
  }
  llvm::Value* sum = b_.CreateAddReduce(b_.CreateSExt(
      bytes, kernel_.VectorOf(b_.getInt32Ty(), static_cast<int>(group_))));
  b_.CreateAlignedStore(b_.CreateMul(sum, b_.getInt32(-kInt4Zero)),
                        ByteAt(digits, kStarts + 4 * plane), llvm::Align(4));
}

void DigitPlanes::WriteGroup(llvm::Value* elements, llvm::Value* digits) {
  llvm::Value* numbers = NumbersOf(elements, digits);
  const auto lanes = static_cast<int>(group_);
  for (int plane = 0; plane < kPlanes; ++plane) {
    if (plane > 0) {
      // Less the digit, which is signed.
      numbers = b_.CreateAShr(
          b_.CreateAdd(numbers,
                       llvm::ConstantInt::get(numbers->getType(),
                                              uint64_t{1} << (kDigitBits - 1))),
          kDigitBits);
    }
    WritePlane(b_.CreateTrunc(numbers, kernel_.VectorOf(b_.getInt8Ty(), lanes)),
               plane, digits);
  }
}

namespace {

// The sums of two panels side by side. Registers of bytes hold 64 outputs. Bytes
// of four rows come to lie side by side by interleaving within quarters of a
// register, so that register k has, in its q-th quarter, the outputs 4k … 4k + 3
// of vector q; the totals are turned back at the end.
class PlaneSums {
 public:
  PlaneSums(KernelFunction& kernel, const Nest& nest, const PlaneSource& source)
      : kernel_(kernel),
        b_(kernel.b()),
        source_(source),
        group_(GroupOf(nest)),
        row_(nest.panel_width()),
        bytes_(kernel.VectorOf(b_.getInt8Ty(), kRegisterBytes)),
        words_(kernel.VectorOf(b_.getInt32Ty(), kLanes)),
        floats_(kernel.VectorOf(b_.getFloatTy(), kLanes)) {}

  MicroKernel::Accumulators Run() {
    const KernelFunction::Carried zeros(kPlaneVectors,
                                        llvm::Constant::getNullValue(floats_));
    return TurnedBack(kernel_.Loop(
        kernel_.Int(0), source_.groups, 1, zeros,
        [&](llvm::Value* i, const KernelFunction::Carried& totals) {
          return Group(i, totals);
        }));
  }

 private:
  static constexpr int kRegisterBytes = kLanes * kBytesOfLane;
  using Registers = std::array<llvm::Value*, kPlaneVectors>;

  llvm::Value* ByteAt(llvm::Value* base, int64_t offset) {
    return kernel_.ElementAddress(base, kernel_.Int(offset), 1);
  }
  llvm::Value* Everywhere(llvm::Type* type, llvm::Value* address) {
    return b_.CreateVectorSplat(
        kLanes, b_.CreateAlignedLoad(type, address, llvm::Align(1)));
  }
  llvm::Value* Bytes(uint64_t value) {
    return llvm::ConstantInt::get(bytes_, value);
  }

  // A row of bytes of both panels.
  llvm::Value* Row(int64_t row) {
    std::vector<int> all(kRegisterBytes);
    std::iota(all.begin(), all.end(), 0);
    llvm::Type* half = kernel_.VectorOf(b_.getInt8Ty(), kRegisterBytes / 2);
    llvm::Value* of_panel[2];
    for (int p = 0; p < 2; ++p) {
      of_panel[p] = b_.CreateAlignedLoad(half, ByteAt(panels_[p], row * row_),
                                         llvm::Align(1));
    }
    return b_.CreateShuffleVector(of_panel[0], of_panel[1], all);
  }

  // Units of `size` bytes of the first or second half of each quarter of a, each
  // followed by that of b.
  llvm::Value* Interleaved(llvm::Value* a, llvm::Value* b, int size,
                           bool second) {
    constexpr int kQuarter = kRegisterBytes / 4;
    std::vector<int> from;
    for (int quarter = 0; quarter < 4; ++quarter) {
      const int first = quarter * kQuarter + (second ? kQuarter / 2 : 0);
      for (int unit = 0; unit < kQuarter / 2; unit += size) {
        for (const int operand : {0, kRegisterBytes}) {
          for (int i = 0; i < size; ++i) {
            from.push_back(operand + first + unit + i);
          }
        }
      }
    }
    return b_.CreateShuffleVector(a, b, from);
  }

  // Of four rows, the bytes of each output side by side.
  Registers Interleaved(const Registers& rows) {
    Registers result;
    for (int k = 0; k < kPlaneVectors; ++k) {
      const bool upper = k / 2 != 0;
      result[k] =
          Interleaved(Interleaved(rows[0], rows[1], 1, upper),
                      Interleaved(rows[2], rows[3], 1, upper), 2, k % 2 != 0);
    }
    return result;
  }

  KernelFunction::Carried Group(llvm::Value* i,
                                const KernelFunction::Carried& totals) {
    for (int p = 0; p < 2; ++p) {
      panels_[p] = kernel_.ElementAddress(source_.panels[p], i,
                                          Int4BlockBytes(group_) * row_);
    }
    digits_ = kernel_.ElementAddress(source_.digits, i, GroupBytes(group_));
    ahead_ = Ahead(i);
    for (int plane = 0; plane < kPlanes; ++plane) {
      sums_[plane].fill(
          Everywhere(b_.getInt32Ty(), ByteAt(digits_, kStarts + 4 * plane)));
    }
    for (int64_t row = 0; row < group_ / 2; row += kRowsOfStep) AddStep(row);
    return Scaled(totals);
  }

  // Rows row … row + 3, two inputs each.
  void AddStep(int64_t row) {
    FetchAhead(row);
    Registers rows;
    for (int r = 0; r < kPlaneVectors; ++r) rows[r] = Row(row + r);
    const Registers pairs = Interleaved(rows);
    constexpr uint64_t kLower = 0x0f;
    constexpr uint64_t kBits = 4;
    for (int64_t upper = 0; upper < 2; ++upper) {
      std::array<llvm::Value*, kPlanes> digits;
      for (int plane = 0; plane < kPlanes; ++plane) {
        digits[plane] = Everywhere(
            b_.getInt32Ty(),
            ByteAt(digits_,
                   kDigits + (2 * plane + upper) * (group_ / 2) + row));
      }
      for (int k = 0; k < kPlaneVectors; ++k) {
        llvm::Value* bits = pairs[k];
        if (upper != 0) {
          bits = b_.CreateBitCast(
              b_.CreateLShr(b_.CreateBitCast(bits, words_), kBits), bytes_);
        }
        bits = b_.CreateBitCast(b_.CreateAnd(bits, Bytes(kLower)), words_);
        for (int plane = 0; plane < kPlanes; ++plane) {
          llvm::Value*& sum = sums_[plane][k];
          sum = b_.CreateIntrinsic(words_,
                                   llvm::Intrinsic::x86_avx512_vpdpbusd_512,
                                   {sum, bits, digits[plane]});
        }
      }
    }
  }

  // From a group's weights to those to be fetched. Behind a panel lies the one that
  // is read beside it: what follows is two panels further on. Bytes that are not
  // widened pass in half of the time, so twice as many are under way.
  llvm::Value* Ahead(llvm::Value* group) {
    if (source_.ahead == nullptr) return nullptr;
    const int64_t bytes = Int4BlockBytes(group_) * row_;
    llvm::Value* ahead = b_.CreateShl(source_.ahead, 1);
    llvm::Value* panel = b_.CreateMul(source_.groups, kernel_.Int(bytes));
    llvm::Value* at =
        b_.CreateAdd(b_.CreateMul(group, kernel_.Int(bytes)), ahead);
    return b_.CreateSelect(b_.CreateICmpULT(at, panel), ahead,
                           b_.CreateAdd(ahead, panel));
  }

  void FetchAhead(int64_t row) {
    if (ahead_ == nullptr) return;
    constexpr int kRead = 0, kSecondCache = 2, kData = 1;
    for (llvm::Value* panel : panels_) {
      llvm::Value* ahead = kernel_.ElementAddress(panel, ahead_, 1);
      for (int64_t line = 0; line < kRowsOfStep * row_; line += kLineBytes) {
        b_.CreateIntrinsic(
            b_.getVoidTy(), llvm::Intrinsic::prefetch,
            {ByteAt(ahead, row * row_ + line), b_.getInt32(kRead),
             b_.getInt32(kSecondCache), b_.getInt32(kData)});
      }
    }
  }

  // What the planes' sums come to, times the group's levels and the row's scale,
  // added to the totals.
  KernelFunction::Carried Scaled(const KernelFunction::Carried& totals) {
    llvm::FastMathFlags flags;
    flags.setAllowContract();
    llvm::IRBuilderBase::FastMathFlagGuard guard(b_);
    b_.setFastMathFlags(flags);
    llvm::Value* scale = Everywhere(b_.getFloatTy(), digits_);
    llvm::Value* none = Bytes(0);
    const Registers levels = Interleaved({Row(-1), none, none, none});
    KernelFunction::Carried next;
    for (int k = 0; k < kPlaneVectors; ++k) {
      llvm::Value* level = b_.CreateSub(
          b_.CreateBitCast(levels[k], words_),
          llvm::ConstantInt::get(words_, uint64_t{kInt4LevelZero}));
      llvm::Value* factor =
          b_.CreateFMul(b_.CreateSIToFP(level, floats_), scale);
      next.push_back(b_.CreateFAdd(b_.CreateFMul(Sum(k), factor), totals[k]));
    }
    return next;
  }

  llvm::Value* Sum(int k) {
    constexpr uint64_t kTwoDigits = 65536;
    llvm::Value* lower =
        b_.CreateAdd(sums_[0][k], b_.CreateShl(sums_[1][k], kDigitBits));
    return b_.CreateFAdd(
        b_.CreateFMul(
            b_.CreateSIToFP(sums_[2][k], floats_),
            llvm::ConstantFP::get(floats_, static_cast<double>(kTwoDigits))),
        b_.CreateSIToFP(lower, floats_));
  }

  MicroKernel::Accumulators TurnedBack(const KernelFunction::Carried& totals) {
    constexpr int kQuarter = kLanes / 4;
    // Two quarters of each.
    const auto quarters = [&](llvm::Value* a, llvm::Value* b, int from,
                              int apart) {
      std::vector<int> lanes;
      for (const int operand : {0, kLanes}) {
        for (const int quarter : {from, from + apart}) {
          for (int i = 0; i < kQuarter; ++i) {
            lanes.push_back(operand + quarter * kQuarter + i);
          }
        }
      }
      return b_.CreateShuffleVector(a, b, lanes);
    };
    MicroKernel::Accumulators vectors;
    for (int half = 0; half < 2; ++half) {
      llvm::Value* first = quarters(totals[0], totals[1], 2 * half, 1);
      llvm::Value* second = quarters(totals[2], totals[3], 2 * half, 1);
      for (int q = 0; q < 2; ++q) {
        vectors.push_back(quarters(first, second, q, 2));
      }
    }
    return vectors;
  }

  KernelFunction& kernel_;
  KernelFunction::Builder& b_;
  const PlaneSource& source_;
  const int64_t group_, row_;
  llvm::Type *const bytes_, *const words_, *const floats_;
  // Of the group in work.
  llvm::Value* panels_[2] = {};
  llvm::Value *digits_ = nullptr, *ahead_ = nullptr;
  std::array<Registers, kPlanes> sums_ = {};
};

}  // namespace

MicroKernel::Accumulators DigitPlaneSums(KernelFunction& kernel,
                                         const Nest& nest,
                                         const PlaneSource& source) {
  return PlaneSums(kernel, nest, source).Run();
}

}  // namespace mxc::contraction
