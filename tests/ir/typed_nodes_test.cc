// SPDX-License-Identifier: Apache-2.0
// Nodes that rules make of operators and attributes that the compiler knows.
#include <doctest/doctest.h>

#include "ir/graph/builder.h"
#include "ir/ops/operators.h"
#include "ir/ops/tensor/elementwise/scalar.h"
#include "ir/ops/tensor/shape/concat.h"
#include "ir/ops/tensor/shape/swap_axis.h"

namespace mxc {
namespace {

// A template, so that what does not compile is an answer.
template <class Builder>
constexpr bool KnowsAxes() {
  return requires(Builder b, Value x) {
    b.template Op<op::SwapAxis>({x}, {.dim1 = 0, .dim2 = 1});
  };
}
template <class Builder>
constexpr bool KnowsMisspelled() {
  return requires(Builder b, Value x) {
    b.template Op<op::SwapAxis>({x}, {.dim1 = 0, .dim3 = 1});
  };
}
template <class Builder>
constexpr bool TakesText() {
  return requires(Builder b, Value x) {
    b.template Op<op::SwapAxis>({x}, {.dim1 = "0", .dim2 = 1});
  };
}
template <class Builder>
constexpr bool GivesReluAttributes() {
  return requires(Builder b, Value x) {
    b.template Op<op::Relu>({x}, {.dim1 = 0});
  };
}
template <class Builder>
constexpr bool TakesName() {
  return requires(Builder b, Value x) { b.Op("relu", {x}); };
}
static_assert(KnowsAxes<GraphBuilder>());
static_assert(!KnowsMisspelled<GraphBuilder>());
static_assert(!TakesText<GraphBuilder>());
static_assert(!GivesReluAttributes<GraphBuilder>());
static_assert(!TakesName<GraphBuilder>());

struct Made {
  Graph graph;
  Node* x = graph.AddVariable("x");
  GraphBuilder b{graph, *x};

  Made() { x->types[0] = {DType::kF32, Shape{2, 3}}; }
  Value in() { return x->out(); }
};

void CheckAlike(const Node& typed, const Node& text) {
  CHECK(typed.op == text.op);
  CHECK(typed.name == text.name);
  CHECK(typed.types == text.types);
  CHECK(typed.inputs == text.inputs);
  CHECK(typed.op->print(typed.attrs.get()) == text.op->print(text.attrs.get()));
}

TEST_CASE("typed nodes are those of the same text") {
  Made made;
  GraphBuilder& b = made.b;
  const Value x = made.in();
  const auto check = [](Value typed, Value text) {
    CheckAlike(*typed.node, *text.node);
  };
  check(b.Op<op::SwapAxis>({x}, {.dim1 = -2, .dim2 = -1}, "turned"),
        b.Op(OperatorOf<op::SwapAxis>(), {x}, {{"dim1", "-2"}, {"dim2", "-1"}},
             "turned"));
  check(b.Op<op::Concat>({x, x}, {.num_args = 2, .dim = 0}),
        b.Op(OperatorOf<op::Concat>(), {x, x},
             {{"num_args", "2"}, {"dim", "0"}}));
  check(b.Op<op::MaximumScalar>({x}, {.scalar = 0.1}),
        b.Op(OperatorOf<op::MaximumScalar>(), {x}, {{"scalar", "0.1"}}));
  check(b.Op<op::Relu>({x}), b.Op(OperatorOf<op::Relu>(), {x}));
  check(b.Op<op::Relu>({x}, "positive"),
        b.Op(OperatorOf<op::Relu>(), {x}, {}, "positive"));
}

TEST_CASE("what is left out has its default") {
  Made made;
  const Value given = made.b.Op<op::MaximumScalar>({made.in()}, {.scalar = 1});
  const Value left = made.b.Op<op::MaximumScalar>({made.in()});
  CheckAlike(*given.node, *left.node);
  CHECK(given.node->As<ScalarAttrs>().scalar == 1);
}

TEST_CASE("attributes are stated as a file would") {
  const auto stated = [](const Operator& op, const auto& attrs) {
    return StatedAttrs(op, &attrs);
  };
  using Texts = std::vector<AttrText>;
  const Operator& scalar = OperatorOf<op::MaximumScalar>();
  CHECK(stated(scalar, ScalarAttrs{.scalar = 1}) == Texts{});
  CHECK(stated(scalar, ScalarAttrs{.scalar = 0.1}) == Texts{{"scalar", "0.1"}});
  // Required, though it is the default.
  CHECK(stated(OperatorOf<op::Concat>(), ConcatAttrs{.num_args = 1}) ==
        Texts{{"num_args", "1"}});
}

TEST_CASE("attributes that are illegal are refused") {
  const auto why = [](const Operator& op, const std::vector<AttrText>& texts) {
    const auto legal = LegalAttrs(op, texts);
    return legal.ok() ? "" : legal.errors()[0].message;
  };
  const Operator& concat = OperatorOf<op::Concat>();
  CHECK(why(concat, {{"num_args", "2"}}) == "");
  CHECK(why(concat, {{"num_args", "0"}}) ==
        "num_args is 0, expected 1 to 65536");
  CHECK(why(concat, {}) == "attribute 'num_args' is missing");
}

TEST_CASE("every operator of ops.def is the one that it names") {
  const std::span<const Operator* const> all = AllOperators();
  size_t place = 0;
#define MXC_OPERATOR(family, Id) CHECK(&OperatorOf<op::Id>() == all[place++]);
#include "ir/ops/ops.def"
#undef MXC_OPERATOR
  CHECK(place == all.size());
  CHECK(OperatorOf<op::SwapAxis>().name == "SwapAxis");
}

}  // namespace
}  // namespace mxc
