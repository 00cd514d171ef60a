// SPDX-License-Identifier: Apache-2.0
// Gradients of ONNX's node tests, at the inputs of the test, where the values are
// the reference's (onnx_cases.cc). The loss is a sum of the outputs with random
// weights; of each input some elements are moved one by one, then all at once.
//
// Where the loss has a kink at the very point (ties of a maximum, the zero of an
// absolute value), the gradient has to lie between the slopes of both sides;
// where it jumps, or is no number, nothing is compared.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <random>
#include <set>

#include "ir/graph/builder.h"
#include "ir/graph/gradient.h"
#include "ir/program/interpreter.h"
#include "ir/target/target.h"
#include "passes/pass.h"
#include "tests/cases/compare.h"
#include "tests/cases/onnx_case.h"

namespace mxc {
namespace {

constexpr FloatArithmetic kDouble = {.all_double = true};
constexpr double kRelative = 1e-4;

// How many elements of an input are moved one by one.
int64_t CountMoves(int64_t elements) {
  return elements > 1000 ? 4 : std::min<int64_t>(elements, 16);
}

// Gradients that are not the slope, by how a case's name and what is said of it
// begin, and why that is right. NaN: of functions that are written out alone.
struct Otherwise {
  const char *name, *what;
  const char* reason;
};
constexpr Otherwise kOtherwise[] = {
    {"test_roialign", "'rois'", "nothing is passed to regions, as by PyTorch"},
    {"test_reduce_min_default_axes_keepdims_example", "'data' as a whole",
     "each of the least has all of the gradient, as MXNet's has"},
    {"test_attention", "NaN: ",
     "0 times the NaN of a masked row that Where leaves out, as by PyTorch"},
};

Result<Program> PlainProgram(Graph graph) {
  MXC_ASSIGN(const Target target, ResolveTarget("x86-64-v2"));
  PassContext context;
  context.target = &target;
  PassOptions passes;
  passes.level = 0;
  return RunPipeline(std::move(graph), context, passes);
}

Result<Graph> GraphOf(const std::filesystem::path& folder, bool training,
                      std::map<std::string, Tensor>& inputs) {
  MXC_ASSIGN(OnnxCase read, ReadOnnxCase(folder));
  read.graph.training = training;
  inputs.merge(read.inputs);
  return std::move(read.graph);
}

std::string OperatorNames(const Graph& graph) {
  std::set<std::string> names;
  for (const Node* node : graph.TopologicalOrder()) {
    if (node->op != nullptr) names.insert(node->op_name);
  }
  return fmt::format("{}", fmt::join(names, " "));
}

// Which elements of an input are moved at once, and how far.
using Move = std::vector<std::pair<int64_t, double>>;

std::vector<Move> MovesOf(int64_t elements, std::mt19937& random) {
  std::vector<int64_t> all(elements);
  for (int64_t i = 0; i < elements; ++i) all[i] = i;
  std::ranges::shuffle(all, random);
  std::vector<Move> moves;
  for (int64_t i = 0; i < CountMoves(elements); ++i) {
    moves.push_back({{all[i], 1.0}});
  }
  Move together;
  for (int64_t i = 0; i < elements; ++i) {
    together.emplace_back(i, random() % 2 == 0 ? 0.5 : -0.5);
  }
  if (elements > 1) moves.push_back(std::move(together));
  return moves;
}

Tensor Moved(const Tensor& value, const Move& move, double by) {
  std::byte* bytes = nullptr;
  Tensor moved = Tensor::Allocate({DType::kF64, value.shape()}, &bytes);
  const auto store = [&](int64_t i, double number) {
    StoreElement(bytes + i * SizeOf(DType::kF64), DType::kF64, number);
  };
  for (int64_t i = 0; i < value.shape().elements(); ++i) store(i, value.At(i));
  for (const auto& [i, weight] : move) store(i, value.At(i) + by * weight);
  return moved;
}

double Along(const Tensor& gradient, const Move& move) {
  double sum = 0;
  for (const auto& [i, weight] : move) sum += weight * gradient.At(i);
  return sum;
}

// As engines give it.
Tensor Rounded(const Tensor& value, DType dtype) {
  std::byte* bytes = nullptr;
  Tensor rounded = Tensor::Allocate({dtype, value.shape()}, &bytes);
  for (int64_t i = 0; i < value.shape().elements(); ++i) {
    StoreElement(bytes + i * SizeOf(dtype), dtype, value.At(i));
  }
  return rounded;
}

// Whether it computes other values in training: of batches, or at random.
bool TrainsOtherwise(const Graph& graph) {
  return std::ranges::any_of(graph.TopologicalOrder(), [](const Node* node) {
    return node->op != nullptr &&
           (node->NextStates() > 0 ||
            (node->op->random && node->op->random(node->attrs.get(), true)));
  });
}

// How the loss goes on from the point to either side.
struct Slopes {
  double below = 0, above = 0;

