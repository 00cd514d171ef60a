// SPDX-License-Identifier: Apache-2.0
#include "runtime/executor/non_finite.h"

#include <cmath>
#include <cstring>
#include <vector>

#include "runtime/base/element.h"

namespace mxc::runtime {
namespace {

// A window is looked at as a part of what it lies in, by the step that has all
// of that: what is in its gaps may have yet to be written.
std::optional<double> FirstInBuffer(Executor& executor, uint32_t index) {
  const mxc_buffer& buffer = executor.buffers()[index];
  if (buffer.gaps != 0) return std::nullopt;
  const auto found = FirstNonFinite(buffer.dtype, executor.Peek(index));
  if (!found) return std::nullopt;
  return found->value;
}

// Keeps the states while a run writes to them.
class StatesAside {
 public:
  explicit StatesAside(Executor& executor) : executor_(executor) {
    for (size_t row = 0; row < count(); ++row) {
      copies_.emplace_back(executor_.State(row).size());
      executor_.ReadState(row, copies_.back().data());
    }
  }
  ~StatesAside() {
    for (size_t row = 0; row < count(); ++row) {
      executor_.WriteState(row, copies_[row].data());
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
  const auto type = ElementTypeFromFlag(dtype);
  if (!type || !IsFloat(*type)) return std::nullopt;
  return WithElementOf(
      *type, [&]<class T>(T) -> std::optional<NonFiniteElement> {
        for (size_t i = 0; i < values.size() / sizeof(T); ++i) {
          const double value =
              ValueOf(ReadElement<T>(values.data() + i * sizeof(T)));
          if (!std::isfinite(value)) return {{i, value}};
        }
        return std::nullopt;
      });
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
