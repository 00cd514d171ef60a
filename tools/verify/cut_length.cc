// SPDX-License-Identifier: Apache-2.0
#include "tools/verify/cut_length.h"

#include "runtime/base/counted_bytes.h"

namespace mxc {

std::optional<CutLength> CutLength::Of(const Program& program,
                                       const Inputs& inputs) {
  Lengths lengths;
  for (const int b : program.BuffersOf(BufferKind::kInput)) {
    const Buffer& buffer = program.buffers[b];
    if (buffer.use.role != TensorRole::kLength) continue;
    lengths[buffer.use.of] = static_cast<int64_t>(inputs.at(buffer.name).At(0));
  }
  if (lengths.empty()) return std::nullopt;
  return CutLength(program, inputs, std::move(lengths));
}

Tensor CutLength::Cut(const Tensor& whole, const TensorUse& use) const {
  if (use.open.empty()) return whole;
  TensorType type = whole.type();
  std::vector<runtime::CountedAxis> axes;
  for (const LengthAxis& open : use.open) {
    const int64_t most = program_.entry.lengths.at(open.length);
    const int64_t length = lengths_.at(open.length);
    axes.push_back({open.axis, open.inner, most, length});
    int64_t& extent = type.shape[open.axis];
    extent = extent / most * length;
  }
  std::byte* to = nullptr;
  Tensor cut = Tensor::Allocate(type, &to);
  const runtime::CountedBytes bytes(
      whole.shape().dims(), axes,
      static_cast<size_t>(whole.size_bytes() / whole.shape().elements()));
  bytes.Gather(whole.bytes(), to);
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