  double middle() const { return (below + above) / 2; }
  double bend() const { return std::abs(above - below); }
  bool finite() const { return std::isfinite(below) && std::isfinite(above); }
  double largest() const { return std::max(std::abs(below), std::abs(above)); }

  // Beside the slopes over ten times the step: of a smooth loss the bend is a
  // tenth, at a kink the same.
  bool IsKink(const Slopes& coarse, double allowed) const {
    return bend() > 10 * allowed && bend() > 0.5 * coarse.bend() &&
           bend() < 2 * coarse.bend();
  }
  bool IsJump(const Slopes& coarse) const {
    return largest() > 5 * coarse.largest() && largest() > 1e3;
  }
};

// A sum of the case's outputs of floats with random weights, around its inputs.
class Loss {
 public:
  static Result<Loss> Of(Graph graph, std::map<std::string, Tensor> inputs) {
    Loss loss;
    for (size_t k = 0; k < graph.outputs.size(); ++k) {
      const TensorType& type = graph.outputs[k].type();
      if (!IsFloat(type.dtype)) continue;
      loss.outputs_.push_back(k);
      loss.weights_.push_back(Tensor::Filled(type, 0));
    }
    if (loss.outputs_.empty()) return Error({}, "no output of floats");
    loss.inputs_ = std::move(inputs);
    MXC_ASSIGN(Program program, PlainProgram(std::move(graph)));
    loss.program_ = std::make_unique<Program>(std::move(program));
    MXC_ASSIGN(loss.at_rest_,
               KeptRun::Of(*loss.program_, loss.inputs_, kDouble));
    loss.Weigh();
    MXC_ASSIGN(loss.value_, loss.With({}));
    return loss;
  }

  // The same of the graph, whose outputs they replace; their weights are inputs
  // `head:K` then.
  Result<std::vector<std::string>> Differentiate(
      Graph& graph, std::map<std::string, Tensor>& inputs) const {
    std::vector<HeadGradient> heads;
    for (size_t h = 0; h < outputs_.size(); ++h) {
      Node* head = graph.AddVariable(fmt::format("head:{}", h));
      head->types[0] = weights_[h].type();
      inputs[head->name] = weights_[h];
      heads.push_back({graph.outputs[outputs_[h]], head->out()});
    }
    std::vector<std::string> names;
    std::vector<Value> wrt;
    for (Node* node : graph.Variables(VariableRole::kInput)) {
      if (!IsFloat(node->types[0].dtype)) continue;
      names.push_back(node->name);
      wrt.push_back(node->out());
    }
    if (wrt.empty()) return Error({}, "no input of floats");
    MXC_ASSIGN(const auto gradients, Gradients(graph, heads, wrt));
    graph.outputs.clear();
    graph.output_names.clear();
    for (size_t i = 0; i < wrt.size(); ++i) {
      GraphBuilder builder(graph, *wrt[i].node);
      graph.outputs.push_back(gradients[i] ? gradients[i]
                                           : builder.Zeros(wrt[i].type()));
      graph.output_names.push_back("grad:" + names[i]);
    }
    return names;
  }

