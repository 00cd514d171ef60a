// SPDX-License-Identifier: Apache-2.0
// Updates of rows, as text and as the interpreter has them, and what is refused.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "ir/program/interpreter.h"
#include "ir/program/program.h"

namespace mxc {
namespace {

// x f32[4, 2] becomes y, where three slots, named by i64[3], may change rows.
std::string RowsText(const std::string& body) {
  return R"(program @net.infer {
  buffer 0 "x" f32[4, 2] {0:4 1:2} input
  buffer 1 "named" i64[3] {0:3} input
  buffer 2 "y" f32[4, 2] {0:4 1:2} output
  step "rows" (0, 1) -> (2)
    rows 3 at %1[i2]
)" + body +
         "}\n";
}

Result<Program> ReadRows(const std::string& body) {
  return ParseProgram(
      std::make_shared<SourceFile>(SourceFile{"test", RowsText(body)}));
}

std::string WhatIsWrong(const std::string& body) {
  const auto program = ReadRows(body);
  REQUIRE_MESSAGE(program.ok(), Render(program.errors()));
  return Verify(*program).value_or("");
}

Tensor Numbers(DType dtype, Shape shape, const std::vector<double>& values) {
  std::byte* bytes = nullptr;
  const int64_t size = SizeOf(dtype);
  Tensor tensor = Tensor::Allocate({dtype, std::move(shape)}, &bytes);
  for (size_t i = 0; i < values.size(); ++i) {
    StoreElement(bytes + static_cast<int64_t>(i) * size, dtype, values[i]);
  }
  return tensor;
}

}  // namespace

TEST_CASE("rows that slots name change, the others stay") {
  const auto program = ReadRows(
      "      keep %0[i0, i1] next %0[i0, i1] * 10.0 + f32(i0 * 4 + i2)\n");
  REQUIRE_MESSAGE(program.ok(), Render(program.errors()));
  REQUIRE(!Verify(*program));
  const auto outputs = Interpret(
      *program, {{"x", Numbers(DType::kF32, {4, 2}, {1, 2, 3, 4, 5, 6, 7, 8})},
                 {"named", Numbers(DType::kI64, {3}, {3, -1, 1})}});
  REQUIRE(outputs.ok());
  // Slot 0 names row 3, slot 2 row 1, slot 1 none.
  CHECK(ToElements((*outputs)[0]) ==
        std::vector<Element>{1, 2, 36, 46, 5, 6, 82, 92});
  CHECK(Print(*ReadRows("      keep %0[i0, i1] next 1.0\n")) ==
        RowsText("      keep %0[i0, i1] next 1.0\n"));
}

TEST_CASE("updates of rows that cannot be are told") {
  CHECK(WhatIsWrong("      keep %0[i0, i1] next 0.0\n") == "");
  CHECK(WhatIsWrong("") == "step 'rows': 0 changes of 1 outputs");
  CHECK(WhatIsWrong("      keep %0[i1, i0] next 0.0\n") ==
        "step 'rows': what is kept is no element at the own index");
  CHECK(WhatIsWrong("      keep %0[i0, i1] next %0[0, i1]\n") ==
        "step 'rows': an element of another row is read of what changes");
  CHECK(WhatIsWrong("      keep %0[i0, i1] next 0\n") ==
        "step 'rows': output 0 is unlike what is kept of it");
}

}  // namespace mxc
