// SPDX-License-Identifier: Apache-2.0
#include "tools/verify/cut_length.h"

#include <algorithm>
#include <cstring>

namespace mxc {

std::optional<CutLength> CutLength::Of(const Program& program,
                                       const Inputs& inputs) {
  for (const int b : program.BuffersOf(BufferKind::kInput)) {
    const Buffer& buffer = program.buffers[b];
    if (buffer.use.role != TensorRole::kLength) continue;
    const auto length = static_cast<int64_t>(inputs.at(buffer.name).At(0));
    return CutLength(program, inputs, length);
  }
  return std::nullopt;
}

Tensor CutLength::Cut(const Tensor& whole, const TensorUse& use) const {
  if (use.open_axis < 0) return whole;
  const int64_t most = program_.entry.length;
  TensorType type = whole.type();
  const int64_t runs = SequencesIn(use, type.shape, most);
  int64_t& extent = type.shape[use.open_axis];
  extent = extent / most * length_;
  std::byte* to = nullptr;
  Tensor cut = Tensor::Allocate(type, &to);
  const int64_t from_bytes = whole.size_bytes() / runs;
  const int64_t to_bytes = cut.size_bytes() / runs;
  for (int64_t run = 0; run < runs; ++run) {
    std::memcpy(to + run * to_bytes, whole.bytes() + run * from_bytes,
                static_cast<size_t>(to_bytes));
  }
  return cut;
}

CompileRequest CutLength::Request(CompileRequest open) const {
  open.buckets.clear();
  for (const auto& [name, tensor] : CutInputs()) {
    open.input_shapes[name] = tensor.shape().dims();
  }
  return open;
}

Inputs CutLength::CutInputs() const {
  Inputs cut;
  for (const int b : program_.BuffersOf(BufferKind::kInput)) {
    const Buffer& buffer = program_.buffers[b];
    if (buffer.use.role == TensorRole::kLength) continue;
    cut[buffer.name] = Cut(inputs_.at(buffer.name), buffer.use);
  }
  return cut;
}

std::vector<Tensor> CutLength::CutOutputs(
    const std::vector<Tensor>& outputs) const {
  std::vector<Tensor> cut;
  for (const int b : program_.BuffersOf(BufferKind::kOutput)) {
    cut.push_back(Cut(outputs[cut.size()], program_.buffers[b].use));
  }
  return cut;
}

}  // namespace mxc
