// SPDX-License-Identifier: Apache-2.0
// ir/GRAMMAR.md is true: its examples parse, hold and print as they stand
// there, its rules use each other, and no word of the text forms is missing.
#include <doctest/doctest.h>

#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "ir/graph/graph.h"
#include "ir/program/names.h"
#include "ir/program/program.h"
#include "tests/support/shared.h"

namespace mxc {
namespace {

std::string Grammar() { return ReadText(SourceFolder() + "/ir/GRAMMAR.md"); }

// The code blocks of that language.
std::vector<std::string> Blocks(const std::string& language) {
  const std::string text = Grammar(), fence = "```" + language + "\n";
  std::vector<std::string> blocks;
  for (size_t at = text.find(fence); at != std::string::npos;
       at = text.find(fence, at)) {
    at += fence.size();
    const size_t end = text.find("```", at);
    REQUIRE(end != std::string::npos);
    blocks.push_back(text.substr(at, end - at));
    at = end;
  }
  return blocks;
}

template <class IR>
void CheckExample(const std::string& text,
                  Result<IR> (*parse)(std::shared_ptr<const SourceFile>)) {
  CAPTURE(text);
  const auto parsed =
      parse(std::make_shared<SourceFile>(SourceFile{"GRAMMAR.md", text}));
  REQUIRE_MESSAGE(parsed.ok(), Render(parsed.errors()));
  CHECK(Print(*parsed) == text);
  const auto broken = Verify(*parsed);
  // What a text may leave open, Verify wants known.
  if (text.find("?[") == std::string::npos) CHECK_MESSAGE(!broken, *broken);
}

TEST_CASE("the grammar's examples print as they stand there") {
  const auto graphs = Blocks("graph"), programs = Blocks("program");
  REQUIRE(graphs.size() >= 1);
  REQUIRE(programs.size() >= 8);
  for (const std::string& text : graphs) CheckExample(text, ParseGraph);
  for (const std::string& text : programs) CheckExample(text, ParseProgram);
}

std::string Rules() {
  std::string rules;
  for (const std::string& block : Blocks("ebnf")) rules += block;
  return rules;
}

std::string Without(const std::string& text, const char* pattern) {
  return std::regex_replace(text, std::regex(pattern), "");
}

std::set<std::string> Matches(const std::string& text, const char* pattern) {
  const std::regex words(pattern);
  std::set<std::string> found;
  for (std::sregex_iterator it(text.begin(), text.end(), words), end; it != end;
       ++it) {
    found.insert((*it)[1]);
  }
  return found;
}

TEST_CASE("the grammar defines each rule that it uses, and uses it") {
  // Neither words of the text nor comments nor prose.
  std::string rules = Without(Rules(), R"("[^"]*")");
  rules = Without(Without(rules, R"(\(\*[^)]*\*\))"), R"(\?[^?]*\?)");
  const auto defined = Matches(rules, R"(([A-Za-z]+) *= )");
  auto used = Matches(Without(rules, "[A-Za-z]+ *= "), "([A-Za-z]+)");
  used.insert({"graph", "program"});
  CHECK(defined == used);
}

TEST_CASE("the grammar names every word of the text forms") {
  const auto terminals = Matches(Rules(), "\"([^\"]*)\"");
  const auto check = [&](std::string_view word) {
    INFO(word);
    CHECK(terminals.contains(std::string(word)));
  };
  for (const auto& word : kUnaryNames) check(word);
  for (const auto& word : kBinaryNames) check(word);
  for (const auto& word : kReduceNames) check(word);
  for (const auto& word : kRoleNames) check(word);
#define X(name, flag, bits, kind, mxnet_name, short_name) check(short_name);
#include "runtime/abi/dtype.def"
#define MXC_STEP_KIND(Kind, word) check(word);
#include "ir/program/steps.def"
#undef MXC_STEP_KIND
}

}  // namespace
}  // namespace mxc
