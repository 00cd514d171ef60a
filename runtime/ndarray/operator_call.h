// SPDX-License-Identifier: Apache-2.0
// What is called: operators, networks, gradients. Compiled when they are first
// called for operands of new types, and kept as long as they are used (KeptCalls).
#pragma once

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
#include "runtime/ndarray/kept_calls.h"

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
  // wait. The team's KeptCalls keep them.
  StatusOr<CompiledCallPtr> For(ArrayRefs inputs, bool training,
                                SharedTeam& team);
  // With the hidden outputs of `recorded`, of the same operands.
  StatusOr<CompiledCallPtr> For(const RecordedCall& recorded, SharedTeam& team);
  StatusOr<std::shared_ptr<const RecordedCall>> Recorded(ArrayRefs inputs,
                                                         bool training,
                                                         SharedTeam& team);

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
  struct Made final : KeptCalls::Kept {
    explicit Made(Key its_key) : key(std::move(its_key)) {}
    const Key key;
    CompiledCallPtr call;       // null: not yet
    CompiledCallPtr recording;  // the same
    std::shared_ptr<const RecordedCall> recorded;
  };
  using MadePtr = std::shared_ptr<Made>;

  // Under the lock.
  MadePtr Find(ArrayRefs inputs, bool training, KeptCalls& kept);
  MadePtr Find(const RecordedCall& recorded, KeptCalls& kept);
  MadePtr FindInTable(Key key, KeptCalls& kept);
  static CompiledCallPtr PartOf(MadePtr made, CompiledCallPtr Made::* part);
  StatusOr<CompiledCallPtr> Compile(
      const Key& key, std::shared_ptr<const GradientSource> recorded,
      SharedTeam& team) const;

  const std::string name_;
  const std::unique_ptr<OperatorCompiler> compiler_;
  // Who makes something has this one, and takes the other within it to put it where
  // callers find it: they do not wait for what others want.
  std::mutex making_;
  std::mutex mutex_;
  // Of what is gone the keys are left, until there are as many again.
  std::unordered_map<Key, std::weak_ptr<Made>, KeyHash> made_;
  size_t most_made_ = 64;
  // What the last caller had, which the next one has most of the time.
  std::weak_ptr<Made> last_;
};

}  // namespace mxc::runtime
