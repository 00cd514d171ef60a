// SPDX-License-Identifier: Apache-2.0
// Operators that are called one by one: compiled when they are first called for
// operands of new types, and kept.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "runtime/base/status.h"
#include "runtime/ndarray/array.h"
#include "runtime/ndarray/compiled_call.h"

namespace mxc::runtime {

// Makes an operator with attributes into code; the only thing that a program of
// arrays needs a compiler for. May be called by several threads at once.
class OperatorCompiler {
 public:
  virtual ~OperatorCompiler() = default;
  virtual StatusOr<CompiledOperator> Compile(std::span<const ArrayType> inputs,
                                             bool training) const = 0;
};

// An operator and its attributes.
class CallableOperator {
 public:
  CallableOperator(std::string name, std::unique_ptr<OperatorCompiler> compiler)
      : name_(std::move(name)), compiler_(std::move(compiler)) {}

  const std::string& name() const { return name_; }
  // "broadcast_add(float32[2,3], float32[3])"
  std::string Text(std::span<const ArrayType> inputs) const;
  // Compiled by the first caller; others that ask at the same time wait.
  StatusOr<std::shared_ptr<CompiledCall>> For(std::span<const Array> inputs,
                                              bool training, SharedTeam& team);

 private:
  struct Key {
    std::vector<ArrayType> inputs;
    bool training = false;
    friend bool operator==(const Key&, const Key&) = default;
    bool IsOf(std::span<const Array> arrays, bool in_training) const;
  };
  struct KeyHash {
    size_t operator()(const Key& key) const;
  };
  using Compiled =
      std::unordered_map<Key, std::shared_ptr<CompiledCall>, KeyHash>;

  const std::string name_;
  const std::unique_ptr<OperatorCompiler> compiler_;
  std::mutex mutex_;
  Compiled compiled_;
  // What the last caller had, which the next one has most of the time; the map
  // only grows, and keeps its elements where they are.
  const Compiled::value_type* last_ = nullptr;
};

std::vector<ArrayType> TypesOf(std::span<const Array> arrays);

}  // namespace mxc::runtime
