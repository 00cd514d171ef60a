// SPDX-License-Identifier: Apache-2.0
// If, Loop and Scan. What is known when the network is imported is decided then:
// a branch is taken, few turns are written out. Else a condition makes a branch
// of the program, and many turns are a scan: `_cond`, `_foreach`, `_while_loop`.
#include <algorithm>
#include <cmath>
#include <limits>

#include "frontend/onnx/call.h"
#include "frontend/onnx/inner_graph.h"
#include "frontend/onnx/tensor_data.h"

namespace mxc::onnx {
namespace {

// A loop of more turns becomes a scan, if its turns are alike.
constexpr int64_t kFewTurns = 4;
constexpr int64_t kMostTurns = std::numeric_limits<int32_t>::max();

bool IsTrueNow(Call& c, const Tensor& condition) {
  c.Require(condition.shape().elements() == 1,
            "its condition has shape {}, expected one element",
            ToString(condition.shape()));
  return condition.At(0) != 0;
}

Operand OperandOf(Value value) {
  Operand operand{.value = value};
  if (value.node->kind == Node::Kind::kConstant) {
    operand.known = value.node->constant;
  }
  return operand;
}

Operand KnownInt(int64_t number) {
  std::byte* to = nullptr;
  Tensor tensor = Tensor::Allocate({DType::kI64, Shape(Extents())}, &to);
  StoreElement(to, DType::kI64, static_cast<Element>(number));
  return Operand{.known = std::move(tensor)};
}

Operand KnownTrue() {
  return Operand{.known = Tensor::Filled({DType::kBool, Shape(Extents())}, 1)};
}

Operand NothingOf(Call& c, DType dtype, const Extents& dims) {
  return Operand{.known = c.EmptyTensor(dtype, dims)};
}

Extents Stacked(int64_t turns, const Shape& shape) {
  Extents dims = shape.dims();
  dims.insert(dims.begin(), turns);
  return dims;
}

// What turns put out, one after the other along a new first axis.
Operand Rows(Call& c, std::vector<Operand>& rows) {
  std::vector<Value> parts;
  for (Operand& row : rows) {
    c.Require(row.sequence == nullptr, "its body puts out a sequence per turn");
    c.Require(row.type() == rows[0].type(), "a turn puts out {}, the first {}",
              ToString(row.type()), ToString(rows[0].type()));
    if (Call::IsEmpty(row.type().shape)) continue;
    parts.push_back(c.Unsqueeze(c.ValueOf(row), 0));
  }
  if (!parts.empty()) return OperandOf(c.Concat(parts, 0));
  return NothingOf(c, rows[0].type().dtype,
                   Stacked(std::ssize(rows), rows[0].type().shape));
}

// Turns of a body that takes [iteration, condition,] states, slices and gives
// [condition,] states, rows.
struct Turns {
  const GraphProto& body;
  int64_t most = 0;
  bool conditional = false;  // whether iteration and condition are there
  bool may_end = true;       // whether the body's condition can end it
  Value first =
      {};  // the condition before the first turn, where it is not known
  std::vector<Operand> states = {};
  std::vector<Value> slices = {};  // stacked along axis 0
  size_t rows = 0;
  std::vector<bool> wanted = {};  // of the rows
};

struct Ends {
  std::vector<Operand> states, rows;
};

class LoopRun {
 public:
  LoopRun(Call& call, Turns turns) : c_(call), t_(std::move(turns)) {}

  Ends Run() {
    if (t_.most == 0) return NoTurn();
    if (t_.first) return While();
    if (t_.most <= kFewTurns) return InFewTurns();
    std::string refusal;
    if (t_.most <= kMostTurns) {
      try {
        if (auto ends = Scanned()) return *ends;
      } catch (const Refused& refused) {
        refusal = refused.sentence;
      }
    }
    try {
      return InFewTurns();
    } catch (const Refused& refused) {
      // Why its turns are not alike says more than that there are too many.
      if (refusal.empty() || t_.most < 1000) throw;
      throw Refused{refusal};
    }
  }