  Result<Slopes> Along(const std::string& input, const Move& move,
                       double step) const {
    const Tensor& value = inputs_.at(input);
    MXC_ASSIGN(const double above, With({{input, Moved(value, move, step)}}));
    MXC_ASSIGN(const double below, With({{input, Moved(value, move, -step)}}));
    return Slopes{(value_ - below) / step, (above - value_) / step};
  }

  // What double leaves of slopes over such a step.
  double Noise(double step) const {
    return 1e-14 * std::max(1.0, magnitude_) / step;
  }

  // Whether some outputs are no numbers, and left out.
  bool partial() const { return partial_; }

  int64_t Elements(const std::string& input) const {
    return inputs_.at(input).shape().elements();
  }

 private:
  // At random, by 0 where an output is no number.
  void Weigh() {
    std::mt19937 random(1);
    const std::vector<Tensor> values = at_rest_->Outputs();
    for (size_t h = 0; h < outputs_.size(); ++h) {
      const Tensor& output = values[outputs_[h]];
      const TensorType type = weights_[h].type();
      std::byte* bytes = nullptr;
      weights_[h] = Tensor::Allocate(type, &bytes);
      for (int64_t i = 0; i < output.shape().elements(); ++i) {
        // A multiple of 1/64, which every type of floats has.
        const double size = static_cast<double>(8 + random() % 56) / 64;
        const double weight = random() % 2 == 0 ? size : -size;
        if (!std::isfinite(output.At(i))) {
          partial_ = true;
          continue;
        }
        StoreElement(bytes + i * SizeOf(type.dtype), type.dtype, weight);
        magnitude_ += std::abs(weight * output.At(i));
      }
    }
  }

  Result<double> With(const std::map<std::string, Tensor>& moved) const {
    MXC_ASSIGN(const std::vector<Tensor> values, at_rest_->OutputsWith(moved));
    double sum = 0;
    for (size_t h = 0; h < outputs_.size(); ++h) {
      const Tensor& output = values[outputs_[h]];
      for (int64_t i = 0; i < output.shape().elements(); ++i) {
        const double weight = weights_[h].At(i);
        if (weight != 0) sum += weight * output.At(i);
      }
    }
    return sum;
  }

