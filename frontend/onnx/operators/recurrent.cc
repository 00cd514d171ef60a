// SPDX-License-Identifier: Apache-2.0
// LSTM, GRU and RNN: MXNet's operator RNN where the cell is one of its own, else
// a loop over the steps whose turn is the cell.
#include <algorithm>
#include <cctype>
#include <cmath>

#include "frontend/onnx/call.h"
#include "frontend/onnx/inner_graph.h"

namespace mxc::onnx {
namespace {

enum class Cell { kRnn, kGru, kLstm };

struct CellActivation {
  std::string name;  // in small letters
  double alpha = 0, beta = 0;
  bool operator==(const CellActivation&) const = default;
};

// What a known activation has where the file says nothing; NaN: it must say.
struct CellActivationRow {
  const char* name;
  int values;  // that it takes: alpha, beta
  double alpha, beta;
};
constexpr double kMustSay = NAN;
constexpr CellActivationRow kCellActivations[] = {
    {"affine", 2, kMustSay, kMustSay},
    {"elu", 1, 1, 0},
    {"hardsigmoid", 2, 0.2, 0.5},
    {"leakyrelu", 1, 0.01, 0},
    {"relu", 0, 0, 0},
    {"scaledtanh", 2, kMustSay, kMustSay},
    {"sigmoid", 0, 0, 0},
    {"softplus", 0, 0, 0},
    {"softsign", 0, 0, 0},
    {"tanh", 0, 0, 0},
    {"thresholdedrelu", 1, kMustSay, 0},
};

// A node of the three operators. Values have ONNX's layout 0.
class Recurrent {
 public:
  Recurrent(Call& call, Cell cell) : c_(call), cell_(cell) {}

  void Run() {
    ReadAttributes();
    ReadInputs();
    const bool layer = IsLayer();
    const Results results = layer ? Layer() : Loops();
    Give(results);
  }

 private:
  // [T, N, D·H] and [D, N, H].
  struct Results {
    Value output, hidden, cell;
  };

  int gates() const {
    return cell_ == Cell::kRnn ? 1 : cell_ == Cell::kGru ? 3 : 4;
  }
  int activations_of_cell() const {
    return cell_ == Cell::kRnn ? 1 : cell_ == Cell::kGru ? 2 : 3;
  }

  // --- what the file says

  void ReadAttributes() {
    const int direction =
        c_.OneOf("direction", {"forward", "reverse", "bidirectional"}, 0);
    reversed_ = direction == 1;
    directions_ = direction == 2 ? 2 : 1;
    const int64_t layout = c_.Int("layout", 0);
    c_.Require(layout == 0 || layout == 1, "layout is {}, expected 0 or 1",
               layout);
    batch_first_ = layout == 1;
    if (c_.HasAttribute("clip")) {
      clip_ = c_.Float("clip");
      c_.Require(*clip_ >= 0, "clip is {}, expected a positive number", *clip_);
    }
    if (cell_ == Cell::kLstm) coupled_ = c_.Flag("input_forget");
    if (cell_ == Cell::kGru) after_ = c_.Flag("linear_before_reset");
    if (c_.opset() < 7) c_.Ignore("output_sequence");
    ReadActivations();
  }

  void ReadActivations() {
    std::vector<std::string> names;
    if (const auto given = c_.Strings("activations")) {
      names = *given;
    } else {
      for (int64_t d = 0; d < directions_; ++d) {
        if (cell_ != Cell::kRnn) names.emplace_back("Sigmoid");
        names.emplace_back("Tanh");
        if (cell_ == Cell::kLstm) names.emplace_back("Tanh");
      }
    }
    const auto count = static_cast<size_t>(directions_ * activations_of_cell());
    c_.Require(names.size() == count, "it has {} activations, expected {}",
               names.size(), count);
    const auto alphas =
        c_.Floats("activation_alpha").value_or(std::vector<float>());
    const auto betas =
        c_.Floats("activation_beta").value_or(std::vector<float>());
    size_t alpha = 0, beta = 0;  // the next of them
    for (std::string& name : names) {
      CellActivation activation = {.name = name};
      std::ranges::transform(name, activation.name.begin(), [](char letter) {
        return static_cast<char>(
            std::tolower(static_cast<unsigned char>(letter)));
      });
      const auto row = std::ranges::find(kCellActivations, activation.name,
                                         &CellActivationRow::name);
      c_.Require(row != std::end(kCellActivations),
                 "activation '{}' is not known", name.substr(0, 100));
      activation.alpha =
          Taken(row->values > 0, alphas, alpha, row->alpha, name);
      activation.beta = Taken(row->values > 1, betas, beta, row->beta, name);
      activations_.push_back(std::move(activation));
    }
  }

