// SPDX-License-Identifier: Apache-2.0
// Scan, which is a loop over the slices of tensors.
#include <algorithm>

#include "frontend/onnx/operators/turns.h"
#include "ir/ops/tensor/shape/reverse.h"

namespace mxc::onnx {
namespace {

// The axis comes first, or goes back to where it was.
Value WithAxisFirst(Call& c, Value x, int axis) {
  Extents order = {axis};
  for (int i = 0; i < x.shape().rank(); ++i) {
    if (i != axis) order.push_back(i);
  }
  return c.Transpose(x, order);
}

Value WithAxisAt(Call& c, Value x, int axis) {
  Extents order;
  for (int i = 1; i < x.shape().rank(); ++i) order.push_back(i);
  order.insert(order.begin() + axis, 0);
  return c.Transpose(x, order);
}

Value ScanReversed(Call& c, Value x, bool reversed) {
  return reversed ? c.Op<op::Reverse>({x}, {.axis = {0}}) : x;
}

// What the attributes of a Scan say of each of its scan inputs or outputs.
Extents ScanList(Call& c, std::string_view name, size_t count) {
  const Extents values = c.Ints(name).value_or(Extents(count, 0));
  c.Require(values.size() == count, "{} has {} numbers, expected {}", name,
            values.size(), count);
  return values;
}

std::vector<bool> ScanDirections(Call& c, std::string_view name, size_t count) {
  std::vector<bool> reversed;
  for (const int64_t direction : ScanList(c, name, count)) {
    c.Require(direction == 0 || direction == 1, "{} has {}, expected 0 or 1",
              name, direction);
    reversed.push_back(direction == 1);
  }
  return reversed;
}

// A scan of `stacked`, whose slices lie along axis 0, from these states on.
Ends RunScan(Call& c, const GraphProto& body, std::vector<Operand> states,
             std::vector<Value> stacked, std::vector<bool> wanted) {
  const int64_t count = stacked[0].shape()[0];
  for (const Value& slice : stacked) {
    c.Require(slice.shape()[0] == count,
              "one of its scan inputs has {} slices, another {}", count,
              slice.shape()[0]);
  }
  Turns turns{.body = body, .most = count};
  turns.states = std::move(states);
  turns.slices = std::move(stacked);
  turns.rows = wanted.size();
  turns.wanted = std::move(wanted);
  return EndsOfTurns(c, std::move(turns));
}

struct ScanNode {
  const GraphProto& body;
  size_t states = 0, slices = 0, rows = 0;
};

// `first`: the number of its first state.
ScanNode ReadScan(Call& c, int first) {
  const GraphProto& body = c.GraphOf("body");
  const int64_t slices = c.Int("num_scan_inputs");
  c.Require(slices >= 1 && slices <= c.inputs() - first,
            "num_scan_inputs is {}, and it has {} inputs", slices,
            c.inputs() - first);
  ScanNode scan{.body = body, .slices = static_cast<size_t>(slices)};
  scan.states = static_cast<size_t>(c.inputs() - first - slices);
  c.Require(body.input.size() == scan.states + scan.slices,
            "its body has {} inputs, expected {}", body.input.size(),
            scan.states + scan.slices);
  c.Require(body.output.size() >= scan.states,
            "its body has {} outputs, expected at least {}", body.output.size(),
            scan.states);
  scan.rows = body.output.size() - scan.states;
  return scan;
}

std::vector<bool> WantedRows(Call& c, const ScanNode& scan) {
  std::vector<bool> wanted;
  for (size_t k = 0; k < scan.rows; ++k) {
    wanted.push_back(c.Wants(static_cast<int>(scan.states + k)));
  }
  return wanted;
}

}  // namespace

void ImportScan(Call& c) {
  const ScanNode scan = ReadScan(c, 0);
  const Extents axes = ScanList(c, "scan_input_axes", scan.slices);
  const auto reversed = ScanDirections(c, "scan_input_directions", scan.slices);
  const Extents row_axes = ScanList(c, "scan_output_axes", scan.rows);
  const auto rows_reversed =
      ScanDirections(c, "scan_output_directions", scan.rows);
  std::vector<Operand> states;
  for (size_t k = 0; k < scan.states; ++k) {
    states.push_back(c.operand(static_cast<int>(k)));
  }
  std::vector<Value> stacked;
  for (size_t k = 0; k < scan.slices; ++k) {
    const Value x = c.In(static_cast<int>(scan.states + k));
    const int axis = c.Axis(axes[k], x.shape().rank());
    stacked.push_back(ScanReversed(c, WithAxisFirst(c, x, axis), reversed[k]));
  }
  Ends ends = RunScan(c, scan.body, std::move(states), std::move(stacked),
                      WantedRows(c, scan));
  for (size_t k = 0; k < scan.rows; ++k) {
    Operand& row = ends.rows[k];
    if (!row.given()) continue;
    const int axis = c.Axis(row_axes[k], row.type().shape.rank());
    if (Call::IsEmpty(row.type().shape)) {
      Extents dims = row.type().shape.dims();
      std::rotate(dims.begin(), dims.begin() + 1, dims.begin() + axis + 1);
      row = Operand{.known = c.EmptyTensor(row.type().dtype, dims)};
    } else {
      row = OperandOf(WithAxisAt(
          c, ScanReversed(c, c.ValueOf(row), rows_reversed[k]), axis));
    }
  }
  GiveEnds(c, ends);
}

// Of version 8: a scan for each element of a batch.
void ImportScanOfBatch(Call& c) {
  constexpr int kFirst = 1;  // input 0 has lengths
  const ScanNode scan = ReadScan(c, kFirst);
  const auto reversed = ScanDirections(c, "directions", scan.slices);
  std::vector<Value> states, slices;
  for (size_t k = 0; k < scan.states + scan.slices; ++k) {
    (k < scan.states ? states : slices)
        .push_back(c.In(kFirst + static_cast<int>(k)));
  }
  for (const Value& slice : slices) {
    c.Require(slice.shape().rank() >= 2, "a scan input has {} axes, expected 2",
              slice.shape().rank());
  }
  const int64_t batch = slices[0].shape()[0];
  if (c.Has(0)) {
    const Extents lengths = c.NeedInts(0, "sequence_lens");
    for (const int64_t length : lengths) {
      c.Require(length == slices[0].shape()[1],
                "sequence_lens has a length of {} for {} slices, which is not "
                "supported",
                length, slices[0].shape()[1]);
    }
  }
  const auto of_batch = [&](Value value, int64_t b) {
    const Extents& dims = value.shape().dims();
    c.Require(!dims.empty() && dims[0] == batch,
              "an input has shape {}, expected a batch of {}",
              ToString(value.shape()), batch);
    return c.Reshape(c.SliceAxis(value, 0, b, b + 1),
                     Shape(Extents(dims.begin() + 1, dims.end())));
  };
  std::vector<std::vector<Operand>> results(scan.states + scan.rows);
  for (int64_t b = 0; b < batch; ++b) {
    std::vector<Operand> first;
    for (const Value& state : states) {
      first.push_back(OperandOf(of_batch(state, b)));
    }
    std::vector<Value> stacked;
    for (size_t k = 0; k < slices.size(); ++k) {
      stacked.push_back(ScanReversed(c, of_batch(slices[k], b), reversed[k]));
    }
    Ends ends = RunScan(c, scan.body, std::move(first), std::move(stacked),
                        WantedRows(c, scan));
    for (size_t k = 0; k < results.size(); ++k) {
      results[k].push_back(std::move(
          k < scan.states ? ends.states[k] : ends.rows[k - scan.states]));
    }
  }
  for (size_t k = 0; k < results.size(); ++k) {
    if (!c.Wants(static_cast<int>(k))) continue;
    c.Give(static_cast<int>(k), Rows(c, results[k]));
  }
}

}  // namespace mxc::onnx
