// SPDX-License-Identifier: Apache-2.0
// What is refused about places, copies, starts and waits.
#include <doctest/doctest.h>

#include <string>

#include "ir/program/interpreter.h"
#include "ir/program/program.h"

namespace mxc {
namespace {

// x comes to the host beside y = exp(x); z = x from there.
constexpr const char* kBeside = R"(program @net.infer {
  buffer 0 "x" f32[4] {0:4} input
  buffer 1 "x/begun" f32[4] {0:4} internal host
  buffer 2 "x/there" f32[4] {0:4} internal host alias 1
  buffer 3 "y" f32[4] {0:4} output
  buffer 4 "z" f32[4] {0:4} output
  buffer 5 "u" f32[4] {0:4} internal
  step "begin" (0) -> (1)
    start
    copy
  step "y" (0) -> (3)
    store 0 (0) + (4) = exp(%0[i0])
  step "end" (0, 1) -> (2)
    wait
  step "z" (2) -> (4)
    copy
}
)";

// Of kBeside with one text in place of another.
std::string Complaint(const std::string& from = "",
                      const std::string& to = "") {
  std::string text = kBeside;
  const size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  text.replace(at, from.size(), to);
  const auto program =
      ParseProgram(std::make_shared<SourceFile>(SourceFile{"test", text}));
  REQUIRE_MESSAGE(program.ok(), Render(program.errors()));
  return Verify(*program).value_or("");
}

TEST_CASE("what runs beside others is waited for, and left alone until then") {
  CHECK(Complaint() == "");
  CHECK(Complaint("(0, 1) -> (2)\n    wait\n  step \"z\" (2)",
                  "(0) -> (5)\n    copy\n  step \"z\" (5)") ==
        "nobody waits for step 'begin'");
  CHECK(Complaint("step \"y\" (0) -> (3)\n    store 0 (0) + (4) = "
                  "exp(%0[i0])",
                  "step \"y\" (1) -> (3)\n    copy") ==
        "step 'y': buffer 1 is read before the wait for it");
  CHECK(Complaint("step \"end\" (0, 1)", "step \"end\" (3, 1)") ==
        "step 'end': a wait for what was not started");
  CHECK(Complaint("host alias 1", "host") ==
        "step 'end': a wait whose output is not what was started");
  CHECK(Complaint("  step \"y\"",
                  "  step \"w\" (0) -> (5)\n    start\n    store 0 (0) + (4) "
                  "= %0[i0]\n  step \"y\"") ==
        "step 'w': starts what may not run beside other steps");
}

TEST_CASE("what a start reads is not written before the wait") {
  std::string text = kBeside;
  const auto replace = [&](const std::string& from, const char* to) {
    text.replace(text.find(from), from.size(), to);
  };
  replace("input", "state");
  replace("\"u\" f32[4] {0:4} internal", "\"u\" f32[4] {0:4} next 0 alias 0");
  const std::string update =
      "  step \"u\" (0) -> (5)\n    store 0 (0) + (4) = exp(%0[i0])\n";
  const auto complaint = [&](const char* before) {
    std::string changed = text;
    changed.insert(changed.find(before), update);
    const auto program =
        ParseProgram(std::make_shared<SourceFile>(SourceFile{"test", changed}));
    REQUIRE_MESSAGE(program.ok(), Render(program.errors()));
    return Verify(*program).value_or("");
  };
  CHECK(complaint("  step \"z\"") == "");
  CHECK(complaint("  step \"end\"") ==
        "step 'u': buffer 5 is written beside its use");
}

TEST_CASE("steps have their operands where they run") {
  CHECK(Complaint("buffer 0 \"x\" f32[4] {0:4} input",
                  "buffer 0 \"x\" f32[4] {0:4} input host") ==
        "buffer 0 lies on the host");
  CHECK(Complaint("internal host alias 1", "internal alias 1") ==
        "buffer 2 aliases 1 in another place");
  CHECK(Complaint("step \"z\" (2) -> (4)\n    copy",
                  "step \"z\" (2) -> (4)\n    store 0 (0) + (4) = %0[i0]") ==
        "step 'z': buffer 2 lies in another place");
  CHECK(Complaint("4 \"z\" f32[4] {0:4}", "4 \"z\" f32[2, 2] {0:2 1:2}") ==
        "step 'z': a copy between buffers that differ or have gaps");
}

TEST_CASE("places are a table: the kernels', and others of other kinds") {
  auto program =
      ParseProgram(std::make_shared<SourceFile>(SourceFile{"test", kBeside}));
  REQUIRE(program.ok());
  REQUIRE(program->places.size() == 2);
  CHECK(program->PlaceFor(PlaceKind::kDevice) == kKernelPlace);
  CHECK(program->PlaceFor(PlaceKind::kHost) == 1);
  CHECK(program->IsOnHost(program->buffers[1]));
  CHECK(!program->IsOnHost(program->buffers[0]));
  program->buffers[1].place = 2;
  CHECK(Verify(*program) == "buffer 1 lies in a place that there is not");
  program->places.push_back({PlaceKind::kHost});
  CHECK(Verify(*program) == "two places of one kind");
  program->places = {{PlaceKind::kHost}, {PlaceKind::kDevice}};
  CHECK(Verify(*program) == "the first place is not that of the kernels");
}

TEST_CASE("each place has an arena") {
  const auto complaint = [](const char* arenas) {
    std::string text = kBeside;
    text.replace(text.find(" {\n"), 1, arenas);
    const std::string begun = "\"x/begun\" f32[4] {0:4} internal host";
    text.insert(text.find(begun) + begun.size(), " offset 0");
    const auto program =
        ParseProgram(std::make_shared<SourceFile>(SourceFile{"test", text}));
    REQUIRE_MESSAGE(program.ok(), Render(program.errors()));
    CHECK(Print(*program) == text);
    return Verify(*program).value_or("");
  };
  CHECK(complaint(" arena 0 lower 0 naive 0 host 64 ") == "");
  CHECK(complaint(" arena 64 lower 0 naive 0 host 8 ") ==
        "buffer 1 lies outside the arena");
}

TEST_CASE("copies, starts and waits are interpreted in their order") {
  const auto program =
      ParseProgram(std::make_shared<SourceFile>(SourceFile{"test", kBeside}));
  REQUIRE(program.ok());
  const Tensor x = Tensor::Filled({DType::kF32, Shape{4}}, 2.5);
  const auto outputs = Interpret(*program, {{"x", x}});
  REQUIRE(outputs.ok());
  CHECK((*outputs)[0].At(3) == doctest::Approx(12.1824939607));
  CHECK((*outputs)[1].At(3) == 2.5);
}

TEST_CASE("a start in a start is refused by the parser") {
  std::string text = kBeside;
  text.replace(text.find("    start\n"), 10, "    start\n    start\n");
  CHECK(!ParseProgram(std::make_shared<SourceFile>(SourceFile{"test", text}))
             .ok());
}

}  // namespace
}  // namespace mxc
