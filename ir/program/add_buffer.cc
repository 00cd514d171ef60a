// SPDX-License-Identifier: Apache-2.0
#include "ir/program/add_buffer.h"

#include <utility>

namespace mxc {

int AddBuffer(Program& program, std::string name, TensorType type,
              BufferKind kind) {
  Buffer buffer;
  buffer.name = std::move(name);
  buffer.layout = Layout::RowMajor(type.shape);
  buffer.type = std::move(type);
  buffer.kind = kind;
  program.buffers.push_back(std::move(buffer));
  return static_cast<int>(program.buffers.size()) - 1;
}

}  // namespace mxc
