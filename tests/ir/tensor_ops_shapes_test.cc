// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "tests/ir/op_run.h"

namespace mxc {
namespace {

std::string Reshaped(const Shape& in, const char* shape,
                     const char* reverse = "False") {
  return InferOp("Reshape", {{"shape", shape}, {"reverse", reverse}}, {in})
      .Out();
}

std::vector<double> Counted(int n) {
  std::vector<double> values;
  for (int i = 0; i < n; ++i) values.push_back(i);
  return values;
}

Tensor Counting(Shape shape) {
  std::vector<float> values;
  for (int64_t i = 0; i < shape.elements(); ++i) {
    values.push_back(static_cast<float>(i));
  }
  return Floats(shape, values);
}

TEST_CASE("Reshape understands every code") {
  CHECK(Reshaped({2, 3, 4}, "(6, 4)") == "(6, 4)");
  CHECK(Reshaped({2, 3, 4}, "(0, -1)") == "(2, 12)");
  CHECK(Reshaped({2, 3, 4}, "(2, -2)") == "(2, 3, 4)");
  CHECK(Reshaped({2, 3, 4}, "(-3, 4)") == "(6, 4)");
  CHECK(Reshaped({2, 3, 4, 5}, "(-3, -3)") == "(6, 20)");
  CHECK(Reshaped({2, 3, 4}, "(-4, 1, 2, -2)") == "(1, 2, 3, 4)");
  CHECK(Reshaped({2, 6, 2}, "(0, -4, -1, 3, 0)") == "(2, 2, 3, 2)");
  CHECK(Reshaped({8, 3}, "(-4, 2, -1, 0)") == "(2, 4, 3)");
  CHECK(Reshaped({2, 3, 4}, "(-2, 1, 1)") == "(2, 3, 4, 1, 1)");
  CHECK(Reshaped({4, 5, 2}, "(-1, 0)") == "(8, 5)");
  CHECK(Reshaped({4, 5, 2}, "(-1, 0)", "True") == "(20, 2)");
  CHECK(Reshaped({4, 5, 2}, "(-3, 0)", "True") == "(20, 2)");
  CHECK(Reshaped({2, 2, 6}, "(0, 0, 2, 3, -4)", "True") == "(2, 2, 2, 3)");
  CHECK(Evaluate("Reshape", {{"shape", "(3, 2)"}}, {Counting({2, 3})}) ==
        Counted(6));
}

TEST_CASE("Reshape knows the targets of MXNet 0.8") {
  const auto legacy = [](Shape in, const char* target, const char* keep) {
    return InferOp("Reshape",
                   {{"target_shape", target}, {"keep_highest", keep}}, {in})
        .Out();
  };
  CHECK(legacy({2, 3, 4}, "(2, 0)", "False") == "(2, 12)");
  CHECK(legacy({2, 3, 4}, "(0, 12)", "True") == "(2, 12)");
  CHECK(legacy({2, 6}, "(0, 0, 3)", "True") == "(2, 2, 3)");
}

TEST_CASE("Reshape infers an unknown extent of its input") {
  const Shape open = {-1, 3, 4};
  CHECK(InferOp("Reshape", {{"shape", "(2, 12)"}}, {open}).In(0) ==
        "(2, 3, 4)");
}

TEST_CASE("Reshape refuses what MXNet refuses") {
  const Shape in = {2, 3, 8, 8};
  CHECK(Refuses("C1", "Reshape", {}, {in}));
  CHECK(Refuses("C2", "Reshape", {{"shape", "(-5,)"}}, {in}));
  CHECK(Refuses("C2", "Reshape", {{"shape", "(-1, -1)"}}, {in}));
  CHECK(Refuses("C2", "Reshape", {{"shape", "(-2, -3)"}}, {in}));
  CHECK(Refuses("C3", "Reshape", {{"shape", "(0, -4, 2, 2, -2)"}}, {in}));
  CHECK(
      InferOp("Reshape", {{"shape", "(5, 5)"}}, {in})
          .error.find(
              "shape (5, 5) has other elements than the input (2, 3, 8, 8)") !=
      std::string::npos);
  CHECK(Refuses("C4", "Reshape", {{"shape", "(5, -1)"}}, {in}));
}

TEST_CASE("the reshapes of NumPy and its extension") {
  CHECK(InferOp("_np_reshape", {{"newshape", "(3, -1)"}}, {{2, 3}}).Out() ==
        "(3, 2)");
  const auto npx = [](Shape in, const char* shape) {
    return InferOp("_npx_reshape", {{"newshape", shape}}, {in}).Out();
  };
  CHECK(npx({2, 3, 4}, "(-2, -1)") == "(2, 12)");
  CHECK(npx({2, 3, 4}, "(-5, -4)") == "(6, 4)");
  CHECK(npx({1, 3, 4}, "(-3, -4)") == "(3, 4)");
  CHECK(npx({8, 3}, "(-6, 2, -1, -4)") == "(2, 4, 3)");
  CHECK(Refuses("C1", "_np_reshape", {{"newshape", "(0,)"}}, {{2, 3}}));
  CHECK(Refuses("C1", "_npx_reshape", {{"newshape", "(-3, -1)"}}, {{2, 3}}));
  CHECK(Refuses("C2", "_npx_reshape", {{"newshape", "(-6, 2, 2)"}}, {{6}}));
  CHECK(Refuses("C3", "_npx_reshape", {{"newshape", "(4, -1)"}}, {{6}}));
  CHECK(Refuses("C3", "_np_reshape", {{"newshape", "(4, -1)"}}, {{6}}));
}

TEST_CASE("expand_dims and squeeze are inverses where nothing is ambiguous") {
  CHECK(InferOp("expand_dims", {{"axis", "-1"}}, {{2, 3}}).Out() ==
        "(2, 3, 1)");
  CHECK(InferOp("expand_dims", {{"axis", "0"}}, {{2, 3}}).Out() == "(1, 2, 3)");
  CHECK(InferOp("squeeze", {}, {{1, 2, 1, 3}}).Out() == "(2, 3)");
  CHECK(InferOp("squeeze", {{"axis", "(0, 2)"}}, {{1, 2, 1, 3}}).Out() ==
        "(2, 3)");
  CHECK(InferOp("squeeze", {}, {{1, 1}}).Out() == "(1)");
  CHECK(Refuses("C1", "expand_dims", {{"axis", "6"}}, {{2, 3, 8, 8}}));
  CHECK(Refuses("C1", "squeeze", {{"axis", "(0, 0)"}}, {{1, 2}}));
  CHECK(Refuses("C2", "squeeze", {{"axis", "1"}}, {{2, 3, 8, 8}}));
}

TEST_CASE("reshape_like replaces a span of axes") {
  CHECK(InferOp("reshape_like", {}, {{2, 6}, {3, 4}}).Out() == "(3, 4)");
  CHECK(InferOp("reshape_like",
                {{"lhs_begin", "0"},
                 {"lhs_end", "1"},
                 {"rhs_begin", "0"},
                 {"rhs_end", "2"}},
                {{30, 7}, {15, 2, 4}})
            .Out() == "(15, 2, 7)");
  CHECK(Refuses("C1", "reshape_like", {{"lhs_begin", "3"}}, {{2, 6}, {3, 4}}));
  CHECK(Refuses("C2", "reshape_like", {}, {{2, 6}, {3, 5}}));
}

TEST_CASE("axes change places") {
  CHECK(Evaluate("transpose", {}, {Counting({2, 3})}) ==
        std::vector<double>{0, 3, 1, 4, 2, 5});
  CHECK(InferOp("transpose", {{"axes", "(2, 0, 1)"}}, {{2, 3, 4}}).Out() ==
        "(4, 2, 3)");
  CHECK(
      InferOp("SwapAxis", {{"dim1", "0"}, {"dim2", "-1"}}, {{2, 3, 4}}).Out() ==
      "(4, 3, 2)");
  CHECK(InferOp("_np_transpose", {{"axes", "(-1, 0, 1)"}}, {{2, 3, 4}}).Out() ==
        "(4, 2, 3)");
  CHECK(Refuses("C1", "transpose", {{"axes", "(0, 1)"}}, {{2, 3, 8, 8}}));
  CHECK(Refuses("C1", "transpose", {{"axes", "(0, 1, 2, 5)"}}, {{2, 3, 8, 8}}));
  CHECK(Refuses("C1", "transpose", {{"axes", "(-1, 0)"}}, {{2, 3}}));
  CHECK(Refuses("C1", "SwapAxis", {{"dim2", "5"}}, {{2, 3, 8, 8}}));
}

TEST_CASE("channels become blocks of pixels and back") {
  const Tensor x = Counting({1, 8, 1, 1});
  CHECK(Evaluate("depth_to_space", {{"block_size", "2"}}, {x}) ==
        std::vector<double>{0, 2, 4, 6, 1, 3, 5, 7});
  const Tensor y = EvaluateOp("depth_to_space", {{"block_size", "2"}}, {x})[0];
  CHECK(Evaluate("space_to_depth", {{"block_size", "2"}}, {y}) == Counted(8));
  CHECK(Refuses("C1", "depth_to_space", {{"block_size", "2"}}, {{4, 2}}));
  CHECK(Refuses("C2", "depth_to_space", {{"block_size", "2"}}, {{1, 6, 2, 2}}));
  CHECK(Refuses("C1", "space_to_depth", {{"block_size", "2"}}, {{4, 2}}));
  CHECK(Refuses("C2", "space_to_depth", {{"block_size", "2"}}, {{1, 1, 3, 2}}));
}

TEST_CASE("axes of extent 1 are repeated on request") {
  CHECK(InferOp("broadcast_to", {{"shape", "(0, 4, 0)"}}, {{2, 1, 3}}).Out() ==
        "(2, 4, 3)");
  CHECK(InferOp("broadcast_axis", {{"axis", "(0, 2)"}, {"size", "(2, 3)"}},
                {{1, 2, 1}})
            .Out() == "(2, 2, 3)");
  CHECK(InferOp("broadcast_like", {{"lhs_axes", "(0,)"}, {"rhs_axes", "(-1,)"}},
                {{1, 2}, {7, 3}})
            .Out() == "(3, 2)");
  CHECK(Refuses("C1", "broadcast_to", {{"shape", "(2, 3)"}}, {{2, 1, 3}}));
  CHECK(Refuses("C2", "broadcast_to", {{"shape", "(2, 5)"}}, {{2, 3}}));
  CHECK(Refuses("C1", "broadcast_axis", {{"axis", "0"}, {"size", "(2, 3)"}},
                {{1, 2}}));
  CHECK(Refuses("C2", "broadcast_axis", {{"axis", "2"}, {"size", "2"}},
                {{1, 2}}));
  CHECK(Refuses("C3", "broadcast_axis", {{"axis", "1"}, {"size", "3"}},
                {{1, 2}}));
  CHECK(Refuses("C1", "broadcast_like",
                {{"lhs_axes", "(0,)"}, {"rhs_axes", "(0, 1)"}},
                {{1, 2}, {7, 3}}));
  CHECK(Refuses("C2", "broadcast_like",
                {{"lhs_axes", "(5,)"}, {"rhs_axes", "(0,)"}},
                {{1, 2}, {7, 3}}));
  CHECK(Refuses("C3", "broadcast_like", {}, {{1, 2}, {7, 2, 1}}));
  CHECK(Refuses("C4", "broadcast_like", {}, {{2, 2}, {7, 2}}));
}

TEST_CASE("sources fill, count and measure") {
  using List = std::vector<double>;
  CHECK(Evaluate("_arange", {{"start", "5"}, {"stop", "0"}, {"step", "-2"}},
                 {}) == List{5, 3, 1});
  CHECK(Evaluate("_arange", {{"start", "3"}}, {}) == List{0, 1, 2});
  CHECK(Evaluate("_arange", {{"start", "0"}, {"stop", "2"}, {"repeat", "2"}},
                 {}) == List{0, 0, 1, 1});
  CHECK(Refuses("C1", "_arange", {{"start", "0"}, {"stop", "-1"}}, {}));
  CHECK(Refuses("C1", "_arange", {{"start", "0"}, {"stop", "5"}, {"step", "0"}},
                {}));
  CHECK(Evaluate("_linspace", {{"start", "0"}, {"stop", "1"}, {"num", "5"}},
                 {}) == List{0, 0.25, 0.5, 0.75, 1});
  CHECK(Evaluate("_eye", {{"N", "2"}, {"M", "3"}, {"k", "1"}}, {}) ==
        List{0, 1, 0, 0, 0, 1});
  CHECK(Evaluate("_full", {{"shape", "(2,)"}, {"value", "1.5"}}, {}) ==
        List{1.5, 1.5});
  const Tensor x = Counting({2, 3});
  CHECK(Evaluate("zeros_like", {}, {x}) == List{0, 0, 0, 0, 0, 0});
  CHECK(Evaluate("ones_like", {}, {x}) == List{1, 1, 1, 1, 1, 1});
  CHECK(Evaluate("shape_array", {}, {x}) == List{2, 3});
  CHECK(Evaluate("size_array", {}, {x}) == List{6});
  CHECK(Evaluate("_contrib_index_array", {{"axes", "(1,)"}}, {x}) ==
        List{0, 1, 2, 0, 1, 2});
  CHECK(Refuses("C1", "_contrib_index_array", {{"axes", "(2,)"}}, {{2, 3}}));
  CHECK(Evaluate("_contrib_arange_like", {{"axis", "1"}, {"start", "2"}},
                 {x}) == List{2, 3, 4});
  CHECK(Refuses("C1", "_contrib_arange_like", {{"axis", "2"}}, {{2, 3}}));
}

}  // namespace
}  // namespace mxc