 private:
  std::vector<Operand> Inputs(Operand iteration) const {
    std::vector<Operand> inputs;
    if (t_.conditional) inputs = {std::move(iteration), KnownTrue()};
    return inputs;
  }

  // States as they came, and rows of nothing, whose types a turn tells.
  Ends NoTurn() {
    Ends ends{.states = t_.states, .rows = {}};
    if (t_.rows == 0) return ends;
    InnerGraph unused;
    std::vector<Operand> inputs = Inputs(KnownInt(0));
    for (Operand& state : t_.states) inputs.push_back(Bound(unused, state));
    const auto outputs = c_.RunWithin(unused, t_.body, inputs, "");
    const size_t first = 1 + t_.states.size();
    for (size_t k = first; k < outputs.size(); ++k) {
      const TensorType& type = outputs[k].type();
      ends.rows.push_back(NothingOf(c_, type.dtype, Stacked(0, type.shape)));
    }
    return ends;
  }

  Operand Bound(InnerGraph& inner, Operand& state) {
    const Value outside = c_.ValueOf(state);
    return Operand{.value = inner.Bind(outside, outside.type())};
  }

  // --- turn by turn, as long as the condition is known

  Ends InFewTurns() {
    Ends ends{.states = t_.states, .rows = {}};
    std::vector<std::vector<Operand>> rows(t_.rows);
    for (int64_t turn = 0; turn < t_.most; ++turn) {
      c_.CountTurn();
      std::vector<Operand> inputs = Inputs(KnownInt(turn));
      inputs.insert(inputs.end(), ends.states.begin(), ends.states.end());
      for (const Value& slice : t_.slices) {
        const Extents& dims = slice.shape().dims();
        const Value part = c_.SliceAxis(slice, 0, turn, turn + 1);
        inputs.push_back(OperandOf(
            c_.Reshape(part, Shape(Extents(dims.begin() + 1, dims.end())))));
      }
      auto outputs = c_.Run(t_.body, std::move(inputs), std::to_string(turn));
      const size_t first = t_.conditional ? 1 : 0;
      for (size_t k = 0; k < ends.states.size(); ++k) {
        ends.states[k] = std::move(outputs[first + k]);
      }
      for (size_t k = 0; k < rows.size(); ++k) {
        if (!t_.wanted[k]) continue;
        rows[k].push_back(std::move(outputs[first + ends.states.size() + k]));
      }
      if (!t_.conditional) continue;
      const auto goes_on = NowOf(outputs[0]);
      const bool ends_here = goes_on && !IsTrueNow(c_, *goes_on);
      RequireIgnored(goes_on && !ends_here);
      if (!goes_on) return While();
      if (ends_here) break;
    }
    for (size_t k = 0; k < rows.size(); ++k) {
      ends.rows.push_back(t_.wanted[k] ? Rows(c_, rows[k]) : Operand());
    }
    return ends;
  }

  // The text ignores the body's condition where the loop has none, ONNX Runtime
  // does not.
  void RequireIgnored(bool holds) {
    c_.Require(t_.may_end || holds,
               "it has no condition, but its body computes one that is not "
               "always true");
  }

  std::optional<Tensor> NowOf(const Operand& operand) const {
    if (operand.known) return operand.known;
    if (!operand.value) return std::nullopt;
    return c_.Now(operand.value);
  }

  // --- as a scan

