// SPDX-License-Identifier: Apache-2.0
// Runs the *.test files of this folder: each case is
//
//   # pass fuse-epilogue
//   <graph or program>
//   # expect
//   <what the pass leaves, or "unchanged">
//
// "# pass place-steps on a device" compiles for another place than the host, "#
// pass narrow-storage in bf16" keeps tensors in that type, "# pass
// narrow-weights to int8 but w*" weights. The passes may ask BlockedCatalog, on
// a device ChannelsLastCatalog. With MXC_REWRITE=1 in the environment the
// expectations are rewritten with what the passes give.
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "ir/target/target.h"
#include "passes/passes.h"
#include "tests/passes/blocked_catalog.h"
#include "tests/passes/channels_last_catalog.h"
#include "tests/support/shared.h"

namespace mxc {
namespace {

struct Case {
  std::string pass, before, expected;
};

const std::string kPass = "# pass ", kExpect = "# expect\n";
const std::string kOnDevice = " on a device", kInBrain = " in bf16";

// What the first line says after the pass' name.
struct Setting {
  bool on_device = false, in_brain = false;
  WeightStorage weights = {};
};

// "narrow-weights to int8 but *_kept".
WeightStorage TakeWeights(std::string& name) {
  const std::string but = " but ";
  WeightStorage weights;
  for (const auto& [ending, kind] :
       {std::pair(" to bf16", WeightKind::kBF16),
        std::pair(" to int8", WeightKind::kInt8),
        std::pair(" to int4", WeightKind::kInt4)}) {
    const size_t at = name.find(ending);
    if (at == std::string::npos) continue;
    weights.kind = kind;
    const size_t kept = name.find(but);
    if (kept != std::string::npos) {
      weights.kept.insert(name.substr(kept + but.size()));
    }
    name.resize(at);
  }
  return weights;
}

// Cuts it off the name.
Setting TakeSetting(std::string& name) {
  const auto take = [&](const std::string& ending) {
    if (!name.ends_with(ending)) return false;
    name.resize(name.size() - ending.size());
    return true;
  };
  const WeightStorage weights = TakeWeights(name);
  return {take(kOnDevice), take(kInBrain), weights};
}

std::vector<Case> ReadCases(const std::string& text) {
  std::vector<Case> cases;
  for (size_t at = text.find(kPass); at != std::string::npos;) {
    const size_t next = text.find("\n" + kPass, at);
    const std::string part =
        text.substr(at, next == std::string::npos ? next : next + 1 - at);
    const size_t body = part.find('\n') + 1;
    const size_t expect = part.find(kExpect);
    REQUIRE_MESSAGE(expect != std::string::npos, part);
    cases.push_back({part.substr(kPass.size(), body - 1 - kPass.size()),
                     part.substr(body, expect - body),
                     part.substr(expect + kExpect.size())});
    at = next == std::string::npos ? next : next + 1;
  }
  return cases;
}

template <class Pass, class IR>
std::string After(Pass pass, Result<IR> before, const Setting& setting) {
  REQUIRE_MESSAGE(before.ok(), Render(before.errors()));
  Target target = *ResolveTarget("x86-64-v3");
  if (setting.on_device) target.device = "null";
  const BlockedCatalog blocked;
  const ChannelsLastCatalog channels_last;
  const KernelCatalog* catalog = &blocked;
  if (setting.on_device) catalog = &channels_last;
  PassContext context{&target, catalog};
  if (setting.in_brain) context.storage = DType::kBF16;
  context.weights = setting.weights;
  const auto broken_before = Verify(*before);
  REQUIRE_MESSAGE(!broken_before, *broken_before);
  const std::string text = Print(*before);
  auto changed = pass(*before, context);
  if (!changed.ok()) return Render(changed.errors());
  if (!*changed) CHECK(Print(*before) == text);
  const auto broken = Verify(*before);
  REQUIRE_MESSAGE(!broken, *broken);
  return *changed ? Print(*before) : "unchanged\n";
}

std::string RunCase(const Case& test) {
  const auto source =
      std::make_shared<SourceFile>(SourceFile{"case", test.before});
  std::string name = test.pass;
  const Setting setting = TakeSetting(name);
#define MXC_GRAPH_PASS(known, Function, required, prose) \
  if (name == known) return After(Function, ParseGraph(source), setting);
#define MXC_LOWERING(known, Function, prose)
#define MXC_PROGRAM_PASS(known, Function, required, where, prose)  \
  if (name == known) {                                             \
    const auto pass = [](Program& program, PassContext& context) { \
      return RunProgramPass(known, program, context);              \
    };                                                             \
    return After(pass, ParseProgram(source), setting);             \
  }
#include "passes/passes.def"
#undef MXC_GRAPH_PASS
#undef MXC_LOWERING
#undef MXC_PROGRAM_PASS
  FAIL("no pass is called '", test.pass, "'");
  return "";
}

TEST_CASE("what passes make of graphs and programs, as text") {
  const bool rewrite = std::getenv("MXC_REWRITE") != nullptr;
  int files = 0;
  const std::filesystem::path folder = SourceFolder() + "/tests/passes";
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".test") continue;
    ++files;
    CAPTURE(entry.path().string());
    std::string rewritten;
    for (const Case& test : ReadCases(ReadText(entry.path().string()))) {
      CAPTURE(test.pass);
      CAPTURE(test.before);
      const std::string actual = RunCase(test);
      rewritten += kPass + test.pass + "\n" + test.before + kExpect + actual;
      if (!rewrite) CHECK(actual == test.expected);
    }
    if (rewrite) std::ofstream(entry.path()) << rewritten;
  }
  CHECK(files > 0);
}

}  // namespace
}  // namespace mxc
