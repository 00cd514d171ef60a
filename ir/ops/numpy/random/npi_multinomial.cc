// SPDX-License-Identifier: Apache-2.0
// _npi_multinomial: how often each of C outcomes came in n trials.
//   a       f[C]: their probabilities, if pvals is None; what is missing to 1 is
//           the last one's
//   output  i64[size…, C]
// C1  a has one axis
// C2  pvals are numbers, of which all but the last sum up to at most 1
// C3  trials times outcomes, of all experiments, are fewer than 2^32
// Source: MXNet 1.9.1 operator/numpy/random/np_multinomial_op.h.
#include <numeric>

#include "ir/ops/numpy/np_composition.h"
#include "ir/ops/numpy/reduction/np_cumsum.h"

namespace mxc {
namespace {

// A list of numbers, as fields are read.
class PvalsParser : public Fields {
 public:
  explicit PvalsParser(std::string_view text) : text_(text) {}
  void Visit(Field& field) override { legal = !ParseField(field, text_); }

  bool legal = false;

 private:
  std::string_view text_;
};

struct NpiMultinomialAttrs {
  int64_t n = 1;
  std::string pvals = "None";
  std::optional<Extents> size;

  void Describe(Fields& f) {
    f("n", n).Required().Min(1).Doc("trials");
    f("pvals", pvals).Doc("probabilities, (0.2, 0.8); None: an input");
    f("size", size).Min(1).Doc("extents; None: one experiment");
  }

  bool stated() const { return pvals != "None"; }
  // nullopt: these are no numbers.
  std::optional<std::vector<double>> numbers() const {
    PvalsParser parser(pvals);
    std::vector<double> list;
    parser("pvals", list);
    if (!parser.legal || list.empty()) return std::nullopt;
    return list;
  }
};

std::optional<std::string> CheckPvals(const NpiMultinomialAttrs& a) {
  if (!a.stated()) return std::nullopt;
  const auto list = a.numbers();
  if (!list) return fmt::format("C2: pvals are {}, expected numbers", a.pvals);
  const double sum = std::accumulate(list->begin(), list->end() - 1, 0.0);
  if (sum <= 1 + 1e-12) return std::nullopt;
  return fmt::format("C2: pvals but the last sum up to {}, expected at most 1",
                     sum);
}

void NpiMultinomialTypes(const NpiMultinomialAttrs& a, TypeInference& t) {
  t.SetOutDType(0, DType::kI64);
  Extents dims = a.size.value_or(Extents());
  if (a.stated()) {
    dims.push_back(std::ssize(*a.numbers()));
  } else {
    if (!t.In(0).known()) return;
    if (!t.Require(t.In(0).rank() == 1, "C1: a has shape {}",
                   ToString(t.In(0)))) {
      return;
    }
    dims.push_back(t.In(0)[0]);
  }
  t.SetOut(0, Shape(dims));
  dims.push_back(a.n);
  const auto compared = CheckedProduct(dims);
  t.Require(compared && *compared < int64_t{1} << 32,
            "C3: {} trials for an output of shape {}", a.n, ToString(t.Out(0)));
}

Value Pvals(const NpiMultinomialAttrs& a, const Node& node, GraphBuilder& b) {
  if (!a.stated()) return b.Cast(node.inputs[0], DType::kF32);
  const std::vector<double> list = *a.numbers();
  const std::vector<float> numbers(list.begin(), list.end());
  return b.Constant(Tensor::FromFloats(Shape{std::ssize(numbers)}, numbers),
                    "pvals");
}

// A trial has outcome c or one before it where its number is below the sum of
// the first c + 1 probabilities; it always has the last one or one before it.
std::vector<Value> NpiMultinomialParts(const NpiMultinomialAttrs& a,
                                       const Node& node, GraphBuilder& b) {
  const Shape& shape = node.types[0].shape;
  const int64_t outcomes = shape[shape.rank() - 1];
  const int64_t rows = shape.elements() / outcomes;
  const TensorType last = {DType::kF32, Shape{rows, 1}};
  Value counts = b.Mul(b.Ones(last), static_cast<double>(a.n));
  if (outcomes > 1) {
    const Value sums =
        b.SliceAxis(b.Op<op::NpCumsum>({Pvals(a, node, b)}, {.axis = 0}), 0, 0,
                    outcomes - 1);
    const Value drawn = b.Uniform(Shape{rows, a.n, 1}, "trials");
    const Value below = b.Op<op::BroadcastLesser>(
        {drawn, b.Reshape(sums, {1, 1, outcomes - 1})});
    counts = b.Concat({b.Sum(below, {1}), counts}, 1);
    const Value before =
        b.Concat({b.Zeros(last), b.SliceAxis(counts, 1, 0, outcomes - 1)}, 1);
    counts = b.Sub(counts, before);
  }
  return {b.Reshape(b.Cast(counts, DType::kI64), shape)};
}

}  // namespace

MXC_OP(NpiMultinomial) {
  return Op<NpiMultinomialAttrs>("_npi_multinomial")
      .Doc("how often each outcome came in n trials")
      .InputsOf([](const NpiMultinomialAttrs& a) {
        return a.stated() ? std::vector<InputSpec>()
                          : std::vector<InputSpec>{{"a"}};
      })
      .Check(CheckPvals)
      .RandomIf([](const auto&, bool) { return true; })
      .Types(NpiMultinomialTypes)
      .Decompose(NpiMultinomialParts)
      .ZeroGradient();
}

}  // namespace mxc
