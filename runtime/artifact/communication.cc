// SPDX-License-Identifier: Apache-2.0
#include "runtime/artifact/communication.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

namespace mxc::runtime {
namespace {

// Calls `touch` for each operand of each step: the step's row, where the outermost
// block that it is of begins and ends, the row of the buffer in which the operand
// lies, and whether the step writes it.
template <class Touch>
void ForEachOperand(const Tables& tables, const mxc_entry& entry, Touch touch) {
  const auto steps = tables.Steps(entry);
  uint32_t block_begin = 0, block_end = 0;
  for (uint32_t row = 0; row < steps.size(); ++row) {
    const mxc_step& step = steps[row];
    if (row > block_end) block_begin = row;
    block_end = std::max(block_end, row + step.body + step.other);
    const auto operands = tables.Operands(step);
    for (uint32_t k = 0; k < operands.size(); ++k) {
      touch(row, block_begin, block_end, tables.Base(entry, operands[k]),
            k >= step.input_count);
    }
  }
}

// Where an entry's steps touch a buffer, or a state.
struct Touched {
  uint32_t first = UINT32_MAX, last = 0;
  uint32_t last_written = UINT32_MAX;  // never
};

class Touches {
 public:
  Touches(const Tables& tables, const mxc_entry& entry) {
    const auto buffers = tables.Buffers(entry);
    ForEachOperand(
        tables, entry,
        [&](uint32_t row, uint32_t, uint32_t end, uint32_t base, bool writes) {
          const bool state = buffers[base].kind == MXC_BUFFER_STATE;
          Touched& touched =
              state ? states_[buffers[base].offset] : buffers_[base];
          touched.first = std::min(touched.first, row);
          touched.last = end;
          if (writes) touched.last_written = end;
        });
  }

  Touched OfState(uint64_t row) const { return Find(states_, row); }
  Touched OfBuffer(uint64_t row) const { return Find(buffers_, row); }

 private:
  using Map = std::map<uint64_t, Touched>;

  static Touched Find(const Map& map, uint64_t row) {
    const auto found = map.find(row);
    return found == map.end() ? Touched() : found->second;
  }

  Map states_, buffers_;
};

// What an entry yields.
class EntryOutputs {
 public:
  EntryOutputs(const Tables& tables, const mxc_entry& entry)
      : times_(tables.Buffers(entry).size()) {
    const auto outputs = tables.Outputs(entry);
    for (size_t k = 0; k < outputs.size(); ++k) {
      ++times_[outputs[k]];
      const mxc_buffer& buffer = tables.Buffers(entry)[outputs[k]];
      if (buffer.role != MXC_TENSOR_ROWS) continue;
      const auto state = tables.TrainedState(buffer.index);
      if (state) rows_of_.emplace(*state, static_cast<int64_t>(k));
    }
  }

  // The first output that holds the numbers of rows for the state; -1: none.
  int64_t RowsOf(uint32_t state) const {
    const auto found = rows_of_.find(state);
    return found == rows_of_.end() ? -1 : found->second;
  }
  bool IsOnlyOnce(uint32_t buffer) const { return times_[buffer] == 1; }

 private:
  std::map<uint32_t, int64_t> rows_of_;  // outputs by state
  std::vector<uint32_t> times_;          // among the outputs, by buffer
};

// The step after which an entry's output is final.
uint32_t FinalAfter(const Tables& tables, const mxc_entry& entry,
                    uint32_t output, const Touches& touches) {
  const auto end = static_cast<uint32_t>(tables.Steps(entry).size());
  const mxc_buffer& buffer = tables.Buffers(entry)[output];
  if (buffer.kind == MXC_BUFFER_INPUT) return 0;
  const uint32_t written = touches.OfBuffer(output).last_written;
  return buffer.kind == MXC_BUFFER_OUTPUT ? std::min(written, end) : end;
}

void SetPriorities(std::vector<Exchange>& exchanges) {
  std::ranges::sort(exchanges, {}, [](const Exchange& exchange) {
    return std::tuple(exchange.needed, exchange.state);
  });
  for (uint32_t i = 0; i < exchanges.size(); ++i) exchanges[i].priority = i;
  std::ranges::stable_sort(exchanges, {}, &Exchange::ready);
}

}  // namespace

std::vector<Exchange> ExchangesOf(const Tables& tables,
                                  const mxc_entry& entry) {
  const Touches touches(tables, entry);
  const EntryOutputs yielded(tables, entry);
  const auto buffers = tables.Buffers(entry);
  const auto outputs = tables.Outputs(entry);
  const auto steps = static_cast<uint32_t>(tables.Steps(entry).size());
  std::vector<Exchange> exchanges;
  for (uint32_t k = 0; k < outputs.size(); ++k) {
    const mxc_buffer& buffer = buffers[outputs[k]];
    if (buffer.role != MXC_TENSOR_GRADIENT) continue;
    const auto state = tables.TrainedState(buffer.index);
    if (!state) continue;
    Exchange exchange;
    exchange.state = *state;
    exchange.output = k;
    exchange.bytes = buffer.bytes;
    exchange.ready = exchange.settled = steps;
    const Touched gradient = touches.OfBuffer(outputs[k]);
    const bool own =
        buffer.kind == MXC_BUFFER_OUTPUT && yielded.IsOnlyOnce(outputs[k]);
    if (own && gradient.last_written < steps) {
      const Touched parameter = touches.OfState(exchange.state);
      exchange.ready = std::max(gradient.last_written, parameter.last);
      exchange.needed = std::min(gradient.first, parameter.first);
      exchange.settled = std::max(exchange.ready, gradient.last);
    }
    exchange.rows = yielded.RowsOf(exchange.state);
    if (exchange.rows >= 0) {
      exchange.ready = std::max(
          exchange.ready,
          FinalAfter(tables, entry, outputs[static_cast<size_t>(exchange.rows)],
                     touches));
      exchange.settled = std::max(exchange.settled, exchange.ready);
    }
    exchanges.push_back(exchange);
  }
  SetPriorities(exchanges);
  return exchanges;
}

std::vector<StateUse> StateUsesOf(const Tables& tables,
                                  const mxc_entry& entry) {
  const auto buffers = tables.Buffers(entry);
  std::vector<StateUse> uses;
  std::map<uint64_t, size_t> latest;  // of each state, in `uses`
  ForEachOperand(
      tables, entry,
      [&](uint32_t, uint32_t begin, uint32_t end, uint32_t base, bool) {
        if (buffers[base].kind != MXC_BUFFER_STATE) return;
        const uint64_t state = buffers[base].offset;
        const auto known = latest.find(state);
        if (known != latest.end() && begin <= uses[known->second].last + 1) {
          uses[known->second].last = std::max(uses[known->second].last, end);
          return;
        }
        latest[state] = uses.size();
        uses.push_back({static_cast<uint32_t>(state), begin, end});
      });
  return uses;
}

}  // namespace mxc::runtime