  double Taken(bool takes, const std::vector<float>& given, size_t& next,
               double fallback, const std::string& name) {
    if (!takes) return 0;
    if (next < given.size()) return static_cast<double>(given[next++]);
    // ONNX Runtime takes 0, with which nothing but zeros would come out.
    c_.Require(!std::isnan(fallback),
               "activation {} needs values of activation_alpha and "
               "activation_beta, which are not all given",
               name);
    return fallback;
  }

  void ReadInputs() {
    x_ = c_.In(0);
    w_ = c_.In(1);
    r_ = c_.In(2);
    c_.Require(x_.shape().rank() == 3, "X has {} axes, expected 3",
               x_.shape().rank());
    if (batch_first_) x_ = c_.Transpose(x_, {1, 0, 2});
    dtype_ = x_.type().dtype;
    c_.Require(IsFloat(dtype_), "X is of {}, expected floats",
               MxnetName(dtype_));
    steps_ = x_.shape()[0];
    batch_ = x_.shape()[1];
    c_.Require(r_.shape().rank() == 3 && r_.shape()[2] <= 1 << 20,
               "R has shape {}, expected {} times [{} · hidden, hidden]",
               ToString(r_.shape()), directions_, gates());
    hidden_ = r_.shape()[2];
    const int64_t asked = c_.Int("hidden_size", hidden_);
    c_.Require(asked == hidden_, "hidden_size is {}, but R has shape {}", asked,
               ToString(r_.shape()));
    const int64_t rows = gates() * hidden_;
    Expect("W", w_, {directions_, rows, x_.shape()[2]});
    Expect("R", r_, {directions_, rows, hidden_});
    if (c_.Has(3)) Expect("B", bias_ = c_.In(3), {directions_, 2 * rows});
    ReadLengths();
    first_hidden_ = State(5, "initial_h");
    if (cell_ != Cell::kLstm) return;
    first_cell_ = State(6, "initial_c");
    if (!c_.Has(7)) return;
    Expect("P", peepholes_ = c_.In(7), {directions_, 3 * hidden_});
    const auto known = c_.Known(7);
    if (known && !IsTrainable(7) && AllZero(*known)) peepholes_ = {};
  }

  bool IsTrainable(int i) { return !c_.operand(i).parameter.empty(); }

  static bool AllZero(const Tensor& tensor) {
    for (int64_t i = 0; i < tensor.shape().elements(); ++i) {
      if (tensor.At(i) != 0) return false;
    }
    return true;
  }

  void Expect(const char* what, Value value, const Shape& shape) {
    c_.Require(value.shape() == shape, "{} has shape {}, expected {}", what,
               ToString(value.shape()), ToString(shape));
    c_.Require(value.type().dtype == dtype_, "{} is of {}, but X is of {}",
               what, MxnetName(value.type().dtype), MxnetName(dtype_));
  }

  void ReadLengths() {
    if (!c_.Has(4)) return;
    c_.Require(c_.ShapeOf(4) == Shape{batch_} && !IsFloat(c_.DTypeOf(4)),
               "sequence_lens is {}, expected {} integers",
               ToString(c_.TypeOf(4)), batch_);
    bool shorter = true, empty = true;
    if (const auto known = c_.Known(4)) {
      shorter = empty = false;
      for (int64_t i = 0; i < batch_; ++i) {
        const double length = known->At(i);
        c_.Require(length >= 0 && length <= static_cast<double>(steps_),
                   "sequence_lens has a length of {} for {} steps", length,
                   steps_);
        shorter = shorter || length < static_cast<double>(steps_);
        empty = empty || length == 0;
      }
    }
    if (!shorter) return;
    lengths_ = c_.In(4);
    // ONNX Runtime leaves zeros of a sequence without steps, not the states that
    // it had to begin with.
    if (empty) {
      begins_ = c_.Reshape(
          c_.Cast(c_.Op("_greater_scalar", {lengths_}, {{"scalar", "0"}}),
                  dtype_),
          Shape{1, batch_, 1});
    }
  }

