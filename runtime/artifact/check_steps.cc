// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "runtime/abi/collective.h"
#include "runtime/artifact/tables_check.h"
#include "runtime/base/element.h"

namespace mxc::runtime {
namespace {

// Repeats and branches within each other. Networks' files cannot nest so many,
// and whoever walks the steps around a step, or the windows of windows, walks so
// many at most.
constexpr size_t kDeepest = 128;

constexpr uint8_t kRepeatFlags = MXC_REPEAT_COUNT | MXC_REPEAT_CONDITION |
                                 MXC_REPEAT_TEST_FIRST | MXC_REPEAT_LAST;

// Blocks, or threads of one.
bool IsPossible(const uint32_t (&axes)[3]) {
  const auto plane = Multiply(axes[0], axes[1]);
  const auto all = plane ? Multiply(*plane, axes[2]) : std::nullopt;
  return all && *all <= kMostAmount;
}

}  // namespace

// Blocks lie within the entry and within each other, and each wait in the block
// of its start, behind it.
Status TablesCheck::Blocks(const mxc_entry& entry, const std::string& place) {
  const auto steps = tables_.Steps(entry);
  struct Block {
    uint64_t first, end;
  };
  std::vector<Block> open = {{0, steps.size()}};
  std::vector<uint64_t> blocks;  // by step, the first one of its block
  waits_.assign(steps.size(), 0);
  for (uint64_t row = 0; row < steps.size(); ++row) {
    while (open.back().end == row) open.pop_back();
    blocks.push_back(open.back().first);
    const mxc_step& step = steps[row];
    const std::string where = Format("%s, step %llu", place.c_str(),
                                     static_cast<unsigned long long>(row));
    const uint64_t body = row + 1 + step.body, end = body + step.other;
    MXC_REQUIRE(end <= open.back().end, where,
                "its block leaves the one around it");
    if (step.kind == MXC_STEP_WAIT) {
      MXC_REQUIRE(step.after < row &&
                      steps[step.after].kind == MXC_STEP_START &&
                      blocks[step.after] == blocks[row],
                  where, "waits for no start of its block");
      ++waits_[step.after];
    }
    if (end == row + 1) continue;
    open.push_back({body, end});
    open.push_back({row + 1, body});
    MXC_REQUIRE(open.size() <= 2 * kDeepest, where, "is nested too deep");
  }
  return {};
}

Status TablesCheck::Step(const mxc_entry& entry, uint32_t row,
                         const std::string& place) {
  const mxc_step& step = tables_.Steps(entry)[row];
  MXC_REQUIRE(IsPossible(step.launch.grid) && IsPossible(step.launch.block),
              place, "is launched with an impossible grid or block");
  MXC_REQUIRE(step.input_count <= step.operands.count, place,
              "more inputs than operands");
  MXC_RT_RETURN_IF_ERROR(Operands(entry, row, place));
  MXC_RT_RETURN_IF_ERROR(Places(entry, step, place));
  switch (step.kind) {
    case MXC_STEP_KERNEL:
      return Kernel(entry, step, place);
    case MXC_STEP_REPEAT:
      return Repeat(entry, step, place);
    case MXC_STEP_BRANCH:
      return Branch(entry, step, place);
    case MXC_STEP_CALL:
      return Call(entry, step, place);
    case MXC_STEP_COPY:
      return Copy(entry, step, place);
    case MXC_STEP_START:
      return Start(entry, row, place);
    case MXC_STEP_WAIT:
      return Wait(step, place);
    case MXC_STEP_COLLECTIVE:
      return Collective(entry, step, place);
    default:
      return Corrupt(place, "unknown kind");
  }
}

Status TablesCheck::Kernel(const mxc_entry& entry, const mxc_step& step,
                           const std::string& place) {
  MXC_REQUIRE((step.flags & ~MXC_KERNEL_EVEN) == 0, place, "unknown flags");
  MXC_REQUIRE(step.tasks == 0 || step.kernel < tables_.header_->kernel_count,
              place, "no such kernel");
  MXC_REQUIRE(step.scratch_bytes <= entry.scratch_bytes, place,
              "more scratch than its entry has");
  const bool launched = step.launch.grid[0] > 0 && step.launch.grid[1] > 0 &&
                        step.launch.grid[2] > 0 && step.launch.block[0] > 0 &&
                        step.launch.block[1] > 0 && step.launch.block[2] > 0;
  MXC_REQUIRE(OnHost() || step.tasks == 0 || launched ||
                  entry.kind == MXC_ENTRY_PREPARE,
              place, "is launched without a grid or a block");
  MXC_REQUIRE(step.body == 0 && step.other == 0, place,
              "a kernel with a block of steps");
  return LibraryTask(entry, step, place);
}

Status TablesCheck::Repeat(const mxc_entry& entry, const mxc_step& step,
                           const std::string& place) {
  MXC_REQUIRE((step.flags & ~kRepeatFlags) == 0, place, "unknown flags");
  MXC_REQUIRE(step.tasks == 0 && step.body > 0 && step.other == 0, place,
              "a repeat without a body of steps");
  const bool counts = (step.flags & MXC_REPEAT_COUNT) != 0;
  const bool asks = (step.flags & MXC_REPEAT_CONDITION) != 0;
  MXC_REQUIRE(asks || (step.flags & MXC_REPEAT_TEST_FIRST) == 0, place,
              "tests a condition that it has not");
  MXC_REQUIRE(counts || (step.flags & MXC_REPEAT_LAST) == 0, place,
              "takes the last of turns that it does not count");
  MXC_REQUIRE(step.operands.count == uint32_t{counts} + uint32_t{asks} &&
                  step.input_count == step.operands.count,
              place, "its operands are not those of its flags");
  for (size_t k = 0; k < step.operands.count; ++k) {
    MXC_REQUIRE(IsScalar(entry, step, k), place,
                "a count or condition of other than one element");
  }
  if (!counts) return {};
  const auto type = static_cast<ElementType>(
      tables_.Buffers(entry)[tables_.Operands(step)[0]].dtype);
  MXC_REQUIRE(type == ElementType::kI32 || type == ElementType::kI64, place,
              "a count that is no i32 or i64");
  return {};
}

Status TablesCheck::Branch(const mxc_entry& entry, const mxc_step& step,
                           const std::string& place) {
  MXC_REQUIRE(step.flags == 0, place, "unknown flags");
  MXC_REQUIRE(step.tasks == 0 && step.operands.count == 1 &&
                  step.input_count == 1 && IsScalar(entry, step, 0),
              place, "a branch without a condition of one element");
  return {};
}

Status TablesCheck::Call(const mxc_entry& entry, const mxc_step& step,
                         const std::string& place) {
  MXC_REQUIRE((step.flags & ~MXC_CALL_WORKSPACE) == 0, place, "unknown flags");
  MXC_REQUIRE(step.tasks == 0 && step.body == 0 && step.other == 0, place,
              "a call with tasks or a block of steps");
  MXC_REQUIRE(step.kernel < tables_.imports_.size(), place, "no such import");
  const auto buffers = tables_.Buffers(entry);
  const auto operands = tables_.Operands(step);
  for (const uint32_t operand : operands) {
    MXC_REQUIRE(DenseBytes(buffers[operand]) == buffers[operand].bytes, place,
                "an operand of a call that is not dense");
  }
  if ((step.flags & MXC_CALL_WORKSPACE) == 0) return {};
  MXC_REQUIRE(step.input_count < operands.size(), place,
              "a call without its workspace");
  const mxc_buffer& workspace = buffers[operands.back()];
  MXC_REQUIRE(workspace.kind == MXC_BUFFER_INTERNAL &&
                  static_cast<ElementType>(workspace.dtype) == ElementType::kU8,
              place, "a workspace that is no u8 in the arena");
  return {};
}

// Of tensors, each with what becomes of it.
Status TablesCheck::Collective(const mxc_entry& entry, const mxc_step& step,
                               const std::string& place) {
  MXC_REQUIRE(
      step.tasks == 0 && step.flags == 0 && step.body == 0 && step.other == 0,
      place, "a collective with tasks, flags or a block of steps");
  const CollectiveFacts* facts = FindCollective(tables_.Text(step.kernel_name));
  MXC_REQUIRE(facts != nullptr, place, "unknown collective");
  const auto buffers = tables_.Buffers(entry);
  const auto operands = tables_.Operands(step);
  const bool one_way = facts->gives == CollectiveGives::kOneWay;
  const bool is_for_host = OnHost();
  MXC_REQUIRE(operands.size() ==
                  (one_way ? 1 : uint64_t{step.input_count}) + step.input_count,
              place, "tensors without what becomes of them");
  for (const uint32_t operand : operands) {
    MXC_REQUIRE(DenseBytes(buffers[operand]) == buffers[operand].bytes, place,
                "an operand of a collective that is not dense");
    MXC_REQUIRE(
        !one_way || is_for_host || buffers[operand].place == MXC_PLACE_HOST,
        place, "what goes one way and is not on the host");
  }
  if (one_way) return {};
  for (uint32_t i = 0; i < step.input_count; ++i) {
    const mxc_buffer& from = buffers[operands[i]];
    const mxc_buffer& to = buffers[operands[step.input_count + i]];
    MXC_REQUIRE(
        from.dtype == to.dtype && IsGiven(facts->gives, from.bytes, to.bytes,
                                          static_cast<uint64_t>(step.turns)),
        place, "a collective of another type or size");
    MXC_REQUIRE(!facts->adds || IsFloat(static_cast<ElementType>(from.dtype)),
                place, "a sum of what is no float");
  }
  return {};
}

Status TablesCheck::Copy(const mxc_entry& entry, const mxc_step& step,
                         const std::string& place) {
  MXC_REQUIRE(
      step.tasks == 0 && step.flags == 0 && step.body == 0 && step.other == 0,
      place, "a copy with tasks, flags or a block of steps");
  MXC_REQUIRE(step.operands.count == 2 && step.input_count == 1, place,
              "a copy that is not of one buffer to another");
  const auto buffers = tables_.Buffers(entry);
  const auto operands = tables_.Operands(step);
  const mxc_buffer &from = buffers[operands[0]], &to = buffers[operands[1]];
  MXC_REQUIRE(from.bytes == to.bytes && from.gaps == 0 && to.gaps == 0, place,
              "a copy between buffers of other sizes or with gaps");
  return {};
}

// It is followed by one wait, in its block.
Status TablesCheck::Start(const mxc_entry& entry, uint32_t row,
                          const std::string& place) {
  const auto steps = tables_.Steps(entry);
  const mxc_step& step = steps[row];
  MXC_REQUIRE(step.tasks == 0 && step.flags == 0 && step.body > 0 &&
                  step.other == 0 && step.operands.count == 0,
              place, "a start without steps, or with more than steps");
  const uint64_t end = uint64_t{row} + 1 + step.body;
  for (uint64_t inner = row + 1; inner < end; ++inner) {
    MXC_REQUIRE(steps[inner].kind == MXC_STEP_KERNEL ||
                    steps[inner].kind == MXC_STEP_COPY,
                place, "starts other steps than kernels and copies");
  }
  MXC_REQUIRE(waits_[row] == 1, place, "is not waited for once in its block");
  return {};
}

Status TablesCheck::Wait(const mxc_step& step, const std::string& place) {
  MXC_REQUIRE(
      step.tasks == 0 && step.flags == 0 && step.body == 0 && step.other == 0,
      place, "a wait with tasks, flags or a block of steps");
  return {};
}

// Where operands lie: a copy's anywhere, those of the host's calls there, and
// kernels' on the device.
Status TablesCheck::Places(const mxc_entry& entry, const mxc_step& step,
                           const std::string& place) {
  const bool calls = step.kind == MXC_STEP_CALL;
  MXC_REQUIRE(
      step.place == MXC_PLACE_DEVICE || (step.place == MXC_PLACE_HOST && calls),
      place, "unknown place");
  MXC_REQUIRE(!calls || OnHost() || step.place == MXC_PLACE_HOST, place,
              "calls a function of the host on a device");
  if (step.kind == MXC_STEP_COPY || step.kind == MXC_STEP_WAIT) return {};
  for (const uint32_t operand : tables_.Operands(step)) {
    MXC_REQUIRE(tables_.Buffers(entry)[operand].place == step.place, place,
                "an operand lies in another place");
  }
  return {};
}

bool TablesCheck::IsScalar(const mxc_entry& entry, const mxc_step& step,
                           size_t k) const {
  const mxc_buffer& buffer = tables_.Buffers(entry)[tables_.Operands(step)[k]];
  return DenseBytes(buffer) == ElementSize(buffer.dtype);
}

Status TablesCheck::Operands(const mxc_entry& entry, uint32_t row,
                             const std::string& place) {
  const auto buffers = tables_.Buffers(entry);
  const auto steps = tables_.Steps(entry);
  const auto operands = tables_.Operands(steps[row]);
  for (size_t i = 0; i < operands.size(); ++i) {
    MXC_REQUIRE(operands[i] < buffers.size(), place, "no such operand");
    if (const mxc_buffer* window = WindowOf(entry, operands[i])) {
      MXC_REQUIRE(window->period == 0 ? InBody(steps, window->loop, row)
                                      : row >= window->loop,
                  place, "uses a window outside of its repeat");
    }
    const bool view =
        steps[row].kind == MXC_STEP_WAIT ||
        (steps[row].kind == MXC_STEP_KERNEL && steps[row].tasks == 0);
    if (i < steps[row].input_count || view) continue;
    const uint8_t kind = buffers[tables_.Base(entry, operands[i])].kind;
    MXC_REQUIRE(kind != MXC_BUFFER_INPUT && kind != MXC_BUFFER_WEIGHT &&
                    kind != MXC_BUFFER_PREPARED,
                place, "writes to an input or a weight");
  }
  return {};
}

const mxc_buffer* TablesCheck::WindowOf(const mxc_entry& entry,
                                        uint32_t buffer) const {
  const auto buffers = tables_.Buffers(entry);
  const mxc_buffer& row = buffers[buffer];
  const mxc_buffer& root =
      row.kind == MXC_BUFFER_ALIAS ? buffers[row.root] : row;
  return root.kind == MXC_BUFFER_WINDOW ? &root : nullptr;
}

}  // namespace mxc::runtime
