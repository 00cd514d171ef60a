// SPDX-License-Identifier: Apache-2.0
// The operator that calls a user's function: what it takes and gives. What it
// computes: tests/e2e/functions.test.
#include <doctest/doctest.h>

#include "ir/ops/tensor/control/call.h"
#include "tests/ir/op_run.h"

namespace mxc {
namespace {

OpRun Infer(std::vector<AttrText> attrs, const std::vector<Shape>& shapes) {
  attrs.insert(attrs.end(), {{"num_args", std::to_string(shapes.size())},
                             {"function", "f"}});
  return InferOp("call", attrs, shapes);
}

void CheckRefused(const OpRun& run, const char* message) {
  CAPTURE(run.error);
  CHECK(run.error.find(message) != std::string::npos);
}

TEST_CASE("a call's outputs have the shapes that are given") {
  CHECK(Infer({}, {{4, 6}, {3}}).Out() == "(4, 6)");
  const OpRun run = Infer({{"shapes", "0x5,0x0x2,7"}}, {{4, 6}, {3}});
  REQUIRE(run.error == "");
  CHECK(run.Out(0) == "(4, 5)");
  CHECK(run.Out(1) == "(4, 6, 2)");
  CHECK(run.Out(2) == "(7)");
  CHECK(run.In(1) == "(3)");
}

TEST_CASE("a call's outputs have the types that are given") {
  const OpRun run =
      Infer({{"shapes", "0x5,3"}, {"dtypes", "int64,float16"}}, {{4, 6}, {3}});
  REQUIRE(run.error == "");
  CHECK(run.outputs[0].dtype == DType::kI64);
  CHECK(run.outputs[1].dtype == DType::kF16);
}

TEST_CASE("what no call can be is refused") {
  CheckRefused(InferOp("call", {{"function", "potrf"}}, {{4, 4}}),
               "C1: function 'potrf' is the runtime's own");
  CheckRefused(
      InferOp("call", {{"function", "f"}, {"backward", "trsm"}}, {{4, 4}}),
      "C1: function 'trsm' is the runtime's own");
  for (const char* text :
       {"3x", "x3", "3xy", "-1", "3,,x", "3 ", "1e3", "99999999999999999999"}) {
    CAPTURE(text);
    CheckRefused(Infer({{"shapes", text}}, {{4, 6}}), "C2: ");
  }
  CheckRefused(Infer({{"shapes", "0x0x0"}}, {{4, 6}}),
               "C3: an output has the extent 0 on axis 2, which data0, of "
               "shape (4, 6), lacks");
  for (const char* text : {"float32", "float32,long", "float32,", ","}) {
    CAPTURE(text);
    CheckRefused(Infer({{"shapes", "3,4"}, {"dtypes", text}}, {{4, 6}}),
                 "C5: ");
  }
  CheckRefused(Infer({{"dtypes", "int64"}, {"backward", "g"}}, {{4, 6}}),
               "C5: dtypes are given, expected none beside backward");
  CheckRefused(Infer({{"workspace_per_row", "1073741824"}}, {{1025}}),
               "C4: workspace_per_row is 1073741824, for 1025 rows");
  CHECK(Infer({{"workspace_per_row", "1073741824"}}, {{1024}}).error == "");
}

TEST_CASE("shapes as text are read back") {
  for (const char* text : {"64x10,64", "0x5", "", ",3,", "1"}) {
    CAPTURE(text);
    const auto shapes = ParseShapes(text);
    REQUIRE(shapes);
    CHECK(PrintShapes(*shapes) == text);
  }
}

}  // namespace
}  // namespace mxc
