// SPDX-License-Identifier: Apache-2.0
// What the rooms' documents say about files is true.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

const fs::path kFolder = MXC_SOURCE_DIR;
constexpr int kScreen = 80;  // lines of a README

// All files but those that are built, "/" and the path from the root.
std::vector<std::string> FilesOfRooms() {
  std::vector<std::string> files;
  for (const auto& top : fs::directory_iterator(kFolder)) {
    const std::string name = top.path().filename();
    if (name.starts_with(".") || name.starts_with("build")) continue;
    if (top.is_regular_file()) files.push_back("/" + name);
    if (!top.is_directory()) continue;
    for (const auto& entry : fs::recursive_directory_iterator(top.path())) {
      if (!entry.is_regular_file()) continue;
      files.push_back("/" + fs::relative(entry.path(), kFolder).string());
    }
  }
  return files;
}

std::string TextOf(const std::string& file) {
  std::ifstream in(kFolder.string() + file);
  REQUIRE(in);
  return {std::istreambuf_iterator<char>(in), {}};
}

// The names of source files that stand in backticks.
std::vector<std::string> FilesNamedBy(const std::string& document) {
  static const std::regex name(
      R"(`([\w./-]+\.(h|hpp|c|cc|def|test|sh|py|md|txt))[`:])");
  std::vector<std::string> found;
  for (std::sregex_iterator it(document.begin(), document.end(), name), end;
       it != end; ++it) {
    found.push_back((*it)[1]);
  }
  return found;
}

TEST_CASE("files that documents name exist") {
  const auto files = FilesOfRooms();
  int documents = 0, names = 0;
  for (const std::string& file : files) {
    if (!file.ends_with(".md")) continue;
    ++documents;
    for (const std::string& name : FilesNamedBy(TextOf(file))) {
      ++names;
      const bool exists = std::ranges::any_of(files, [&](const auto& other) {
        return other.ends_with("/" + name);
      });
      CHECK_MESSAGE(exists, file, " names ", name);
    }
  }
  CHECK(documents > 15);
  CHECK(names > 200);
}

TEST_CASE("links between documents lead somewhere") {
  static const std::regex link(R"(\]\(([^)#:]+)\))");
  for (const std::string& file : FilesOfRooms()) {
    if (!file.ends_with(".md")) continue;
    const std::string text = TextOf(file);
    const fs::path folder = fs::path(kFolder.string() + file).parent_path();
    for (std::sregex_iterator it(text.begin(), text.end(), link), end;
         it != end; ++it) {
      CHECK_MESSAGE(fs::exists(folder / (*it)[1].str()), file, ": ",
                    (*it)[1].str());
    }
  }
}

// A language is described in one place.
TEST_CASE("a room's README fits on a screen") {
  for (const std::string& file : FilesOfRooms()) {
    if (!file.ends_with("/README.md") || file == "/README.md" ||
        file == "/frontend/native/README.md") {
      continue;
    }
    const std::string text = TextOf(file);
    CHECK_MESSAGE(std::ranges::count(text, '\n') <= kScreen, file);
  }
}

TEST_CASE("passes/README.md names every pass and every header") {
  const std::string readme = TextOf("/passes/README.md");
#define MXC_GRAPH_PASS(name, Function, required, prose) \
  CHECK_MESSAGE(readme.find(name) != std::string::npos, name);
#define MXC_LOWERING(name, Function, prose) \
  CHECK_MESSAGE(readme.find(name) != std::string::npos, name);
#define MXC_PROGRAM_PASS(name, Function, required, where, prose) \
  CHECK_MESSAGE(readme.find(name) != std::string::npos, name);
#include "passes/passes.def"
#undef MXC_GRAPH_PASS
#undef MXC_LOWERING
#undef MXC_PROGRAM_PASS
  for (const auto& entry : fs::directory_iterator(kFolder / "passes")) {
    const std::string name = entry.path().filename();
    if (!name.ends_with(".h") || name == "passes.h") continue;
    CHECK_MESSAGE(readme.find("`" + name + "`") != std::string::npos, name);
  }
}

TEST_CASE("ops.def says in which folder each operator is") {
  std::map<std::string, std::set<std::string>> defined;  // by folder
  static const std::regex definition(R"(\nMXC_OP\((\w+)\))");
  for (const std::string& file : FilesOfRooms()) {
    if (!file.starts_with("/ir/ops/") || !file.ends_with(".cc")) continue;
    const std::string text = TextOf(file);
    auto& ids = defined[fs::path(file).parent_path()];
    for (std::sregex_iterator it(text.begin(), text.end(), definition), end;
         it != end; ++it) {
      ids.insert((*it)[1]);
    }
  }
  int operators = 0;
#define MXC_OPERATOR(family, Id) \
  ++operators;                   \
  CHECK_MESSAGE(defined["/ir/ops/" #family].contains(#Id), #family, " ", #Id);
#include "ir/ops/ops.def"
#undef MXC_OPERATOR
  CHECK(operators > 500);
}

// In the line behind that of the licence.
TEST_CASE("every header says at its head what it is for") {
  for (const std::string& file : FilesOfRooms()) {
    if (!file.ends_with(".h") || file.starts_with("/tests/")) continue;
    const std::string text = TextOf(file);
    const std::string second =
        text.substr(std::min(text.find('\n'), text.size() - 1) + 1);
    const bool says = second.starts_with("//") || second.starts_with("/*") ||
                      second.starts_with(" *");
    CHECK_MESSAGE(says, file, " begins without a sentence");
  }
}

// That they find anything, people see who run them.
TEST_CASE("findings say what they show, and stand in their table") {
  const std::string table = TextOf("/findings/README.md");
  int scripts = 0;
  for (const auto& entry : fs::directory_iterator(kFolder / "findings")) {
    const std::string name = entry.path().filename();
    if (!name.ends_with(".sh")) continue;
    ++scripts;
    CAPTURE(name);
    CHECK((entry.status().permissions() & fs::perms::owner_exec) !=
          fs::perms::none);
    const std::string text = TextOf("/findings/" + name);
    for (const std::string part :
         {"\n# version: ", "\n# expected: ", "\n# seen: ", "\nsame "}) {
      CHECK_MESSAGE(text.find(part) != text.npos, "no '", part, "'");
    }
    CHECK(table.find("](" + name + ")") != table.npos);
  }
  CHECK(scripts > 0);
  CHECK(scripts <= 16);
}

}  // namespace