  Value State(int i, const char* what) {
    const Shape shape = {directions_, batch_, hidden_};
    if (!c_.Has(i)) return c_.Zeros({dtype_, shape});
    Value state = c_.In(i);
    c_.Require(state.shape().rank() == 3, "{} has {} axes, expected 3", what,
               state.shape().rank());
    if (batch_first_) state = c_.Transpose(state, {1, 0, 2});
    Expect(what, state, shape);
    return begins_ ? c_.Mul(state, begins_) : state;
  }

  const CellActivation& Of(int64_t direction, int k) const {
    return activations_[static_cast<size_t>(direction * activations_of_cell() +
                                            k)];
  }

  // --- as MXNet's layer

  bool IsLayer() const {
    if (clip_ || coupled_ || peepholes_) return false;
    if (cell_ == Cell::kGru && !after_) return false;
    for (int64_t d = 0; d < directions_; ++d) {
      if (cell_ == Cell::kRnn) {
        const std::string& name = Of(d, 0).name;
        if ((name != "tanh" && name != "relu") || name != Of(0, 0).name) {
          return false;
        }
        continue;
      }
      if (Of(d, 0).name != "sigmoid" || Of(d, 1).name != "tanh") return false;
      if (cell_ == Cell::kLstm && Of(d, 2).name != "tanh") return false;
    }
    return true;
  }

  // The gates of one direction along axis 1 in MXNet's order, one after the
  // other in one vector.
  Value Reordered(Value value, int64_t direction, int64_t first) {
    // ONNX has i o f c and z r h; MXNet i f c o and r z h.
    const std::vector<int64_t> order =
        cell_ == Cell::kLstm  ? std::vector<int64_t>{0, 2, 3, 1}
        : cell_ == Cell::kGru ? std::vector<int64_t>{1, 0, 2}
                              : std::vector<int64_t>{0};
    const Value part = directions_ == 1
                           ? value
                           : c_.SliceAxis(value, 0, direction, direction + 1);
    std::vector<Value> gates;
    for (const int64_t gate : order) {
      const int64_t begin = first + gate * hidden_;
      gates.push_back(c_.SliceAxis(part, 1, begin, begin + hidden_));
    }
    const Value all = c_.Concat(gates, 1);
    return c_.Reshape(all, Shape{all.shape().elements()});
  }

  Value Parameters() {
    std::vector<Value> parts;
    for (int64_t d = 0; d < directions_; ++d) {
      parts.push_back(Reordered(w_, d, 0));
      parts.push_back(Reordered(r_, d, 0));
    }
    const int64_t rows = gates() * hidden_;
    if (!bias_) {
      parts.push_back(c_.Zeros({dtype_, Shape{2 * directions_ * rows}}));
      return c_.Concat(parts, 0);
    }
    for (int64_t d = 0; d < directions_; ++d) {
      parts.push_back(Reordered(bias_, d, 0));
      parts.push_back(Reordered(bias_, d, rows));
    }
    return c_.Concat(parts, 0);
  }

  // Each sequence backwards, as far as it goes.
  Value Backwards(Value x) {
    if (steps_ == 1) return x;
    if (!lengths_) return c_.Op("SequenceReverse", {x});
    return c_.Op("SequenceReverse", {x, c_.Cast(lengths_, dtype_)},
                 {{"use_sequence_length", "True"}});
  }

