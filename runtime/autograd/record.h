// SPDX-License-Identifier: Apache-2.0
// What was recorded: how values came about, as far as gradients ask.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "runtime/base/status.h"
#include "runtime/ndarray/array.h"
#include "runtime/ndarray/operator_call.h"

namespace mxc::runtime {

class Record;

// The value that an array has: an output of a record. Empty: a constant.
struct Origin {
  std::shared_ptr<Record> record;
  uint32_t output = 0;

  // Returns whether a gradient can go there: it is no constant, and what was
  // recorded is still there.
  bool IsLive() const;
};

struct TrackedArray {
  NDArray array;
  Origin origin;
};

// What a backward call does with a variable's gradient; MXNet's numbers.
enum class GradientRequest { kNull = 0, kWrite = 1, kAdd = 3 };

// A variable.
struct Leaf {
  ArrayType type;
  NDArray gradient;
  GradientRequest request = GradientRequest::kWrite;
  // A backward call has computed its gradient since somebody said otherwise.
  bool is_fresh = false;
};

// A value that a gradient may read, and how often its memory had been written.
struct KeptValue {
  explicit KeptValue(const NDArray& kept)
      : array(kept), writes(kept.chunk()->writes()) {}
  bool IsOverwritten() const { return array.chunk()->writes() != writes; }

  NDArray array;
  uint64_t writes;
};

struct RecordedRun {
  std::shared_ptr<const RecordedCall> call;
  std::vector<KeptValue> kept;  // as the call's form says
};

// A gradient of the user's own.
class UserGradient {
 public:
  virtual ~UserGradient() = default;
  // Of each input; empty: there is none. `heads`: of each output.
  virtual Status Gradients(
      std::span<const TrackedArray> heads,
      std::vector<std::optional<TrackedArray>>& gradients) = 0;
};

struct RecordedFunction {
  std::vector<ArrayType> inputs, outputs;
  std::shared_ptr<UserGradient> gradient;
};

// For one thread at a time, like the arrays that it is of.
class Record {
 public:
  using What = std::variant<Leaf, RecordedRun, RecordedFunction>;

  Record(What what, std::vector<Origin> inputs)
      : number_(NextNumber()),
        what_(std::move(what)),
        inputs_(std::move(inputs)) {}
  Record(const Record&) = delete;
  Record& operator=(const Record&) = delete;
  // Chains of any length end without recursion.
  ~Record();

  // Greater than those of the records that it reads.
  uint64_t number() const { return number_; }
  const What& what() const { return what_; }
  const std::vector<Origin>& inputs() const { return inputs_; }
  const ArrayType& type(uint32_t output) const;
  const Leaf* leaf() const { return std::get_if<Leaf>(&what_); }
  Leaf* leaf() { return std::get_if<Leaf>(&what_); }
  const RecordedRun* run() const { return std::get_if<RecordedRun>(&what_); }
  const RecordedFunction* function() const {
    return std::get_if<RecordedFunction>(&what_);
  }

  std::vector<Origin> TakeInputs() { return std::exchange(inputs_, {}); }

  // Gives up all but what it says of itself. Variables stay as they are.
  void Release();
  bool is_released() const { return is_released_; }

 private:
  static uint64_t NextNumber();

  const uint64_t number_;
  What what_;
  std::vector<Origin> inputs_;
  bool is_released_ = false;
};

inline bool Origin::IsLive() const {
  return record != nullptr && !record->is_released();
}

}  // namespace mxc::runtime
