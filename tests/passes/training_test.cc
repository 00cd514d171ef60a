// SPDX-License-Identifier: Apache-2.0
// Training graphs: what differentiate and apply-optimizer make, and refuse.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "ir/graph/builder.h"
#include "ir/ops/nn/sequence/embedding.h"
#include "ir/optimizers/optimizer.h"
#include "ir/program/steps/contraction.h"
#include "ir/program/steps/repeat.h"
#include "passes/passes.h"
#include "passes/training_graph.h"
#include "tests/passes/fed_updates.h"
#include "tests/passes/network.h"

namespace mxc {
namespace {

// `fc_weight`, its gradient as the input `gradient`, and as the loss an output
// that is an input, too.
Graph FedGraph(DType dtype = DType::kF32) {
  Graph graph;
  graph.training = graph.stateful = true;
  Node* weight = AddParameter(graph, "fc_weight",
                              Tensor::Filled({dtype, Shape{2, 3}}, 0.5));
  Node* gradient = AddInput(graph, "gradient", weight->types[0]);
  graph.updates = {{weight, gradient->out()}};
  graph.outputs = {AddInput(graph, "fed", {DType::kF32, Shape{1}})->out()};
  graph.output_names = {"mean"};
  graph.output_uses = {{TensorRole::kLoss, {}}};
  return graph;
}

// One step; `states` are those after it.
void RunStep(const Program& program, double gradient, double loss,
             States& states) {
  const auto fed = [&](const Buffer& buffer) {
    const double value = buffer.name == "gradient" ? gradient
                         : buffer.name == "fed"    ? loss
                                                   : 0.1;
    return Tensor::Filled(buffer.type, value);
  };
  StepBy(program, fed, states);
}

std::string FirstError(const Result<bool>& result) {
  return result.ok() ? "" : result.errors()[0].message;
}

}  // namespace

TEST_CASE("a step whose loss is not finite changes no state") {
  for (const Optimizer* optimizer : AllOptimizers()) {
    CAPTURE(optimizer->name);
    TrainingOptions options;
    options.optimizer = optimizer->name;
    const Program program = PlanFed(FedGraph(), options);
    States states;
    RunStep(program, 0.25, 1, states);
    CHECK(states.at("fc_weight").At(0) != 0.5);
    CHECK(states.at("optimizer/updates").At(0) == 1);
    for (const double loss : {std::numeric_limits<double>::quiet_NaN(),
                              std::numeric_limits<double>::infinity(),
                              -std::numeric_limits<double>::infinity()}) {
      States after = states;
      RunStep(program, 0.25, loss, after);
      for (const auto& [name, value] : states) {
        CAPTURE(name);
        CHECK(SameBytes(after.at(name), value));
      }
    }
  }
}

TEST_CASE("the norm of a gradient is told as the optimizer takes it") {
  for (const DType dtype : {DType::kF32, DType::kF16, DType::kF64}) {
    CAPTURE(static_cast<int>(dtype));
    TrainingOptions options;
    options.gradient_norms = true;
    options.optimizer_attrs = {
        {"rescale_grad", "0.5"}, {"clip_gradient", "0.01"}, {"wd", "3"}};
    const Program program = PlanFed(FedGraph(dtype), options);
    std::map<std::string, Tensor> inputs;
    for (const int b : program.BuffersOf(BufferKind::kInput)) {
      const Buffer& buffer = program.buffers[b];
      inputs[buffer.name] =
          Tensor::Filled(buffer.type, buffer.name == "gradient" ? -4 : 0.1);
    }
    const auto outputs = Interpret(program, inputs, {});
    REQUIRE(outputs.ok());
    REQUIRE(program.BuffersOf(BufferKind::kOutput).size() == 2);
    const Tensor& norm = outputs->at(1);
    CHECK(norm.type() == TensorType{DType::kF32, Shape{1}});
    // Six elements of 0.5 · 4.
    CHECK(norm.At(0) == doctest::Approx(std::sqrt(6 * 4.0)));
  }
}

// By name: what each tensor of a planned program is for.
std::map<std::string, TensorUse> UsesOf(const Program& program) {
  std::map<std::string, TensorUse> uses;
  for (const Buffer& buffer : program.buffers) {
    if (buffer.use.role != TensorRole::kOther) uses[buffer.name] = buffer.use;
  }
  return uses;
}

TEST_CASE("tensors of a planned program know what they are for") {
  TrainingOptions options;
  options.optimizer = "nadam";  // keeps what all parameters share
  options.gradient_norms = true;
  const std::map<std::string, TensorUse> expected = {
      {"learning_rate", {TensorRole::kRate, {}}},
      {"mean", {TensorRole::kLoss, {}}},
      {"norm:fc_weight", {TensorRole::kNorm, "fc_weight"}},
      {"fc_weight/mean", {TensorRole::kOptimizer, "fc_weight"}},
      {"fc_weight/var", {TensorRole::kOptimizer, "fc_weight"}},
      {"optimizer/m_schedule", {TensorRole::kShared, {}}},
      {"optimizer/updates", {TensorRole::kUpdates, {}}}};
  CHECK(UsesOf(PlanFed(FedGraph(), options)) == expected);
  Graph network;
  const Node* parameter =
      AddParameter(network, "w", Tensor::Filled({DType::kF32, Shape{2}}, 0.5));
  options.optimizer = "sgd";
  auto update = UpdateGraph(network, *parameter, options);
  REQUIRE(update.ok());
  const Target target = *ResolveTarget("x86-64-v3");
  auto program = RunPipeline(std::move(*update), {&target}, {});
  REQUIRE(program.ok());
  const std::map<std::string, TensorUse> of_update = {
      {"learning_rate", {TensorRole::kRate, {}}},
      {"grad:w", {TensorRole::kGradient, "w"}},
      {"optimizer/updates", {TensorRole::kUpdates, {}}}};
  CHECK(UsesOf(*program) == of_update);
}

TEST_CASE("a half-precision parameter has a copy that adds up small steps") {
  TrainingOptions options;
  options.optimizer_attrs = {{"multi_precision", "True"}};
  const Program program = PlanFed(FedGraph(DType::kF16), options);
  States states;
  // 0.1 · 1e-3 is less than half of what f16 can tell apart at 0.5.
  for (int i = 0; i < 20; ++i) RunStep(program, 1e-3, 1, states);
  CHECK(states.at("fc_weight/weight_f32").At(0) ==
        doctest::Approx(0.498).epsilon(1e-5));
  CHECK(states.at("fc_weight").At(0) == doctest::Approx(0.498).epsilon(1e-3));
  CHECK(states.at("fc_weight").At(0) < 0.5);
}

TEST_CASE("rows that data do not name stay, with their states and copies") {
  for (const char* lazy : {"True", "False"}) {
    for (const DType dtype : {DType::kF32, DType::kF16}) {
      Graph graph = FedGraph(dtype);
      GraphBuilder builder(graph, *graph.updates[0].variable);
      // Both of RunStep's 0.1 are row 0.
      const Value words =
          AddInput(graph, "words", {DType::kF32, Shape{2}})->out();
      graph.outputs.push_back(builder.Op<op::Embedding>(
          {words, graph.updates[0].variable->out()},
          {.input_dim = 2, .output_dim = 3, .sparse_grad = true}));
      graph.output_names.push_back("words_of");
      TrainingOptions options;
      options.optimizer = "sgd";
      options.optimizer_attrs = {{"momentum", "0.9"},
                                 {"wd", "0.5"},
                                 {"multi_precision", "True"},
                                 {"lazy_update", lazy}};
      const Program program = PlanFed(std::move(graph), options);
      States states;
      for (int step = 0; step < 2; ++step) RunStep(program, 0.25, 1, states);
      for (const auto& [name, value] : states) {
        if (!name.starts_with("fc_weight")) continue;
        CAPTURE(name);
        const double kept = name == "fc_weight/momentum" ? 0 : 0.5;
        for (int64_t i = 0; i < 6; ++i) {
          const bool stays = i >= 3 && *lazy == 'T';
          CHECK((value.At(i) == kept) == stays);
        }
      }
    }
  }
}

TEST_CASE("a state that starts as the parameter takes what it is by then") {
  TrainingOptions options;
  options.optimizer = "dcasgd";
  options.optimizer_attrs = {{"lamda", "1"}};
  const Program program = PlanFed(FedGraph(), options);
  States states;
  states["fc_weight"] = Tensor::Filled({DType::kF32, Shape{2, 3}}, 2);
  RunStep(program, 1, 1, states);
  // Nothing is delayed in the first step.
  CHECK(states.at("fc_weight").At(0) == doctest::Approx(1.9));
  CHECK(states.at("fc_weight/previous_weight").At(0) == 2);
}

TEST_CASE("random steps are the same for the same state, and no others") {
  TrainingOptions options;
  options.optimizer = "sgld";
  const Program program = PlanFed(FedGraph(), options);
  States once, again;
  RunStep(program, 0, 1, once);
  RunStep(program, 0, 1, again);
  CHECK(SameBytes(once.at("fc_weight"), again.at("fc_weight")));
  const double first = once.at("fc_weight").At(0) - 0.5;
  again["fc_weight"] = Tensor::Filled({DType::kF32, Shape{2, 3}}, 0.5);
  RunStep(program, 0, 1, again);
  CHECK(again.at("fc_weight").At(0) - 0.5 != doctest::Approx(first));
}

TEST_CASE("multipliers: by name, by annotation, by the options") {
  const auto decayed = [](const std::string& name, const char* annotation,
                          std::optional<double> given) {
    Graph graph = FedGraph();
    Node* weight = graph.updates[0].variable;
    weight->name = name;
    if (annotation) weight->written.annotations["__wd_mult__"] = annotation;
    TrainingOptions options;
    options.optimizer_attrs = {{"wd", "1"}};
    if (given) options.wd_mult[name] = *given;
    const Program program = PlanFed(std::move(graph), options);
    States states;
    RunStep(program, 0, 1, states);
    return 0.5 - states.at(name).At(0);  // 0.1 · multiplier · 0.5
  };
  CHECK(decayed("a_weight", nullptr, {}) == doctest::Approx(0.05));
  CHECK(decayed("a_gamma", nullptr, {}) == doctest::Approx(0.05));
  CHECK(decayed("a_bias", nullptr, {}) == 0);
  CHECK(decayed("parameters", nullptr, {}) == 0);
  CHECK(decayed("a_bias", "2", {}) == doctest::Approx(0.1));
  CHECK(decayed("a_bias", "2", 3) == doctest::Approx(0.15));
}

TEST_CASE("what the user says about an optimizer is checked") {
  const auto refused = [](TrainingOptions options,
                          const char* annotation = nullptr) {
    Graph graph = FedGraph();
    if (annotation != nullptr) {
      graph.updates[0].variable->written.annotations["__lr_mult__"] =
          annotation;
    }
    PassContext context;
    context.training = &options;
    return FirstError(ApplyOptimizer(graph, context));
  };
  TrainingOptions options;
  options.optimizer = "adamm";
  CHECK(refused(options) == "optimizer 'adamm' is unknown; nearest: adam");
  options.optimizer = "SGD";
  CHECK(refused(options) == "");
  options.optimizer_attrs = {{"momentun", "0.9"}};
  CHECK(refused(options) ==
        "optimizer 'sgd': attribute 'momentun' is unknown; nearest: momentum");
  options.optimizer_attrs = {{"momentum", "much"}};
  CHECK(refused(options).starts_with("optimizer 'sgd': "));
  options.optimizer_attrs.clear();
  CHECK(refused(options, "ten") ==
        "'fc_weight': __lr_mult__ is 'ten', expected a number");
}

TEST_CASE("names that the optimizer needs are refused") {
  for (const char* name : {"learning_rate", "fc_weight/momentum"}) {
    Graph graph = FedGraph();
    graph.outputs.push_back(
        AddInput(graph, name, {DType::kF32, Shape{1}})->out());
    TrainingOptions options;
    PassContext context;
    context.training = &options;
    CHECK(FirstError(ApplyOptimizer(graph, context)).find(name) !=
          std::string::npos);
  }
}

TEST_CASE("a network without a loss head cannot train") {
  Graph graph;
  graph.training = true;
  graph.outputs = {AddInput(graph, "data", {DType::kF32, Shape{1}})->out()};
  TrainingOptions options;
  PassContext context;
  context.training = &options;
  const auto result = Differentiate(graph, context);
  REQUIRE_FALSE(result.ok());
  CHECK(result.errors()[0].message.find("no loss head") != std::string::npos);
  CHECK(result.errors()[0].notes[0].find("SoftmaxOutput") != std::string::npos);
}

TEST_CASE("a recurrent layer that trains runs forward once") {
  constexpr int64_t kSteps = 5, kBatch = 4, kInput = 3, kHidden = 8;
  constexpr int64_t kGates = 4 * kHidden;
  Network net("lstm");
  net.graph.training = net.graph.stateful = true;
  const Shape state = {1, kBatch, kHidden};
  const int64_t parameters = kGates * (kInput + kHidden + 2);
  Node* weights =
      AddParameter(net.graph, "lstm_parameters",
                   Tensor::Filled({DType::kF32, Shape{parameters}}, 0.1));
  const Value hidden =
      net.Op("RNN", "lstm",
             {net.Input("data", {kSteps, kBatch, kInput}), weights->out(),
              net.Input("state", state), net.Input("state_cell", state)},
             {{"mode", "lstm"}, {"num_layers", "1"}, {"state_size", "8"}});
  net.Output(net.Op("LinearRegressionOutput", "loss",
                    {hidden, net.Input("label", {kSteps, kBatch, kHidden})}));
  const Target target = *ResolveTarget("x86-64-v3");
  const TrainingOptions options;
  PassContext context{&target};
  context.training = &options;
  const auto program = RunPipeline(std::move(net.graph), context, {});
  REQUIRE_MESSAGE(program.ok(), Render(program.errors()));
  int forward = 0;
  for (const Step& step : program->steps) {
    const Repeat* repeat = step.body.As<Repeat>();
    if (repeat == nullptr) continue;
    CHECK(repeat->turns == kSteps);
    forward += static_cast<int>(
        std::ranges::count_if(repeat->body->steps, [&](const Step& inner) {
          const ContractionStep* body = inner.contraction();
          return body != nullptr && body->contraction.batch == kBatch &&
                 body->contraction.out == kGates;
        }));
  }
  CHECK(forward == 1);
}

TEST_CASE("the form of a state names its arrays") {
  CHECK(StateNames("None").empty());
  CHECK(StateNames("(n,)") == std::vector<std::string>{"n"});
  CHECK(StateNames("((mean, var), weight_f32)") ==
        std::vector<std::string>{"mean", "var", "weight_f32"});
  const Optimizer* sgd = FindOptimizer("ccsgd");
  REQUIRE(sgd != nullptr);
  std::vector<AttrError> errors;
  const AttrsPtr attrs = sgd->parse(
      std::vector<AttrText>{{"multi_precision", "1"}, {"momentum", "0.9"}},
      errors);
  CHECK(errors.empty());
  CHECK(StateForm(*sgd, attrs.get(), DType::kF32) == "momentum");
  CHECK(StateForm(*sgd, attrs.get(), DType::kF16) == "(momentum, weight_f32)");
}

TEST_CASE("every optimizer prints what it parses") {
  for (const Optimizer* optimizer : AllOptimizers()) {
    CAPTURE(optimizer->name);
    CHECK_FALSE(optimizer->doc.empty());
    std::vector<AttrError> errors;
    const AttrsPtr attrs = optimizer->parse({}, errors);
    CHECK(errors.empty());
    const std::vector<AttrText> text = optimizer->print(attrs.get());
    const AttrsPtr again = optimizer->parse(text, errors);
    CHECK(errors.empty());
    CHECK(optimizer->print(again.get()) == text);
  }
}

}  // namespace mxc