  Results Layer() {
    const char* mode = cell_ == Cell::kLstm      ? "lstm"
                       : cell_ == Cell::kGru     ? "gru"
                       : Of(0, 0).name == "relu" ? "rnn_relu"
                                                 : "rnn_tanh";
    std::vector<Value> inputs = {reversed_ ? Backwards(x_) : x_, Parameters(),
                                 first_hidden_};
    if (cell_ == Cell::kLstm) inputs.push_back(first_cell_);
    if (lengths_) inputs.push_back(c_.Cast(lengths_, DType::kI32));
    const auto outputs =
        c_.Ops("RNN", inputs,
               {{"state_size", std::to_string(hidden_)},
                {"num_layers", "1"},
                {"mode", mode},
                {"bidirectional", directions_ == 2 ? "True" : "False"},
                {"state_outputs", "True"},
                {"use_sequence_length", lengths_ ? "True" : "False"}});
    Results results = {outputs[0], outputs[1], {}};
    if (reversed_) results.output = Backwards(results.output);
    if (cell_ == Cell::kLstm) results.cell = outputs[2];
    return results;
  }

  // --- as a loop

  // What goes into a gate is clipped. The cell of an LSTM is not, by ONNX
  // Runtime.
  Value Gated(GraphBuilder& b, Value x, const CellActivation& activation) {
    if (clip_) {
      x = b.Op("clip", {x},
               {{"a_min", fmt::format("{}", -*clip_)},
                {"a_max", fmt::format("{}", *clip_)}});
    }
    return Activate(b, x, activation);
  }

  Value Activate(GraphBuilder& b, Value x, const CellActivation& activation) {
    const std::string& name = activation.name;
    const std::string alpha = fmt::format("{}", activation.alpha);
    const auto leaky = [&](const char* type) {
      return b.Op("LeakyReLU", {x}, {{"act_type", type}, {"slope", alpha}});
    };
    if (name == "leakyrelu") return leaky("leaky");
    if (name == "elu") return leaky("elu");
    if (name == "affine") {
      return b.Add(b.Mul(x, activation.alpha), activation.beta);
    }
    if (name == "scaledtanh") {
      return b.Mul(b.Op("tanh", {b.Mul(x, activation.beta)}), activation.alpha);
    }
    if (name == "hardsigmoid") {
      return b.Op(
          "hard_sigmoid", {x},
          {{"alpha", alpha}, {"beta", fmt::format("{}", activation.beta)}});
    }
    if (name == "thresholdedrelu") {
      const Value above =
          b.Op("_greater_equal_scalar", {x}, {{"scalar", alpha}});
      return b.Where(above, x, b.Zeros(x.type()));
    }
    const char* type = name == "softplus" ? "softrelu" : name.c_str();
    return b.Op("Activation", {x}, {{"act_type", type}});
  }

  // One direction's part of W, R, B or P.
  Value Part(Value value, int64_t direction) {
    const Value part = directions_ == 1
                           ? value
                           : c_.SliceAxis(value, 0, direction, direction + 1);
    const Extents& dims = part.shape().dims();
    return c_.Reshape(part, Shape(Extents(dims.begin() + 1, dims.end())));
  }

  Value Product(GraphBuilder& b, Value x, Value weight, Value bias) {
    std::vector<Value> inputs = {x, weight};
    if (bias) inputs.push_back(bias);
    return b.Op("FullyConnected", inputs,
                {{"num_hidden", std::to_string(weight.shape()[0])},
                 {"no_bias", bias ? "False" : "True"}});
  }

  // A direction's weights. The biases may be empty; that of the state is one
  // with the data's where nothing comes between the two.
  struct Weights {
    Value input, state, input_bias, state_bias, peepholes;
  };

  Weights WeightsOf(int64_t direction) {
    Weights weights = {Part(w_, direction), Part(r_, direction), {}, {}, {}};
    if (peepholes_) weights.peepholes = Part(peepholes_, direction);
    if (!bias_) return weights;
    const Value both = Part(bias_, direction);
    const int64_t rows = gates() * hidden_;
    const Value input = c_.SliceAxis(both, 0, 0, rows);
    const Value state = c_.SliceAxis(both, 0, rows, 2 * rows);
    if (cell_ == Cell::kGru && after_) {
      weights.input_bias = input;
      weights.state_bias = state;
    } else {
      weights.input_bias = c_.Add(input, state);
    }
    return weights;
  }

  // 1 in steps of a sequence, else 0: [T, N, 1].
  Value Begun() {
    const Value step = c_.Op("_arange", {},
                             {{"start", "0"},
                              {"stop", std::to_string(steps_)},
                              {"dtype", std::string(MxnetName(dtype_))}});
    return c_.Op("broadcast_lesser",
                 {c_.Reshape(step, Shape{steps_, 1, 1}),
                  c_.Reshape(c_.Cast(lengths_, dtype_), Shape{1, batch_, 1})});
  }

