// SPDX-License-Identifier: Apache-2.0
#include "frontend/onnx/operators/turns.h"

#include <algorithm>
#include <limits>

#include "frontend/onnx/inner_graph.h"
#include "ir/ops/tensor/create/arange.h"

namespace mxc::onnx {
namespace {

// A loop of more turns becomes a scan, if its turns are alike.
constexpr int64_t kFewTurns = 4;
constexpr int64_t kMostTurns = std::numeric_limits<int32_t>::max();

Operand KnownInt(int64_t number) {
  return Operand{.known = IntTensor({number}, Shape(Extents()))};
}

Operand KnownTrue() {
  return Operand{.known = Tensor::Filled({DType::kBool, Shape(Extents())}, 1)};
}

Extents Stacked(int64_t turns, const Shape& shape) {
  Extents dims = shape.dims();
  dims.insert(dims.begin(), turns);
  return dims;
}

}  // namespace

bool IsTrueNow(Call& c, const Tensor& condition) {
  c.Require(condition.shape().elements() == 1,
            "its condition has shape {}, expected one element",
            ToString(condition.shape()));
  return condition.At(0) != 0;
}

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
  return Operand{
      .known = c.EmptyTensor(rows[0].type().dtype,
                             Stacked(std::ssize(rows), rows[0].type().shape))};
}

namespace {

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
      ends.rows.push_back(
          Operand{.known = c_.EmptyTensor(type.dtype, Stacked(0, type.shape))});
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
      const Value counts = c_.Op<op::Arange>(
          {}, {.start = 0, .stop = t_.most, .dtype = DType::kI64});
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

Ends EndsOfTurns(Call& c, Turns turns) {
  return LoopRun(c, std::move(turns)).Run();
}

void GiveEnds(Call& c, Ends& ends) {
  int next = 0;
  for (Operand& state : ends.states) c.Give(next++, std::move(state));
  for (Operand& row : ends.rows) {
    if (row.given()) c.Give(next, std::move(row));
    ++next;
  }
}

}  // namespace mxc::onnx
