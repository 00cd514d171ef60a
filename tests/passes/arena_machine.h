// SPDX-License-Identifier: Apache-2.0
// Executes planned programs in one real arena: values lie where layouts and
// offsets say, everything else is poison. A plan that lets two live values
// meet, or an alias that destroys what is needed, shows in the numbers.
#pragma once

#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "ir/program/in_place.h"
#include "ir/program/interpreter.h"
#include "ir/program/program.h"
#include "tests/support/positions.h"

namespace mxc {

class ArenaMachine {
 public:
  ArenaMachine(const Program& program,
               const std::map<std::string, Tensor>& inputs)
      : program_(program),
        live_(LiveRanges(program)),
        memory_(program.buffers.size()) {
    for (const ProgramPlace& place : program.places) {
      arenas_.emplace_back(static_cast<size_t>(place.arena_bytes), kPoison);
    }
    for (size_t i = 0; i < program.buffers.size(); ++i) {
      const Buffer& b = program.buffers[i];
      if (b.kind == BufferKind::kInternal) continue;
      memory_[i].assign(static_cast<size_t>(b.bytes()), kPoison);
      const int buffer = static_cast<int>(i);
      if (b.kind == BufferKind::kConstant) Write(buffer, b.constant);
      if (b.kind == BufferKind::kInput) Write(buffer, inputs.at(b.name));
      if (b.kind == BufferKind::kState) {
        Write(buffer,
              b.constant.empty() ? Tensor::Filled(b.type, 0) : b.constant);
      }
    }
  }

  // The states as the last run left them.
  Tensor State(const std::string& name) {
    for (const int b : program_.BuffersOf(BufferKind::kState)) {
      if (program_.buffers[b].name == name) return Read(b);
    }
    MXC_CHECK(false, "no state '{}'", name);
  }

  std::vector<Tensor> Run() {
    for (size_t s = 0; s < program_.steps.size(); ++s) {
      const Step& step = program_.steps[s];
      std::vector<Tensor> operands;
      for (const int b : step.inputs) operands.push_back(Read(b));
      const auto results = InterpretStep(program_, step, operands);
      for (size_t i = 0; i < results.size(); ++i) {
        if (!IsInPlace(program_, step)) Write(step.outputs[i], results[i]);
      }
      PoisonDead(static_cast<int>(s));
    }
    std::vector<Tensor> outputs;
    for (const int b : program_.BuffersOf(BufferKind::kOutput)) {
      outputs.push_back(Read(b));
    }
    return outputs;
  }

 private:
  static constexpr unsigned char kPoison = 0xff;  // a NaN in every float type

  unsigned char* Bytes(int buffer) {
    const int root = program_.Root(buffer);
    const int64_t begin = program_.BytesIntoRoot(buffer);
    if (program_.buffers[root].kind == BufferKind::kInternal) {
      const auto place = static_cast<size_t>(program_.buffers[root].place);
      return arenas_[place].data() + program_.buffers[root].offset + begin;
    }
    return memory_[root].data() + begin;
  }

  template <class F>
  void ForEach(const Shape& shape, F f) {
    Extents index(shape.dims().size(), 0);
    for (int64_t i = 0; i < shape.elements(); ++i) {
      f(i, index);
      for (size_t axis = index.size(); axis-- > 0;) {
        if (++index[axis] < shape.dims()[axis]) break;
        index[axis] = 0;
      }
    }
  }

  Tensor Read(int buffer) {
    const Buffer& b = program_.buffers[buffer];
    const int64_t size = SizeOf(b.type.dtype);
    std::byte* out = nullptr;
    Tensor tensor = Tensor::Allocate(b.type, &out);
    ForEach(b.type.shape, [&](int64_t i, const Extents& index) {
      std::memcpy(out + i * size, Bytes(buffer) + b.layout.Offset(index) * size,
                  static_cast<size_t>(size));
    });
    return tensor;
  }

  void Write(int buffer, const Tensor& tensor) {
    const Buffer& b = program_.buffers[buffer];
    const int64_t size = SizeOf(b.type.dtype);
    // Its border and what fills up its blocks; not what lies in its gaps.
    test::ForEachPosition(b.layout, [&](int64_t at, const Extents&) {
      std::memset(Bytes(buffer) + at * size, 0, static_cast<size_t>(size));
    });
    ForEach(b.type.shape, [&](int64_t i, const Extents& index) {
      std::memcpy(Bytes(buffer) + b.layout.Offset(index) * size,
                  tensor.bytes() + i * size, static_cast<size_t>(size));
    });
  }

  void PoisonDead(int step) {
    for (size_t i = 0; i < live_.size(); ++i) {
      if (live_[i].last != step) continue;
      std::memset(Bytes(static_cast<int>(i)), kPoison,
                  static_cast<size_t>(program_.buffers[i].bytes()));
    }
  }

  const Program& program_;
  const std::vector<LiveRange> live_;
  std::vector<std::vector<unsigned char>> memory_;  // what is not internal
  std::vector<std::vector<unsigned char>> arenas_;  // by place
};

}  // namespace mxc
