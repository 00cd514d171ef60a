// SPDX-License-Identifier: Apache-2.0
// What is called: operators, networks, gradients. Compiled when they are first
// called for operands of new types, and kept.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "runtime/base/status.h"
#include "runtime/ndarray/array.h"
#include "runtime/ndarray/compiled_call.h"

namespace mxc::runtime {

// What a compiler keeps of a call, of which it makes gradients; nothing that the
// runtime looks into.
class GradientSource {
 public:
  virtual ~GradientSource() = default;
};

// A value of a call that its gradient reads.
struct SavedValue {
  enum class From : uint8_t { kInput, kOutput };
  From from = From::kInput;
  uint32_t index = 0;  // of an output: among RecordedForm::outputs
};

// A call as something that has a gradient.
struct RecordedForm {
  std::vector<ArrayType> outputs;  // the visible ones, then the hidden ones
  size_t visible_outputs = 0;
  std::vector<SavedValue> saved;
  std::shared_ptr<const GradientSource> source;
};

// Makes an operator, a network or a gradient into code; the only thing that a
// program of arrays needs a compiler for. Any thread, one at a time.
class OperatorCompiler {
 public:
  virtual ~OperatorCompiler() = default;
  // `recorded`: of the same operands; its hidden outputs are computed, too. Null:
  // there are none.
  virtual StatusOr<CompiledOperator> Compile(
      std::span<const ArrayType> inputs, bool training,
      const GradientSource* recorded) const = 0;
  virtual StatusOr<RecordedForm> Record(std::span<const ArrayType> inputs,
                                        bool training) const = 0;
};

// What records of calls of the same operator, types and mode have in common.
struct RecordedCall {
  const std::string text;  // "broadcast_add(float32[2,3], float32[3])"
  const std::vector<ArrayType> inputs;
  const bool training;
  const RecordedForm form;
  const uint64_t number;  // its own in this process
};

// An operator and its attributes, or whatever else can be called.
class CallableOperator {
 public:
  CallableOperator(std::string name, std::unique_ptr<OperatorCompiler> compiler)
      : name_(std::move(name)), compiler_(std::move(compiler)) {}

  const std::string& name() const { return name_; }
  const OperatorCompiler& compiler() const { return *compiler_; }
  // "broadcast_add(float32[2,3], float32[3])"
  std::string Text(std::span<const ArrayType> inputs) const;

  // Each of these is made by the first caller; others that ask at the same time
  // wait. They live as long as the operator.
  StatusOr<CompiledCall*> For(ArrayRefs inputs, bool training,
                              SharedTeam& team);
  // With the hidden outputs of `recorded`, of the same operands.
  StatusOr<CompiledCall*> For(const RecordedCall& recorded, SharedTeam& team);
  StatusOr<std::shared_ptr<const RecordedCall>> Recorded(ArrayRefs inputs,
                                                         bool training);

 private:
  struct Key {
    std::vector<ArrayType> inputs;
    bool training = false;
    friend bool operator==(const Key&, const Key&) = default;
    bool IsOf(ArrayRefs arrays, bool in_training) const;
  };
  struct KeyHash {
    size_t operator()(const Key& key) const;
  };
  struct Made {
    std::shared_ptr<CompiledCall> call;       // null: not yet
    std::shared_ptr<CompiledCall> recording;  // the same
    std::shared_ptr<const RecordedCall> recorded;
  };
  using Table = std::unordered_map<Key, Made, KeyHash>;

  // Under the lock.
  Table::value_type& Find(ArrayRefs inputs, bool training);
  StatusOr<std::shared_ptr<CompiledCall>> Compile(
      const Key& key, std::shared_ptr<const GradientSource> recorded,
      SharedTeam& team) const;

  const std::string name_;
  const std::unique_ptr<OperatorCompiler> compiler_;
  std::mutex mutex_;
  Table made_;  // only grows, and keeps its elements where they are
  // What the last caller had, which the next one has most of the time; its call,
  // or what it has recorded, is there.
  std::atomic<const Table::value_type*> last_call_{nullptr};
  std::atomic<const Table::value_type*> last_recorded_{nullptr};
};

}  // namespace mxc::runtime
