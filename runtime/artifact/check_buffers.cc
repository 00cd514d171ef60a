// SPDX-License-Identifier: Apache-2.0
#include "runtime/artifact/tables_check.h"
#include "runtime/base/element.h"

#include <algorithm>
#include <set>
#include <string_view>

namespace mxc::runtime {
namespace {

bool SameType(const mxc_buffer& buffer, const mxc_state& state) {
  return buffer.dtype == state.dtype && buffer.rank == state.rank &&
         std::equal(buffer.dims, buffer.dims + buffer.rank, state.dims);
}

}  // namespace

Status TablesCheck::Buffer(const mxc_entry& entry, uint32_t index,
                           const std::string& place) {
  const mxc_buffer& buffer = tables_.Buffers(entry)[index];
  const std::optional<uint64_t> dense = DenseBytes(buffer);
  MXC_REQUIRE(dense && *dense <= buffer.bytes, place, "smaller than its shape");
  const bool rate = buffer.role == MXC_TENSOR_RATE;
  if (rate || buffer.role == MXC_TENSOR_LOSS ||
      buffer.role == MXC_TENSOR_METRIC) {
    const auto type = rate ? ElementType::kF64 : ElementType::kF32;
    MXC_REQUIRE(static_cast<ElementType>(buffer.dtype) == type &&
                    *dense == ElementSize(buffer.dtype),
                place,
                "a rate that is no f64, or a loss or norm that is no f32");
  }
  MXC_REQUIRE(
      buffer.role != MXC_TENSOR_LENGTH ||
          (buffer.kind == MXC_BUFFER_INPUT &&
           static_cast<ElementType>(buffer.dtype) == ElementType::kI32 &&
           buffer.bytes == sizeof(int32_t)),
      place, "a length that is no input of one i32");
  const int64_t first = buffer.first_step, last = buffer.last_step;
  const bool unused = first == -1 && last == -1;
  MXC_REQUIRE(
      unused || (0 <= first && first <= last && last < entry.steps.count),
      place, "its live range leaves the steps");
  return Storage(entry, index, place);
}

Status TablesCheck::Storage(const mxc_entry& entry, uint32_t index,
                            const std::string& place) {
  const auto buffers = tables_.Buffers(entry);
  const mxc_buffer& buffer = buffers[index];
  if (buffer.kind == MXC_BUFFER_WINDOW) return Window(entry, buffer, place);
  const bool hosts = buffer.kind == MXC_BUFFER_WEIGHT ||
                     buffer.kind == MXC_BUFFER_INTERNAL ||
                     buffer.kind == MXC_BUFFER_ALIAS;
  MXC_REQUIRE(hosts || buffer.place == MXC_PLACE_DEVICE, place,
              "lies on the host and is no weight or internal buffer");
  if (buffer.kind == MXC_BUFFER_ALIAS) {
    MXC_REQUIRE(buffers[buffer.root].kind != MXC_BUFFER_ALIAS, place,
                "its root is no buffer with bytes of its own");
    MXC_REQUIRE(
        Within(buffer.offset, buffer.bytes, buffers[buffer.root].bytes) &&
            buffer.offset % ElementSize(buffer.dtype) == 0,
        place, "does not lie within its root");
    MXC_REQUIRE(buffer.place == buffers[buffer.root].place, place,
                "lies in another place than its root");
    return {};
  }
  MXC_REQUIRE(buffer.root == index, place, "its root is another buffer");
  if (buffer.kind == MXC_BUFFER_INPUT || buffer.kind == MXC_BUFFER_OUTPUT) {
    MXC_REQUIRE(DenseBytes(buffer) == buffer.bytes, place,
                "an input or output that is not dense");
    MXC_REQUIRE(buffer.offset <= buffer.rank && buffer.shift % 3 == 0 &&
                    (buffer.offset == 0 || buffer.shift == 0),
                place, "open along an axis that it has not");
    return {};
  }
  if (buffer.kind == MXC_BUFFER_STATE) return StateBuffer(buffer, place);
  MXC_REQUIRE(buffer.offset % MXC_ARENA_ALIGNMENT == 0, place, "not aligned");
  const auto [bytes, what] = RegionOf(entry, buffer);
  MXC_REQUIRE(Within(buffer.offset, buffer.bytes, bytes), place, what);
  return {};
}

// That each axis that is open has a length, and each length an axis.
Status TablesCheck::OpenAxes(const mxc_entry& entry, const std::string& place) {
  const std::vector<OpenLength> lengths = tables_.LengthsIn(entry);
  std::set<std::string_view> names;
  for (const OpenLength& length : lengths) {
    MXC_REQUIRE(0 < length.most && length.most <= MXC_MAX_TURNS, place,
                "a length of no entries or too many");
    MXC_REQUIRE(names.insert(length.name).second, place,
                "two lengths of one name");
  }
  std::vector<bool> used(lengths.size());
  const auto buffers = tables_.Buffers(entry);
  for (size_t i = 0; i < buffers.size(); ++i) {
    const mxc_buffer& buffer = buffers[i];
    const std::string of = Format("%s, buffer %zu", place.c_str(), i);
    int before = -1;
    for (const OpenAxis& open : tables_.OpenAxes(buffer)) {
      MXC_REQUIRE(open.length < lengths.size(), of,
                  "open along an axis of no length");
      MXC_REQUIRE(before < open.axis && open.axis < buffer.rank &&
                      0 < open.inner && open.inner <= MXC_MAX_TURNS &&
                      buffer.dims[open.axis] %
                              (lengths[open.length].most * open.inner) ==
                          0,
                  of, "open along an axis that has not the length's entries");
      before = open.axis;
      used[open.length] = true;
    }
  }
  MXC_REQUIRE(std::ranges::count(used, false) == 0, place,
              "has a length of no open axis");
  return {};
}

// What the buffer's offset counts in, and the complaint if it does not lie
// there.
std::pair<uint64_t, const char*> TablesCheck::RegionOf(
    const mxc_entry& entry, const mxc_buffer& buffer) const {
  if (buffer.kind == MXC_BUFFER_WEIGHT) {
    return {weight_bytes_, "leaves the weights"};
  }
  if (buffer.kind == MXC_BUFFER_PREPARED) {
    return {tables_.header_->prepared_bytes, "leaves the prepared region"};
  }
  if (buffer.place == MXC_PLACE_HOST) {
    return {entry.host_arena_bytes, "leaves the host's arena"};
  }
  return {entry.arena_bytes, "leaves the arena"};
}

Status TablesCheck::StateBuffer(const mxc_buffer& buffer,
                                const std::string& place) {
  MXC_REQUIRE(buffer.offset < tables_.states_.size(), place, "no such state");
  const mxc_state& state = tables_.states_[buffer.offset];
  MXC_REQUIRE(SameType(buffer, state) && buffer.bytes == state.bytes, place,
              "is not of its state's type");
  return {};
}

Status TablesCheck::Window(const mxc_entry& entry, const mxc_buffer& window,
                           const std::string& place) {
  const auto buffers = tables_.Buffers(entry);
  const auto steps = tables_.Steps(entry);
  MXC_REQUIRE(
      window.loop < steps.size() && steps[window.loop].kind == MXC_STEP_REPEAT,
      place, "a window of no repeat");
  MXC_REQUIRE(
      window.period == 0 || (steps[window.loop].flags & MXC_REPEAT_LAST) == 0,
      place, "a window with a period that begins late");
  MXC_REQUIRE(buffers[window.root].kind != MXC_BUFFER_ALIAS, place,
              "its root is no buffer with bytes of its own");
  const mxc_buffer& root = buffers[window.root];
  MXC_REQUIRE(
      root.kind != MXC_BUFFER_WINDOW || InBody(steps, root.loop, window.loop),
      place, "a window of a window whose repeat is not around its own");
  MXC_REQUIRE(window.place == root.place, place,
              "lies in another place than its root");
  const auto size = static_cast<int64_t>(ElementSize(window.dtype));
  MXC_REQUIRE(window.offset % static_cast<uint64_t>(size) == 0 &&
                  window.advance % size == 0,
              place, "does not begin on an element");
  // In 128 bits nothing overflows.
  const __int128 turns = std::max<int64_t>(steps[window.loop].turns, 1);
  __int128 first = 0, last = __int128{window.period} - 1;  // of mxc_buffer's i
  if (window.period == 0) {
    first = window.shift;
    last = first + turns - 1;
  }
  const __int128 begin =
      window.offset + std::min(first * window.advance, last * window.advance);
  const __int128 end = window.offset +
                       std::max(first * window.advance, last * window.advance) +
                       window.bytes;
  MXC_REQUIRE(begin >= 0 && end <= root.bytes, place,
              "leaves its root in some turn");
  return {};
}

}  // namespace mxc::runtime
