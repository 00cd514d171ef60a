// SPDX-License-Identifier: Apache-2.0
#include "codegen/artifact/preparation.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "codegen/codegen.h"
#include "ir/program/copy_step.h"
#include "ir/program/memory.h"
#include "runtime/base/checksum.h"

namespace mxc {
namespace {

bool IsTransformed(const Buffer& buffer) {
  return buffer.kind == BufferKind::kConstant && buffer.alias_of < 0 &&
         buffer.layout.basis != KernelBasis::kPlain;
}

// A program that grows by one transformed constant at a time.
class Preparation {
 public:
  explicit Preparation(const std::string& name) { program_.name = name; }

  void Add(const Buffer& constant) {
    Buffer from = constant;
    from.layout = Layout::RowMajor(from.type.shape);
    Buffer to = constant;
    to.name += "/prepared";
    to.kind = BufferKind::kInternal;
    to.constant = {};
    to.offset = bytes_;
    bytes_ += AlignedBytes(to.bytes());
    const auto first = static_cast<int>(program_.buffers.size());
    program_.buffers.push_back(std::move(from));
    program_.buffers.push_back(std::move(to));
    program_.steps.push_back(CopyStep(program_, first, first + 1,
                                      program_.buffers.back().name, {}, {}));
  }

  Program Finish() && {
    program_.entry.purpose = Purpose::kPrepare;
    program_.places[kKernelPlace].arena_bytes = program_.lower_bound_bytes =
        program_.naive_bytes = bytes_;
    return std::move(program_);
  }

 private:
  Program program_;
  int64_t bytes_ = 0;
};

}  // namespace

PreparedConstants::Key PreparedConstants::KeyOf(const Buffer& constant) {
  const Tensor& tensor = constant.constant;
  return {runtime::Checksum(
              {tensor.bytes(), static_cast<size_t>(tensor.size_bytes())}),
          tensor.size_bytes()};
}

void PreparedConstants::Add(const Buffer& constant, const Layout& layout,
                            int64_t offset) {
  rows_.emplace(KeyOf(constant), Row{&constant, &layout, offset});
}

std::optional<int64_t> PreparedConstants::OffsetOf(
    const Buffer& constant) const {
  if (rows_.empty() || !IsTransformed(constant)) return std::nullopt;
  const Tensor& tensor = constant.constant;
  for (auto [it, end] = rows_.equal_range(KeyOf(constant)); it != end; ++it) {
    const Row& row = it->second;
    if (*row.layout == constant.layout &&
        std::memcmp(row.constant->constant.bytes(), tensor.bytes(),
                    static_cast<size_t>(tensor.size_bytes())) == 0) {
      return row.offset;
    }
  }
  return std::nullopt;
}

PreparedConstants PreparedConstants::Of(std::span<const Program> entries) {
  PreparedConstants prepared;
  if (entries.empty() || entries.back().entry.purpose != Purpose::kPrepare) {
    return prepared;
  }
  const Program& program = entries.back();
  for (const Step& step : program.steps) {
    const Buffer& from = program.buffers[step.inputs[0]];
    const Buffer& to = program.buffers[step.outputs[0]];
    prepared.Add(from, to.layout, to.offset);
  }
  prepared.region_bytes_ = program.arena_bytes();
  return prepared;
}

std::optional<Program> MakePreparation(std::span<const Program> entries) {
  Preparation preparation(entries.front().name);
  PreparedConstants seen;
  for (const Program& entry : entries) {
    for (const Buffer& buffer : entry.buffers) {
      if (!IsTransformed(buffer) || seen.OffsetOf(buffer)) continue;
      seen.Add(buffer, buffer.layout, 0);
      preparation.Add(buffer);
    }
  }
  if (seen.empty()) return std::nullopt;
  return std::move(preparation).Finish();
}

}  // namespace mxc
