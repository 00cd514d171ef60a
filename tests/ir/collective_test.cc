// SPDX-License-Identifier: Apache-2.0
// Steps that devices do together, as text and as the interpreter, which is the
// first of them, has them: the inputs of the others are zeros.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "ir/program/interpreter.h"
#include "ir/program/program.h"

namespace mxc {
namespace {

std::string CollectiveText(const std::string& operation, int members, int from,
                           int to, const std::string& dtype = "f32") {
  const auto buffer = [&](int number, const char* name, int extent,
                          const char* kind) {
    const std::string dim = std::to_string(extent);
    return "  buffer " + std::to_string(number) + " \"" + name + "\" " + dtype +
           "[" + dim + "] {0:" + dim + "} " + kind + "\n";
  };
  return "program @net.infer {\n" + buffer(0, "x", from, "input") +
         buffer(1, "y", to, "output") +
         "  step \"shared\" (0) -> (1)\n    collective \"" + operation +
         "\" of " + std::to_string(members) + "\n}\n";
}

Result<Program> ReadCollective(const std::string& text) {
  return ParseProgram(std::make_shared<SourceFile>(SourceFile{"test", text}));
}

Program CollectiveOf(const std::string& operation, int members, int from,
                     int to) {
  const auto program =
      ReadCollective(CollectiveText(operation, members, from, to));
  REQUIRE_MESSAGE(program.ok(), Render(program.errors()));
  return *program;
}

std::vector<double> FirstDeviceHas(const Program& program,
                                   const std::vector<float>& x) {
  std::byte* bytes = nullptr;
  const auto count = static_cast<int64_t>(x.size());
  Tensor input = Tensor::Allocate({DType::kF32, Shape{count}}, &bytes);
  for (size_t i = 0; i < x.size(); ++i) {
    StoreElement(bytes + 4 * i, DType::kF32, x[i]);
  }
  const auto outputs = Interpret(program, {{"x", input}});
  REQUIRE(outputs.ok());
  const std::vector<Element> found = ToElements((*outputs)[0]);
  return {found.begin(), found.end()};
}

}  // namespace

TEST_CASE("a collective is read as it is printed") {
  for (const Program& program : {CollectiveOf("all_reduce", 0, 4, 4),
                                 CollectiveOf("reduce_scatter", 2, 4, 2),
                                 CollectiveOf("all_gather", 2, 2, 4)}) {
    CHECK(!Verify(program));
    const auto again = ReadCollective(Print(program));
    REQUIRE(again.ok());
    CHECK(Print(*again) == Print(program));
  }
}

TEST_CASE("the first device has its part, the others' are zeros") {
  using Values = std::vector<double>;
  CHECK(FirstDeviceHas(CollectiveOf("all_reduce", 0, 4, 4), {1, 2, 3, 4}) ==
        Values{1, 2, 3, 4});
  CHECK(FirstDeviceHas(CollectiveOf("reduce_scatter", 2, 4, 2), {1, 2, 3, 4}) ==
        Values{1, 2});
  CHECK(FirstDeviceHas(CollectiveOf("all_gather", 2, 2, 4), {1, 2}) ==
        Values{1, 2, 0, 0});
}

TEST_CASE("a collective of what it cannot be is refused") {
  const auto complaint = [](const std::string& text) {
    const auto program = ReadCollective(text);
    REQUIRE_MESSAGE(program.ok(), Render(program.errors()));
    return Verify(*program).value_or("");
  };
  const auto says = [&](const std::string& text, const std::string& why) {
    const std::string found = complaint(text);
    CAPTURE(found);
    CHECK(found.find(why) != std::string::npos);
  };
  says(CollectiveText("all_sort", 2, 4, 4), "a collective that is unknown");
  says(CollectiveText("reduce_scatter", 0, 4, 4),
       "a collective of another size");
  says(CollectiveText("reduce_scatter", 3, 4, 2),
       "a collective of another size");
  says(CollectiveText("all_gather", 2, 4, 4), "a collective of another size");
  says(CollectiveText("all_reduce", 0, 4, 4, "i32"),
       "a collective of another element type");
}

}  // namespace mxc