  Results Loops() {
    std::vector<Value> outputs, hidden, cells;
    for (int64_t d = 0; d < directions_; ++d) {
      const bool backwards = reversed_ || d == 1;
      const auto results = Loop(d, backwards);
      outputs.push_back(backwards ? Backwards(results[0]) : results[0]);
      hidden.push_back(c_.Unsqueeze(results[1], 0));
      if (cell_ == Cell::kLstm) cells.push_back(c_.Unsqueeze(results[2], 0));
    }
    Results results = {c_.Concat(outputs, 2), c_.Concat(hidden, 0), {}};
    if (cell_ == Cell::kLstm) results.cell = c_.Concat(cells, 0);
    return results;
  }

  // What a step reads, and what it makes of the states.
  struct Step {
    int64_t direction = 0;
    Value input, hidden, cell;
    Value state, state_bias, peepholes;
  };
  struct Next {
    Value hidden, cell;
  };

  // What all steps put out, then the last states.
  std::vector<Value> Loop(int64_t direction, bool backwards) {
    const Weights weights = WeightsOf(direction);
    const Value x = backwards ? Backwards(x_) : x_;
    const int64_t rows = gates() * hidden_;
    const Value flat =
        Product(c_, c_.Reshape(x, Shape{steps_ * batch_, x.shape()[2]}),
                weights.input, weights.input_bias);
    const Value all = c_.Reshape(flat, Shape{steps_, batch_, rows});
    LoopTurn turn;
    WrittenBuilder b(turn.graph.graph(), c_.origin());
    const auto slice = [&](Value value) {
      Extents dims = value.shape().dims();
      dims.erase(dims.begin());
      turn.slices.push_back(
          turn.graph.Bind(value, {value.type().dtype, Shape(dims)}));
      return turn.slices.back();
    };
    const Value input = slice(all);
    const Value begun = lengths_ ? slice(Begun()) : Value();
    const auto carry = [&](Value first) {
      const Value inner = turn.graph.Bind(Part(first, direction),
                                          {dtype_, Shape{batch_, hidden_}});
      turn.carried.push_back(inner);
      return inner;
    };
    const Value hidden = carry(first_hidden_);
    const Value memory = cell_ == Cell::kLstm ? carry(first_cell_) : Value();
    Step step;
    step.direction = direction;
    step.input = input;
    step.hidden = hidden;
    step.cell = memory;
    step.state = turn.graph.Inside(weights.state);
    if (weights.state_bias) {
      step.state_bias = turn.graph.Inside(weights.state_bias);
    }
    if (weights.peepholes)
      step.peepholes = turn.graph.Inside(weights.peepholes);
    const Next next = cell_ == Cell::kRnn   ? RnnStep(b, step)
                      : cell_ == Cell::kGru ? GruStep(b, step)
                                            : LstmStep(b, step);
    const auto chosen = [&](Value value, Value otherwise) {
      if (!begun) return value;
      return b.Where(b.BroadcastTo(begun, value.shape()), value, otherwise);
    };
    turn.rows = {chosen(next.hidden, b.Zeros(hidden.type()))};
    turn.next = {chosen(next.hidden, hidden)};
    if (cell_ == Cell::kLstm) turn.next.push_back(chosen(next.cell, memory));
    return c_.Foreach(backwards ? "backwards" : "steps", turn, steps_);
  }

  Value Gate(GraphBuilder& b, Value gates, int64_t gate) {
    return b.SliceAxis(gates, 1, gate * hidden_, (gate + 1) * hidden_);
  }

  Next RnnStep(GraphBuilder& b, const Step& s) {
    const Value sum = b.Add(s.input, Product(b, s.hidden, s.state, {}));
    return {Gated(b, sum, Of(s.direction, 0)), {}};
  }

