// SPDX-License-Identifier: Apache-2.0
// Programs of arrays: each call is pushed to an engine, and returns before it has
// run. What is wrong with a call's types is said at once; what goes wrong in a
// run where the value is asked for.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/base/status.h"
#include "runtime/engine/engine.h"
#include "runtime/ndarray/array.h"
#include "runtime/ndarray/loops.h"
#include "runtime/ndarray/operator_call.h"
#include "runtime/ndarray/program.h"

namespace mxc::runtime {

class Imperative {
 public:
  // The process' own, made when it is first asked for: as many threads as the
  // process may use, naive where the environment has MXC_ENGINE=naive.
  static Imperative& Get();

  explicit Imperative(const EngineOptions& options)
      : is_naive_(options.is_naive), engine_(options), loops_(engine_, team_) {}
  ~Imperative() { loops_.SettleAll(); }

  // Compiled as the threads' loops are, from now on; not in the naive engine.
  void CompileLoops(std::unique_ptr<const SequenceCompiler> compiler) {
    if (!is_naive_) loops_.SetCompiler(std::move(compiler));
  }
  Loops& loops() { return loops_; }
  // What the calls of all operators share.
  SharedTeam& team() { return team_; }

  // `outputs`: for the first of the visible outputs; those without a chunk are
  // made, those that are missing are computed and dropped. Inputs that the
  // operator updates (an optimizer's moments) are written, too.
  Status Call(const std::shared_ptr<CallableOperator>& op, ArrayRefs inputs,
              std::span<NDArray* const> outputs, bool training);
  // The same for a call that is recorded, as the operator says of these inputs;
  // `outputs`: all of RecordedForm::outputs.
  Status CallRecorded(const std::shared_ptr<CallableOperator>& op,
                      const RecordedCall& recorded, ArrayRefs inputs,
                      std::span<NDArray* const> outputs);
  // One run. `outputs` as in Call.
  Status Call(const std::shared_ptr<ArrayProgram>& program, ArrayRefs inputs,
              std::span<NDArray* const> outputs);

  // The elements, dense and row-major, to and from the host.
  Status Read(const NDArray& array, void* values, uint64_t bytes);
  Status Write(const NDArray& array, const void* values, uint64_t bytes);
  // Until the array has its value; what went wrong on the way to it.
  Status Wait(const NDArray& array);
  // Until nothing is left to do (Engine::WaitForAll).
  Status WaitForAll();
  // Until nothing runs that writes the array, or, for who writes it, that uses it.
  Status WaitToTouch(const NDArray& array, bool writes);
  // `to` becomes `from`, of the same type.
  Status Copy(const NDArray& from, const NDArray& to);

  // In its turn, the array has no value: who asks for it is told the sentence.
  void SetFailure(const NDArray& array, std::string sentence);

  // What operators draw from now on follows from the seed and their order.
  void Seed(uint64_t seed);

 private:
  // `outputs`: visible ones, then hidden ones.
  Status Run(const std::shared_ptr<CallableOperator>& op,
             const CompiledCallPtr& compiled, ArrayRefs inputs,
             std::span<NDArray* const> outputs);
  Status Transfer(const NDArray& array, Access access, uint64_t bytes,
                  const std::function<void()>& copy);

  const bool is_naive_;
  SharedTeam team_;
  std::atomic<uint64_t> seed_{0}, draws_{0};
  Engine engine_;  // ends before these: what it runs uses them
  Loops loops_;
};

}  // namespace mxc::runtime