  // A turn of `_foreach` or `_while_loop`, but for the condition.
  void Build(LoopTurn& turn, Operand iteration, std::vector<Operand>& outputs,
             const char* part) {
    std::vector<Operand> inputs = Inputs(std::move(iteration));
    const size_t states = turn.carried.size();
    for (Operand& state : t_.states) {
      inputs.push_back(Bound(turn.graph, state));
      turn.carried.push_back(inputs.back().value);
    }
    for (const Value& slice : t_.slices) {
      const Extents& dims = slice.shape().dims();
      const Value inner = turn.graph.Bind(
          slice,
          {slice.type().dtype, Shape(Extents(dims.begin() + 1, dims.end()))});
      turn.slices.push_back(inner);
      inputs.push_back(Operand{.value = inner});
    }
    outputs = c_.RunWithin(turn.graph, t_.body, std::move(inputs), part);
    size_t next = t_.conditional ? 1 : 0;
    for (size_t k = 0; k < t_.states.size(); ++k, ++next) {
      const Value value = outputs[next].value;
      const TensorType& before = turn.carried[states + k].type();
      c_.Require(value.type() == before,
                 "a turn makes {} of what it carries, {}, and there are {} "
                 "turns",
                 ToString(value.type()), ToString(before), t_.most);
      turn.next.push_back(value);
    }
    for (size_t k = 0; k < t_.rows; ++k, ++next) {
      if (t_.wanted[k]) turn.rows.push_back(outputs[next].value);
    }
  }

  Ends EndsOf(const std::vector<Value>& results, size_t rows, size_t skipped) {
    Ends ends;
    size_t next = 0;
    for (size_t k = 0; k < t_.rows; ++k) {
      ends.rows.push_back(rows > 0 && t_.wanted[k] ? OperandOf(results[next++])
                                                   : Operand());
    }
    for (size_t k = 0; k < t_.states.size(); ++k) {
      ends.states.push_back(OperandOf(results[rows + skipped + k]));
    }
    return ends;
  }

  // Null where a condition can end it.
  std::optional<Ends> Scanned() {
    LoopTurn turn;
    Operand iteration;
    if (t_.conditional) {
      const Value counts = c_.Op("_arange", {},
                                 {{"start", "0"},
                                  {"stop", std::to_string(t_.most)},
                                  {"dtype", "int64"}});
      iteration.value =
          turn.graph.Bind(counts, {DType::kI64, Shape(Extents())});
      turn.slices.push_back(iteration.value);
    }
    std::vector<Operand> outputs;
    Build(turn, iteration, outputs, "turn");
    if (t_.conditional) {
      const auto& goes_on = outputs[0].known;
      const bool holds = goes_on && IsTrueNow(c_, *goes_on);
      RequireIgnored(holds);
      if (!holds) return std::nullopt;
    }
    const size_t rows = turn.rows.size();
    return EndsOf(c_.Foreach("turns", turn, t_.most), rows, 0);
  }

  // How the condition before the first turn becomes known.
  std::string Binding() const {
    if (!t_.first) return "";
    return fmt::format("; --bind {}=FILE makes it so where it is an input",
                       c_.node().input[1]);
  }

  // What a scan carries beside the states: the condition, and the number of the
  // turn where the body asks for it.
  Ends While() {
    for (size_t k = 0; k < t_.rows; ++k) {
      c_.Require(!t_.wanted[k],
                 "how often it runs depends on what the program is given, and "
                 "so does the length of its output {}, expected one that is "
                 "known when it is compiled{}",
                 t_.states.size() + k, Binding());
    }
    LoopTurn turn;
    Operand holds = KnownTrue();
    if (t_.first) {
      holds = Operand{.value = c_.Reshape(c_.Cast(t_.first, DType::kBool),
                                          Shape(Extents()))};
    }
    const Operand condition = Bound(turn.graph, holds);
    Operand zero = KnownInt(0);
    const Operand number = Bound(turn.graph, zero);
    turn.carried = {condition.value, number.value};
    turn.next.resize(2);
    std::vector<Operand> outputs;
    Build(turn, number, outputs, "turn");
    WrittenBuilder inside(turn.graph.graph(), c_.origin());
    c_.Require(outputs[0].value.shape().elements() == 1,
               "its condition has shape {}, expected one element",
               ToString(outputs[0].value.shape()));
    turn.next[0] = inside.Reshape(inside.Cast(outputs[0].value, DType::kBool),
                                  Shape(Extents()));
    turn.next[1] = inside.Add(number.value, 1.0);
    return EndsOf(c_.WhileLoop("turns", turn, std::min(t_.most, kMostTurns)), 0,
                  2);
  }