  std::map<std::string, Tensor> inputs_;
  std::unique_ptr<Program> program_;
  std::optional<KeptRun> at_rest_;
  std::vector<size_t> outputs_;  // those of floats
  std::vector<Tensor> weights_;  // of each of these
  double value_ = 0, magnitude_ = 0;
  bool partial_ = false;
};

// What has been compared.
struct Compared {
  int slopes = 0;
  bool any = false;  // one is not 0
};

// Whether the gradient is the slope, or between both at a kink; nullopt where
// nothing can be said.
Result<std::optional<bool>> Agrees(const Loss& loss, const std::string& input,
                                   const Move& move, double rule, double scale,
                                   Slopes& slopes) {
  std::optional<Slopes> coarse;
  for (const double step : {1e-4, 1e-5, 1e-6}) {
    MXC_ASSIGN(slopes, loss.Along(input, move, step));
    if (!slopes.finite()) return std::optional<bool>();
    const double allowed = kRelative * std::abs(slopes.middle()) +
                           0.01 * kRelative * scale + 10 * loss.Noise(step);
    if (std::abs(rule - slopes.middle()) <= allowed) return std::optional(true);
    if (coarse && slopes.IsKink(*coarse, allowed)) {
      // Of several elements at once the one that yields decides.
      if (move.size() > 1) return std::optional<bool>();
      const auto [least, most] = std::minmax(slopes.below, slopes.above);
      return std::optional(rule >= least - allowed && rule <= most + allowed);
    }
    if (coarse && slopes.IsJump(*coarse)) return std::optional<bool>();
    coarse = slopes;
  }
  // What is no number adds 0 times itself.
  if (std::isnan(rule) && loss.partial()) return std::optional<bool>();
  return std::optional(false);
}

Status CompareInput(const Loss& loss, const std::string& input,
                    const Tensor& gradient, std::mt19937& random,
                    Compared& compared) {
  const double scale = LargestMagnitude(gradient);
  for (const Move& move : MovesOf(loss.Elements(input), random)) {
    const double rule = Along(gradient, move);
    Slopes slopes;
    MXC_ASSIGN(const std::optional<bool> right,
               Agrees(loss, input, move, rule, scale, slopes));
    if (!right) continue;
    if (!*right) {
      return Error(
          {}, "WRONG: {}'{}'{}: the gradient is {}, slopes {} and {}",
          std::isnan(rule) ? "NaN: " : "", input,
          move.size() > 1 ? " as a whole" : fmt::format("[{}]", move[0].first),
          rule, slopes.below, slopes.above);
    }
    ++compared.slopes;
    if (rule != 0) compared.any = true;
  }
  return Done{};
}

// Why that error is none; null: it is one.
const char* ReasonOf(const std::string& name, const Status& error) {
  const std::string& text = error.errors().front().message;
  for (const Otherwise& known : kOtherwise) {
    const std::string begin = std::string("WRONG: ") + known.what;
    const bool is_nan = begin.ends_with("NaN: ");
    if (name.starts_with(known.name) && text.starts_with(begin) &&
        (!is_nan || name.ends_with("_expanded"))) {
      return known.reason;
    }
  }
  return nullptr;
}

Status CheckGradients(const std::filesystem::path& folder, bool training,
                      const EngineOptions& engine) {
  std::map<std::string, Tensor> inputs;
  MXC_ASSIGN(Graph forward, GraphOf(folder, training, inputs));
  const std::string operators = OperatorNames(forward);
  MXC_ASSIGN(const Loss loss, Loss::Of(std::move(forward), inputs));
  MXC_ASSIGN(Graph backward, GraphOf(folder, training, inputs));
  MXC_ASSIGN(const auto names, loss.Differentiate(backward, inputs));
  MXC_ASSIGN(const Program program, PlainProgram(std::move(backward)));
  MXC_ASSIGN(
      const std::vector<Tensor> gradients,
      Interpret(program, inputs, {.arithmetic = kDouble, .after_step = {}}));
  Compared compared;
  std::mt19937 random(2);
  const char* otherwise = nullptr;
  for (size_t i = 0; i < names.size(); ++i) {
    Status same = CompareInput(loss, names[i], gradients[i], random, compared);
    if (same.ok()) continue;
    const char* reason = ReasonOf(folder.filename(), same);
    if (reason == nullptr) return same;
    otherwise = reason;
  }
  MXC_ASSIGN(Graph again, GraphOf(folder, training, inputs));
  MXC_RETURN_IF_ERROR(loss.Differentiate(again, inputs));
  MXC_ASSIGN(const std::vector<Tensor> found,
             RunGraph(std::move(again), inputs, engine));
  for (size_t i = 0; i < names.size(); ++i) {
    const Tolerance tolerance = {1e-3,
                                 1e-4 * LargestMagnitude(gradients[i]) + 1e-6};
    const Tensor expected = Rounded(gradients[i], found[i].type().dtype);
    if (auto error = Difference(found[i], expected, tolerance)) {
      return Error({}, "WRONG: '{}': the engine's gradient {}", names[i],
                   *error);
    }
  }
  if (otherwise != nullptr) return Error({}, "otherwise: {}", otherwise);
  if (compared.slopes == 0)
    return Error({}, "nothing is smooth: {}", operators);
  if (!compared.any) return Error({}, "zero everywhere: {}", operators);
  return Done{};
}

}  // namespace

Status CheckOnnxGradients(const std::filesystem::path& folder,
                          const EngineOptions& engine) {
  for (const bool training : {false, true}) {
    if (training) {
      MXC_ASSIGN(const OnnxCase read, ReadOnnxCase(folder));
      if (!TrainsOtherwise(read.graph)) break;
    }
    MXC_RETURN_IF_ERROR(CheckGradients(folder, training, engine));
  }
  return Done{};
}

}  // namespace mxc