  // z r h
  Next GruStep(GraphBuilder& b, const Step& s) {
    const CellActivation &f = Of(s.direction, 0), &g = Of(s.direction, 1);
    Value keep, candidate;
    if (after_) {
      const Value state = Product(b, s.hidden, s.state, s.state_bias);
      const auto gate = [&](int64_t k) {
        return Gated(b, b.Add(Gate(b, s.input, k), Gate(b, state, k)), f);
      };
      keep = gate(0);
      const Value recalled = b.Mul(gate(1), Gate(b, state, 2));
      candidate = Gated(b, b.Add(Gate(b, s.input, 2), recalled), g);
    } else {
      const Value gates = b.SliceAxis(s.state, 0, 0, 2 * hidden_);
      const Value own = b.SliceAxis(s.state, 0, 2 * hidden_, 3 * hidden_);
      const Value state = Product(b, s.hidden, gates, {});
      const auto gate = [&](int64_t k) {
        return Gated(b, b.Add(Gate(b, s.input, k), Gate(b, state, k)), f);
      };
      keep = gate(0);
      const Value recalled = Product(b, b.Mul(gate(1), s.hidden), own, {});
      candidate = Gated(b, b.Add(Gate(b, s.input, 2), recalled), g);
    }
    // (1 − z) candidate + z hidden
    const Value change = b.Sub(s.hidden, candidate);
    return {b.Add(candidate, b.Mul(keep, change)), {}};
  }

  // i o f c; peepholes i o f
  Next LstmStep(GraphBuilder& b, const Step& s) {
    const CellActivation &f = Of(s.direction, 0), &g = Of(s.direction, 1),
                         &h = Of(s.direction, 2);
    const Value gates = b.Add(s.input, Product(b, s.hidden, s.state, {}));
    const auto gate = [&](int64_t k, Value cell) {
      Value sum = Gate(b, gates, k);
      if (s.peepholes) {
        const Value weight =
            b.SliceAxis(s.peepholes, 0, k * hidden_, (k + 1) * hidden_);
        sum = b.Add(sum, b.Mul(cell, b.Reshape(weight, Shape{1, hidden_})));
      }
      return Gated(b, sum, f);
    };
    const Value in = gate(0, s.cell);
    const Value forget = coupled_ ? b.Sub(1.0, in) : gate(2, s.cell);
    const Value candidate = Gated(b, Gate(b, gates, 3), g);
    const Value cell = b.Add(b.Mul(forget, s.cell), b.Mul(in, candidate));
    const Value out = gate(1, cell);
    return {b.Mul(out, Activate(b, cell, h)), cell};
  }

  // --- the results

  void Give(const Results& results) {
    // [T, N, D·H] → [T, D, N, H]
    const Value split =
        c_.Reshape(results.output, Shape{steps_, batch_, directions_, hidden_});
    if (c_.Wants(0)) {
      c_.Give(0, batch_first_ ? c_.Transpose(split, {1, 0, 2, 3})
                 : directions_ == 1
                     ? c_.Reshape(split, Shape{steps_, 1, batch_, hidden_})
                     : c_.Transpose(split, {0, 2, 1, 3}));
    }
    const auto state = [&](int i, Value value) {
      if (!c_.Wants(i)) return;
      c_.Give(i, batch_first_ ? c_.Transpose(value, {1, 0, 2}) : value);
    };
    state(1, results.hidden);
    if (cell_ == Cell::kLstm) state(2, results.cell);
  }

  Call& c_;
  const Cell cell_;
  bool reversed_ = false, batch_first_ = false;
  bool coupled_ = false;  // of an LSTM: what is let in is forgotten
  bool after_ = false;    // of a GRU: the reset comes after the product
  int64_t directions_ = 1, hidden_ = 0, steps_ = 0, batch_ = 0;
  std::optional<double> clip_;
  std::vector<CellActivation> activations_;  // of all directions
  DType dtype_ = DType::kUnknown;
  Value begins_;  // [1, N, 1]: 0 where a sequence has no step, else 1
  Value x_, w_, r_, bias_, lengths_, first_hidden_, first_cell_, peepholes_;
};

}  // namespace

void ImportLSTM(Call& c) { Recurrent(c, Cell::kLstm).Run(); }
void ImportGRU(Call& c) { Recurrent(c, Cell::kGru).Run(); }
void ImportRNN(Call& c) { Recurrent(c, Cell::kRnn).Run(); }

}  // namespace mxc::onnx