  Call& c_;
  Turns t_;
};

}  // namespace

void ImportIf(Call& c) {
  const GraphProto& then = c.GraphOf("then_branch");
  const GraphProto& otherwise = c.GraphOf("else_branch");
  if (const auto known = c.Known(0)) {
    const bool holds = IsTrueNow(c, *known);
    auto outputs = c.Run(holds ? then : otherwise, {}, holds ? "then" : "else");
    for (size_t k = 0; k < outputs.size(); ++k) {
      c.Give(static_cast<int>(k), std::move(outputs[k]));
    }
    return;
  }
  const Value condition = c.In(0);
  c.Require(condition.shape().elements() == 1,
            "its condition has shape {}, expected one element",
            ToString(condition.shape()));
  Side sides[2];
  for (int i = 0; i < 2; ++i) {
    const auto outputs = c.RunWithin(sides[i].graph, i == 0 ? then : otherwise,
                                     {}, i == 0 ? "then" : "else");
    for (const Operand& output : outputs) {
      sides[i].outputs.push_back(output.value);
    }
  }
  c.Require(sides[0].outputs.size() == sides[1].outputs.size(),
            "its branches have {} and {} outputs", sides[0].outputs.size(),
            sides[1].outputs.size());
  for (size_t k = 0; k < sides[0].outputs.size(); ++k) {
    const TensorType &one = sides[0].outputs[k].type(),
                     &other = sides[1].outputs[k].type();
    if (one == other) continue;
    c.Refuse(
        "its branches give {} and {}, expected one type where the condition "
        "'{}' is not known when it is compiled; --bind {}=FILE makes it so "
        "where it is an input",
        ToString(one), ToString(other), c.node().input[0], c.node().input[0]);
  }
  const auto chosen = c.Cond(condition, sides[0], sides[1]);
  for (size_t k = 0; k < chosen.size(); ++k) {
    c.Give(static_cast<int>(k), chosen[k]);
  }
}

namespace {

void GiveEnds(Call& c, Ends& ends) {
  int next = 0;
  for (Operand& state : ends.states) c.Give(next++, std::move(state));
  for (Operand& row : ends.rows) {
    if (row.given()) c.Give(next, std::move(row));
    ++next;
  }
}

}  // namespace

void ImportLoop(Call& c) {
  const GraphProto& body = c.GraphOf("body");
  const size_t states = c.inputs() > 2 ? c.inputs() - 2 : 0;
  c.Require(body.input.size() == 2 + states,
            "its body has {} inputs, expected {}", body.input.size(),
            2 + states);
  c.Require(body.output.size() >= 1 + states,
            "its body has {} outputs, expected at least {}", body.output.size(),
            1 + states);
  Turns turns{.body = body, .conditional = true};
  turns.most = std::numeric_limits<int64_t>::max();
  if (c.Has(0)) {
    turns.most = std::max<int64_t>(0, c.NeedInt(0, "trip count"));
  }
  turns.may_end = c.Has(1);
  c.Require(c.Has(0) || c.Has(1),
            "it has neither a trip count nor a condition");
  turns.rows = body.output.size() - 1 - states;
  for (size_t k = 0; k < turns.rows; ++k) {
    turns.wanted.push_back(c.Wants(static_cast<int>(states + k)));
  }
  for (size_t k = 0; k < states; ++k) {
    turns.states.push_back(c.operand(static_cast<int>(2 + k)));
  }
  if (c.Has(1)) {
    const auto known = c.Known(1);
    if (known && !IsTrueNow(c, *known)) turns.most = 0;
    if (!known) {
      // A program decides: a loop of no turns or of some.
      turns.first = c.In(1);
      c.Require(turns.first.shape().elements() == 1,
                "its condition has shape {}, expected one element",
                ToString(turns.first.shape()));
    }
  }
  Ends ends = LoopRun(c, std::move(turns)).Run();
  GiveEnds(c, ends);
}

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
  return reversed ? c.Op("reverse", {x}, {{"axis", "0"}}) : x;
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
  return LoopRun(c, std::move(turns)).Run();
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
      row = NothingOf(c, row.type().dtype, dims);
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
