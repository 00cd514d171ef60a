// SPDX-License-Identifier: Apache-2.0
#include "runtime/executor/non_finite.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

namespace mxc::runtime {
namespace {

constexpr uint8_t kF32 = 0, kF64 = 1, kF16 = 2, kBf16 = 12;

// The first element whose exponent bits are all ones. T: the float's bits.
template <class T, int kMantissaBits>
std::optional<NonFiniteElement> FirstIn(Bytes values) {
  constexpr T kSign = static_cast<T>(T{1} << (sizeof(T) * 8 - 1));
  constexpr T kExponent = static_cast<T>(static_cast<T>(~kSign) &
                                         ~((T{1} << kMantissaBits) - T{1}));
  for (size_t i = 0; i < values.size() / sizeof(T); ++i) {
    T bits;
    std::memcpy(&bits, values.data() + i * sizeof bits, sizeof bits);
    if ((bits & kExponent) != kExponent) continue;
    if ((bits & ~(kSign | kExponent)) != 0) return {{i, std::nan("")}};
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    return {{i, (bits & kSign) != 0 ? -kInfinity : kInfinity}};
  }
  return std::nullopt;
}

// A window is looked at as a part of what it lies in, by the step that has all
// of that: what is in its gaps may have yet to be written.
std::optional<double> FirstInBuffer(const Executor& executor, uint32_t index) {
  const mxc_buffer& buffer = executor.buffers()[index];
  if (buffer.gaps != 0) return std::nullopt;
  const auto found = FirstNonFinite(
      buffer.dtype, {executor.BufferStorage(index), buffer.bytes});
  if (!found) return std::nullopt;
  return found->value;
}

// Keeps the states while a run writes to them.
class StatesAside {
 public:
  explicit StatesAside(Executor& executor) : executor_(executor) {
    for (size_t row = 0; row < count(); ++row) {
      const auto state = executor_.State(row);
      copies_.emplace_back(state.begin(), state.end());
    }
  }
  ~StatesAside() {
    for (size_t row = 0; row < count(); ++row) {
      std::memcpy(executor_.State(row).data(), copies_[row].data(),
                  copies_[row].size());
    }
  }
  StatesAside(const StatesAside&) = delete;
  StatesAside& operator=(const StatesAside&) = delete;

 private:
  size_t count() const { return executor_.model().tables().states().size(); }

  Executor& executor_;
  std::vector<std::vector<std::byte>> copies_;
};

}  // namespace

std::optional<NonFiniteElement> FirstNonFinite(uint8_t dtype, Bytes values) {
  switch (dtype) {
    case kF32:
      return FirstIn<uint32_t, 23>(values);
    case kF64:
      return FirstIn<uint64_t, 52>(values);
    case kF16:
      return FirstIn<uint16_t, 10>(values);
    case kBf16:
      return FirstIn<uint16_t, 7>(values);
    default:
      return std::nullopt;  // integers
  }
}

StatusOr<std::optional<NonFinite>> FindNonFinite(Executor& executor) {
  const Tables& tables = executor.model().tables();
  std::optional<NonFinite> found;
  const auto look = [&](uint32_t buffer, std::optional<size_t> step) {
    if (const auto value = FirstInBuffer(executor, buffer)) {
      found = NonFinite{step, buffer, *value};
    }
    return !found;
  };
  for (uint32_t i = 0; i < executor.buffers().size(); ++i) {
    const uint8_t kind = executor.buffers()[i].kind;
    if (kind != MXC_BUFFER_INPUT && kind != MXC_BUFFER_STATE) continue;
    if (!look(i, std::nullopt)) return found;
  }
  const StatesAside aside(executor);
  const auto steps = tables.Steps(executor.entry());
  const Status status = executor.RunStepwise([&](size_t step) {
    const auto operands = tables.Operands(steps[step]);
    for (const uint32_t operand : operands.subspan(steps[step].input_count)) {
      if (!look(operand, step)) return false;
    }
    return true;
  });
  if (!status.ok()) return status;
  return found;
}

}  // namespace mxc::runtime
