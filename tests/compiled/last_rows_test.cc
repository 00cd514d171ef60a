// SPDX-License-Identifier: Apache-2.0
// Networks of which the last rows alone are asked for: what rows of products go
// into those is computed, and nothing else.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "codegen/codegen.h"
#include "ir/program/steps/contraction.h"
#include "passes/pass.h"
#include "tests/cases/engine.h"
#include "tests/passes/network.h"
#include "tests/support/levels.h"

namespace mxc {
namespace {

constexpr int64_t kTokens = 64, kSize = 96, kInner = 200, kWords = 400;

Value Dense(Network& net, const std::string& name, Value x, int64_t in,
            int64_t out) {
  return net.Op("FullyConnected", name,
                {x, net.Constant(name + "_weight", {out, in}),
                 net.Constant(name + "_bias", {out})},
                {{"num_hidden", std::to_string(out)}, {"flatten", "False"}});
}

Value Normalized(Network& net, const std::string& name, Value x) {
  return net.Op("LayerNorm", name,
                {x, net.Constant(name + "_gamma", {kSize}),
                 net.Constant(name + "_beta", {kSize})});
}

// A layer of a transformer and the next word behind the last token, for `texts`
// texts.
Network NextWord(int64_t texts) {
  Network net;
  const Value x = net.Input("x", {texts, kTokens, kSize});
  const Value normal = Normalized(net, "norm", x);
  const Value scores = net.Op("batch_dot", "scores",
                              {Dense(net, "query", normal, kSize, kSize),
                               Dense(net, "key", normal, kSize, kSize)},
                              {{"transpose_b", "True"}});
  const Value context = net.Op("batch_dot", "context",
                               {net.Op("softmax", "shares", {scores}),
                                Dense(net, "value", normal, kSize, kSize)});
  const Value attended = net.Op("elemwise_add", "attended",
                                {x, Dense(net, "out", context, kSize, kSize)});
  const Value inner = net.Op(
      "LeakyReLU", "gelu",
      {Dense(net, "inner", Normalized(net, "norm2", attended), kSize, kInner)},
      {{"act_type", "gelu"}});
  const Value layer =
      net.Op("elemwise_add", "layer",
             {attended, Dense(net, "outer", inner, kInner, kSize)});
  net.Output(net.Op("slice_axis", "last",
                    {Dense(net, "words", layer, kSize, kWords)},
                    {{"axis", "1"}, {"begin", "-1"}, {"end", "None"}}));
  return net;
}

int64_t ProductFlops(const Network& net) {
  const Target target = *test::RunnableTarget("x86-64-v3");
  const auto catalog = MakeKernelCatalog(target);
  PassContext context;
  context.target = &target;
  context.catalog = catalog.get();
  const auto program = RunPipeline(net.Copy(), context, {});
  REQUIRE_MESSAGE(program.ok(), Render(program.errors()));
  int64_t flops = 0;
  for (const Step& step : program->steps) {
    if (step.contraction()) flops += step.contraction()->contraction.flops();
  }
  return flops;
}

}  // namespace

TEST_CASE("the next word takes keys and values of all tokens, else one row") {
  for (const int64_t texts : {1, 3}) {
    CAPTURE(texts);
    const Network net = NextWord(texts);
    const int64_t keys = 2 * kTokens * kSize * kSize;
    const int64_t attention = 2 * kTokens * kSize;
    const int64_t row = 2 * kSize * kSize + 2 * kSize * kInner + kSize * kWords;
    CHECK(ProductFlops(net) == 2 * texts * (keys + attention + row));
    EngineOptions plain, compiled;
    plain.level = 0;
    compiled.engine = "compiled";
    const auto expected = RunGraph(net.Copy(), net.inputs, plain);
    REQUIRE_MESSAGE(expected.ok(), Render(expected.errors()));
    for (const Target& target : test::RunnableTargets()) {
      compiled.target = target.name;
      const auto actual = RunGraph(net.Copy(), net.inputs, compiled);
      REQUIRE_MESSAGE(actual.ok(), Render(actual.errors()));
      CHECK(Distance(*actual, *expected) < 2e-5);
    }
  }
}

}  // namespace mxc
