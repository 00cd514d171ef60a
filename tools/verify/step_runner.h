// SPDX-License-Identifier: Apache-2.0
// Runs the steps of an artifact's entry one by one, on this thread or on the
// device that it was compiled for, and reads and writes its buffers as plain
// row-major tensors.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "ir/program/program.h"
#include "ir/support/result.h"
#include "runtime/executor/model.h"
#include "runtime/executor/sequencer.h"
#include "runtime/executor/storage.h"

namespace mxc {

class StepRunner {
 public:
  // `program` is what the entry was made from; it gives the layouts.
  static Result<StepRunner> Open(const std::string& artifact, size_t entry,
                                 const Program& program);

  // `buffer` counts the program's buffers.
  Tensor Read(int buffer) const;
  void Write(int buffer, const Tensor& value);

  // Fails if a function of the host does, or the device.
  Status RunStep(int step);
  std::string KernelName(int step) const;

 private:
  StepRunner(std::shared_ptr<const runtime::Model> model, size_t entry,
             const Program& program);

  Status MatchBuffers();
  Status Allocate(const runtime::Device& device);
  void Poison(std::byte* memory, uint64_t bytes) const;
  bool IsOnHost(int buffer) const;
  // As they lie there, from the first to the last element.
  std::vector<std::byte> BytesOf(int buffer) const;

  std::shared_ptr<const runtime::Model> model_;
  const mxc_entry* entry_;
  const Program* program_;
  std::vector<uint32_t> rows_;  // program's buffer → artifact's
  std::vector<size_t> steps_;   // program's step → the artifact's first
  std::shared_ptr<runtime::Storage> storage_;
  std::unique_ptr<runtime::Sequencer> sequencer_;  // in that memory
};

}  // namespace mxc
