// SPDX-License-Identifier: Apache-2.0
// Tables of which each step names some rows: these alone are updated, in place,
// and no gradient of the whole is ever there.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "ir/graph/builder.h"
#include "ir/ops/nn/sequence/embedding.h"
#include "ir/program/steps/row_update.h"
#include "passes/pass.h"
#include "tests/passes/fed_updates.h"

namespace mxc {
namespace {

constexpr int64_t kTableRows = 6, kWidth = 2, kWords = 3;

// The table's element at v, d is ((37 · (2v + d)) mod 11 − 5) / 8.
Tensor FirstTable() {
  std::vector<float> values;
  for (int64_t i = 0; i < kTableRows * kWidth; ++i) {
    values.push_back(static_cast<float>(37 * i % 11 - 5) / 8);
  }
  return Tensor::FromFloats({kTableRows, kWidth}, values);
}

// `readers` Embeddings of one table, in words, words + `apart` …, added up, and a
// regression of that.
Graph TableGraph(int readers, const char* stype, int apart) {
  Graph graph;
  graph.training = true;
  Node* data = AddInput(graph, "data", {DType::kF32, Shape{kWords}});
  Node* label = AddInput(graph, "label", {DType::kF32, Shape{kWords, kWidth}});
  Node* table = AddParameter(graph, "e_weight", FirstTable());
  table->written.annotations["__storage_type__"] = stype;
  GraphBuilder builder(graph, *table);
  Value sum;
  for (int i = 0; i < readers; ++i) {
    const Value rows = builder.Op<op::Embedding>(
        {apart == 0 ? data->out() : builder.Add(data->out(), i * apart),
         table->out()},
        {.input_dim = kTableRows, .output_dim = kWidth, .sparse_grad = true});
    sum = sum ? builder.Add(sum, rows) : rows;
  }
  graph.outputs = {builder.Op<op::LinearRegressionOutput>({sum, label->out()})};
  graph.output_names = {"out"};
  return graph;
}

Program PlanTraining(Graph graph, TrainingOptions options) {
  static const Target target = *ResolveTarget("x86-64-v3");
  options.optimizer_attrs.emplace_back("rescale_grad", "0.3333333333333333");
  PassContext context = {&target};
  context.training = &options;
  auto program = RunPipeline(std::move(graph), context, {});
  REQUIRE_MESSAGE(program.ok(), Render(program.errors()));
  return std::move(*program);
}

Program PlanTable(const TrainingOptions& options, int readers = 1,
                  const char* stype = "0", int apart = 1) {
  return PlanTraining(TableGraph(readers, stype, apart), options);
}

// The table after three steps.
Tensor Trained3(const Program& program) {
  const std::vector<float> words[] = {{1, 4, 1}, {4, 0, 4}, {5, 1, 1}};
  States states;
  for (int step = 0; step < 3; ++step) {
    StepBy(
        program,
        [&](const Buffer& buffer) {
          if (buffer.name == "data") {
            return Tensor::FromFloats({kWords}, words[step]);
          }
          if (buffer.name != "label") return Tensor::Filled(buffer.type, 0.1);
          std::vector<float> labels;
          for (int i = 0; i < kWords * kWidth; ++i) {
            labels.push_back(
                static_cast<float>((step * 6 + i) * 29 % 13 / 13. - .5));
          }
          return Tensor::FromFloats({kWords, kWidth}, labels);
        },
        states);
  }
  return states.at("e_weight");
}

bool HasDenseGradient(const Program& program) {
  return std::ranges::any_of(program.buffers, [](const Buffer& buffer) {
    return buffer.kind == BufferKind::kInternal &&
           buffer.type.shape == Shape{kTableRows, kWidth};
  });
}

const Step* UpdateOfRows(const Program& program) {
  const auto found = std::ranges::find_if(program.steps, [](const Step& step) {
    return step.body.As<RowUpdate>() != nullptr;
  });
  return found == program.steps.end() ? nullptr : &*found;
}

}  // namespace

TEST_CASE("rows that words name go where MXNet's lazy updates go") {
  // Module of MXNet 1.9.1 with rescale_grad 1 / 3; of ftrl with a row-sparse
  // weight, and a dense one.
  struct Case {
    const char* optimizer;
    std::vector<AttrText> attrs;
    const char* stype;
    bool lazy;
    std::vector<double> table;
  };
  const Case cases[] = {
      {"sgd",
       {{"wd", "0.1"}},
       "0",
       true,
       {-0.602564096, -0.128717944, 0.34069562, -0.461007267, 0, 0.5, -0.375,
        0.125, 0.576230764, -0.227158546, 0.247820511, -0.616666615}},
      {"sgd",
       {{"wd", "0.1"}, {"momentum", "0.9"}},
       "0",
       true,
       {-0.602564096, -0.128717944, 0.32491678, -0.450738013, 0, 0.5, -0.375,
        0.125, 0.560653806, -0.218273938, 0.247820511, -0.616666675}},
      {"sgd",
       {{"wd", "0.1"}, {"momentum", "0.9"}, {"lazy_update", "False"}},
       "0",
       false,
       {-0.559842348, -0.127476171, 0.304762542, -0.432869226, 0, 0.472189516,
        -0.354142129, 0.118047379, 0.512712657, -0.196422353, 0.236535683,
        -0.588454545}},
      {"adam",
       {{"wd", "0.1"}},
       "0",
       true,
       {-0.550585926, -0.199413553, 0.190618828, -0.317510784, 0, 0.5, -0.375,
        0.125, 0.426439822, -0.050312236, 0.186119139, -0.561118484}},
      {"adagrad",
       {},
       "0",
       true,
       {-0.525000215, -0.224997967, 0.214586034, -0.304888844, 0, 0.5, -0.375,
        0.125, 0.4351542, -0.0783859119, 0.349516809, -0.525011539}},
      {"ftrl",
       {{"wd", "0.1"}},
       "1",
       true,
       {-0.0716604665, -0.00960468221, 0.0301014502, -0.0164549854, 0, 0.5,
        -0.375, 0.125, 0.0449264273, -0.00664239749, 0.00012020838,
        -0.00964025874}},
      {"ftrl",
       {{"wd", "0.1"}},
       "0",
       false,
       {0.00446685962, -0.00560038025, 0.0301014502, -0.0164549854, 0, 0, 0, 0,
        0.0449264273, -0.00664239749, 0.00330578559, -0.00670731673}}};
  for (const Case& one : cases) {
    CAPTURE(one.optimizer);
    CAPTURE(one.lazy);
    TrainingOptions options;
    options.optimizer = one.optimizer;
    options.optimizer_attrs = one.attrs;
    const Program program = PlanTable(options, 1, one.stype);
    CHECK((UpdateOfRows(program) != nullptr) == one.lazy);
    if (one.lazy) CHECK(!HasDenseGradient(program));
    const Tensor table = Trained3(program);
    for (size_t i = 0; i < one.table.size(); ++i) {
      CAPTURE(i);
      CHECK(std::abs(table.At(static_cast<int64_t>(i)) - one.table[i]) <=
            1e-6 * std::abs(one.table[i]) + 1e-8);
    }
  }
}

TEST_CASE("rows are updated where they lie") {
  TrainingOptions options;
  options.optimizer = "adam";
  const Program program = PlanTable(options);
  const Step* update = UpdateOfRows(program);
  REQUIRE(update != nullptr);
  REQUIRE(update->outputs.size() == 3);
  for (const int output : update->outputs) {
    const Buffer& next = program.buffers[output];
    CHECK(next.kind == BufferKind::kNextState);
    CHECK(next.alias_of == next.state);
  }
}

TEST_CASE("the readers of one table add their rows up") {
  // The same table with gradients of all rows, of which no others than these
  // are nonzero: without momentum and decay nothing else tells them apart.
  TrainingOptions sparse, dense;
  dense.optimizer_attrs = {{"lazy_update", "False"}};
  const Program rows = PlanTable(sparse, 2), whole = PlanTable(dense, 2);
  CHECK(UpdateOfRows(rows) != nullptr);
  CHECK(UpdateOfRows(whole) == nullptr);
  const Tensor expected = Trained3(whole), found = Trained3(rows);
  for (int64_t i = 0; i < kTableRows * kWidth; ++i) {
    CHECK(found.At(i) == doctest::Approx(expected.At(i)).epsilon(1e-6));
  }
}

TEST_CASE("readers of the same rows name them once") {
  const Program shared = PlanTable({}, 2, "0", 0), apart = PlanTable({}, 2);
  REQUIRE(UpdateOfRows(shared) != nullptr);
  CHECK(UpdateOfRows(shared)->body.As<RowUpdate>()->slots == kWords);
  CHECK(UpdateOfRows(apart)->body.As<RowUpdate>()->slots == 2 * kWords);
}

// 2^48 ways lead from the loss to the parameter.
TEST_CASE("a gradient is searched for rows once, whatever leads to it") {
  Graph graph;
  graph.training = true;
  Node* weight = AddParameter(graph, "w", FirstTable());
  GraphBuilder builder(graph, *weight);
  Value power = weight->out();
  for (int i = 0; i < 48; ++i) {
    power = builder.Op<op::ElemwiseMul>({power, power});
  }
  graph.outputs = {builder.Op<op::MakeLossHead>({power})};
  graph.output_names = {"out"};
  CHECK(UpdateOfRows(PlanTraining(std::move(graph), {})) == nullptr);
}

}  // namespace mxc
