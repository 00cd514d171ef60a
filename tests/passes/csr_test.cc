// SPDX-License-Identifier: Apache-2.0
// Matrices of which few elements are not zero: a factorization machine goes where
// MXNet's goes, and no matrix, nor gradient of one, is there as a whole.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "ir/graph/builder.h"
#include "ir/ops/tensor/reduction/reduction.h"
#include "ir/ops/tensor/sparse/csr.h"
#include "ir/program/steps/row_update.h"
#include "passes/pass.h"
#include "tests/passes/fed_updates.h"

namespace mxc {
namespace {

constexpr int64_t kFeatures = 12, kNonzeros = 3, kFactors = 2, kSamples = 4;

Tensor ParameterOf(const std::string& name, int64_t features) {
  if (name == "w0") return Tensor::Filled({DType::kF32, Shape{1}}, 0.125);
  std::vector<float> values;
  const int64_t width = name == "v" ? kFactors : 1;
  for (int64_t i = 0; i < features; ++i) {
    for (int64_t d = 0; d < width; ++d) {
      const int64_t number =
          name == "v" ? (features + 2 * i + d) * 3 % 13 - 6 : 5 * i % 7 - 3;
      values.push_back(static_cast<float>(number) / 16 + 1.0f / 64);
    }
  }
  return Tensor::FromFloats({features, width}, values);
}

// w0 + x·w + ½ Σ ((x·v)² − x²·v²), as MXNet's example has it; x as its elements
// or as a whole.
Graph MachineGraph(bool whole, int64_t features) {
  Graph graph;
  graph.training = true;
  const auto input = [&](const char* name, DType dtype, Shape shape) {
    return AddInput(graph, name, {dtype, std::move(shape)})->out();
  };
  const auto parameter = [&](const char* name) {
    Node* node = AddParameter(graph, name, ParameterOf(name, features));
    node->written.annotations["__wd_mult__"] = "1.0";
    return node->out();
  };
  const Value label = input("label", DType::kF32, {kSamples});
  const Value w = parameter("w"), v = parameter("v"), w0 = parameter("w0");
  GraphBuilder b(graph, *w.node);
  const Shape elements = {kSamples, kNonzeros};
  const Value x = whole
                      ? input("x", DType::kF32, {kSamples, features})
                      : b.Op<op::Csr>({input("indices", DType::kI32, elements),
                                       input("values", DType::kF32, elements)},
                                      {.columns = features});
  const Value linear = b.Add(b.Op<op::Dot>({x, w}), w0);
  const Value pairs = b.Mul(b.Square(b.Op<op::Dot>({x, v})), 0.5);
  const Value all = b.Sum(b.Concat({linear, pairs}, 1), {1}, true);
  const Value squares =
      b.Op<op::SquareSum>({v}, {.axis = Extents{1}, .keepdims = true});
  const Value selves = b.Mul(b.Op<op::Dot>({b.Square(x), squares}), -0.5);
  graph.outputs = {
      b.Op<op::LogisticRegressionOutput>({b.Add(all, selves), label})};
  graph.output_names = {"out"};
  return graph;
}

Program PlanMachine(TrainingOptions options, bool whole = false,
                    int64_t features = kFeatures) {
  static const Target target = *ResolveTarget("x86-64-v3");
  options.optimizer_attrs.emplace_back("rescale_grad", "0.25");
  PassContext context = {&target};
  context.training = &options;
  auto program = RunPipeline(MachineGraph(whole, features), context, {});
  REQUIRE_MESSAGE(program.ok(), Render(program.errors()));
  return std::move(*program);
}

// Element k of sample n in a step; the last one of sample 1 is none.
struct CsrElement {
  int64_t column = -1;
  double value = 0;
};
CsrElement ElementAt(int64_t step, int64_t n, int64_t k) {
  if (n == 1 && k == 2) return {};
  const int64_t number = (step * 12 + n * 3 + k) * 7 % 11 - 4;
  return {(step * 5 + n * 3) % 4 + 4 * k, static_cast<double>(number) / 4};
}

// What an input is fed at element i.
double FedAt(const std::string& input, int64_t step, int64_t i, double rate) {
  const int64_t n = i / kNonzeros, k = i % kNonzeros;
  if (input == "indices") {
    return static_cast<double>(ElementAt(step, n, k).column);
  }
  if (input == "values") return ElementAt(step, n, k).value;
  if (input == "label") return static_cast<double>((step + i) % 2);
  if (input != "x") return rate;
  // A sample names column c as its element c / 4, if at all.
  const int64_t column = i % kFeatures;
  const CsrElement one = ElementAt(step, i / kFeatures, column / 4);
  return one.column == column ? one.value : 0;
}

Tensor FedTo(const Buffer& buffer, int64_t step, double rate) {
  std::byte* bytes = nullptr;
  Tensor tensor = Tensor::Allocate(buffer.type, &bytes);
  const int64_t size = SizeOf(buffer.type.dtype);
  for (int64_t i = 0; i < buffer.type.shape.elements(); ++i) {
    StoreElement(bytes + i * size, buffer.type.dtype,
                 FedAt(buffer.name, step, i, rate));
  }
  return tensor;
}

States AfterThreeSteps(const Program& program, double rate) {
  States states;
  for (int step = 0; step < 3; ++step) {
    StepBy(
        program,
        [&](const Buffer& buffer) { return FedTo(buffer, step, rate); },
        states);
  }
  return states;
}

void CheckNear(const Tensor& found, const std::vector<double>& expected,
               double tolerance) {
  for (size_t i = 0; i < expected.size(); ++i) {
    CAPTURE(i);
    CHECK(std::abs(found.At(static_cast<int64_t>(i)) - expected[i]) <=
          tolerance * (0.01 + std::abs(expected[i])));
  }
}

bool HasAxisOf(const Program& program, int64_t features) {
  return std::ranges::any_of(program.buffers, [&](const Buffer& buffer) {
    return buffer.kind == BufferKind::kInternal &&
           std::ranges::count(buffer.type.shape.dims(), features) > 0;
  });
}

}  // namespace

TEST_CASE("a factorization machine goes where MXNet's goes") {
  // Module of MXNet 1.9.1 on csr batches, with row-sparse w and v.
  struct Case {
    const char* optimizer;
    std::vector<AttrText> attrs;
    double rate;
    std::vector<double> w, v, w0;
  };
  const Case cases[] = {
      {"adam",
       {{"wd", "0.1"}},
       0.05,
       {-0.0682607591, 0.250134647, -0.0853059664, -0.0126899788, 0.0994764492,
        0.0088272728, -0.0773966685, -0.0935340524, 0.193286195, -0.0190298706,
        -0.0658867583, 0.245418981},
       {0.134881288,  -0.213018522,  -0.165650412,  0.0453343913, 0.0621894896,
        0.2431321,    -0.218509406,  -0.105865985,  0.195686653,  0.182819098,
        -0.152796566, 0.0214155596,  -0.0356622376, 0.138922319,  -0.216078699,
        -0.028450992, -0.0475315265, 0.224463731,   0.293689013,  -0.134581506,
        0.06586577,   0.227383614,   0.249273583,   -0.218093738},
       {-0.00687492639}},
      {"sgd",
       {{"wd", "0.1"}, {"momentum", "0.9"}},
       0.5,
       {0.0600481927, 0.286085963, -0.189745784, 0.115028672, -0.00624791533,
        0.109766692, -0.0523525178, -0.0606252626, 0.155811027, 0.00560689345,
        -0.0718915761, 0.248813316},
       {0.225924298,   -0.204352096,  -0.114018597,  0.020489525, 0.137946263,
        0.300962061,   -0.17757462,   -0.0566135868, 0.161706343, 0.171959847,
        -0.222765446,  -0.0722077638, 0.0462886579,  0.191605836, -0.302164644,
        -0.103140943,  0.0077569182,  0.195507377,   0.345649183, -0.198350251,
        0.00621659122, 0.189365551,   0.300781757,   -0.243474483},
       {-0.00918775424}}};
  for (const Case& one : cases) {
    CAPTURE(one.optimizer);
    TrainingOptions options;
    options.optimizer = one.optimizer;
    options.optimizer_attrs = one.attrs;
    const Program program = PlanMachine(options);
    CHECK(std::ranges::count_if(program.steps, [](const Step& step) {
            return step.body.As<RowUpdate>() != nullptr;
          }) == 2);
    const States states = AfterThreeSteps(program, one.rate);
    CheckNear(states.at("w"), one.w, 2e-5);
    CheckNear(states.at("v"), one.v, 2e-5);
    CheckNear(states.at("w0"), one.w0, 2e-5);
  }
}

TEST_CASE("nothing is as large as all features but what is learned") {
  constexpr int64_t kMany = 1000;
  TrainingOptions options;
  options.optimizer = "adam";
  CHECK(!HasAxisOf(PlanMachine(options, false, kMany), kMany));
  // Without lazy updates gradients are.
  options.optimizer_attrs = {{"lazy_update", "False"}};
  CHECK(HasAxisOf(PlanMachine(options, false, kMany), kMany));
}

TEST_CASE("the elements of a matrix give what the whole gives") {
  // Where all rows have gradients, those that are zero change nothing.
  TrainingOptions options;
  options.optimizer = "sgd";
  const Program few = PlanMachine(options);
  const Program whole = PlanMachine(options, true);
  const States expected = AfterThreeSteps(whole, 0.5);
  for (const auto& [name, value] : AfterThreeSteps(few, 0.5)) {
    CAPTURE(name);
    std::vector<double> wanted;
    for (int64_t i = 0; i < value.shape().elements(); ++i) {
      wanted.push_back(expected.at(name).At(i));
    }
    CheckNear(value, wanted, 1e-5);
  }
}

}  // namespace mxc
