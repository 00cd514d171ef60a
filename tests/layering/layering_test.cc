// SPDX-License-Identifier: Apache-2.0
// The house's plan: rooms.txt against every #include, the top level, and the
// licence line of every file.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

const fs::path kRoot = MXC_SOURCE_DIR;
const std::set<std::string> kTopLevel = {
    "CMakeLists.txt", "LICENSE",  "README.md", "codegen",
    "findings",       "frontend", "ir",        "models",
    "passes",         "runtime",  "tests",     "tools"};

struct Room {
  std::string path;
  Words may_include;
  Words llvm;  // the headers that include LLVM's
  bool json, sockets, threads;
};

std::string Trim(const std::string& text) {
  const size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

Words Split(const std::string& text, char separator) {
  Words words;
  std::istringstream in(text);
  for (std::string word; std::getline(in, word, separator);) {
    words.push_back(Trim(word));
  }
  return words;
}

Words WordsOf(const std::string& cell) {
  Words words = Split(cell, ' ');
  std::erase(words, "");
  return words;
}

bool Holds(const Words& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool YesOrNo(const std::string& cell, const std::string& line) {
  REQUIRE_MESSAGE((cell == "yes" || cell == "no"), line);
  return cell == "yes";
}

std::vector<Room> ReadRooms() {
  std::vector<Room> rooms;
  std::ifstream in(kRoot / "tests/layering/rooms.txt");
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line[0] == '#') continue;
    const Words cells = Split(line, '|');
    REQUIRE_MESSAGE(cells.size() == 6, line);
    const Words llvm = cells[2] == "no" ? Words() : WordsOf(cells[2]);
    rooms.push_back({cells[0], WordsOf(cells[1]), llvm, YesOrNo(cells[3], line),
                     YesOrNo(cells[4], line), YesOrNo(cells[5], line)});
  }
  return rooms;
}

// Whether `path` is `folder` or lies below it.
bool Below(const std::string& path, const std::string& folder) {
  return path == folder || path.starts_with(folder + "/");
}

const Room* RoomOf(const std::vector<Room>& rooms, const std::string& path) {
  const Room* best = nullptr;
  for (const Room& room : rooms) {
    if (!Below(path, room.path)) continue;
    if (!best || room.path.size() > best->path.size()) best = &room;
  }
  return best;
}

// Files of the repository, by path from its root, in order.
std::vector<std::string> Files() {
  std::vector<std::string> files;
  for (const std::string& top : kTopLevel) {
    if (fs::is_regular_file(kRoot / top)) files.push_back(top);
    if (!fs::is_directory(kRoot / top)) continue;
    for (const auto& entry : fs::recursive_directory_iterator(kRoot / top)) {
      if (!entry.is_regular_file()) continue;
      files.push_back(fs::relative(entry.path(), kRoot).string());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

bool IsSource(const std::string& path) {
  const std::string extension = fs::path(path).extension();
  return extension == ".cc" || extension == ".h" || extension == ".c" ||
         extension == ".def" || extension == ".inc";
}

struct Include {
  int line;
  bool quoted;
  std::string path;
};

std::vector<Include> IncludesOf(const std::string& path) {
  std::vector<Include> includes;
  std::ifstream in(kRoot / path);
  int number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    std::string text = Trim(line);
    if (text.empty() || text[0] != '#') continue;
    text = Trim(text.substr(1));
    if (!text.starts_with("include")) continue;
    text = Trim(text.substr(7));
    if (text.empty() || (text[0] != '"' && text[0] != '<')) continue;
    const bool quoted = text[0] == '"';
    const size_t end = text.find(quoted ? '"' : '>', 1);
    includes.push_back({number, quoted, text.substr(1, end - 1)});
  }
  return includes;
}

bool IsAny(const std::string& header, std::initializer_list<const char*> of) {
  return std::any_of(of.begin(), of.end(),
                     [&](const char* h) { return header == h; });
}
bool IsLlvm(const std::string& h) {
  return Below(h, "llvm") || Below(h, "lld") || Below(h, "llvm-c") ||
         Below(h, "clang");
}
bool IsJson(const std::string& h) { return Below(h, "nlohmann"); }
bool IsSocket(const std::string& h) {
  return IsAny(h, {"sys/socket.h", "netinet/in.h", "arpa/inet.h", "netdb.h",
                   "sys/un.h"});
}
bool IsThread(const std::string& h) {
  return IsAny(h, {"thread", "mutex", "shared_mutex", "condition_variable",
                   "future", "semaphore", "barrier", "latch", "stop_token",
                   "pthread.h", "threads.h"});
}

// Why `room` may not include `header`; empty when it may.
std::string Refusal(const std::vector<Room>& rooms, const Room& room,
                    const std::string& file, const Include& include) {
  const std::string& h = include.path;
  if (!include.quoted) {
    if (IsLlvm(h) && !Holds(room.llvm, file)) return "LLVM header";
    if (IsJson(h) && !room.json) return "JSON header";
    if (IsSocket(h) && !room.sockets) return "socket header";
    if (IsThread(h) && !room.threads) return "thread header";
    return "";
  }
  if (!fs::exists(kRoot / h)) return "not a path from the repository's root";
  const Room* other = RoomOf(rooms, h);
  if (!other) return "in no room";
  for (const Room& owner : rooms) {
    if (Holds(owner.llvm, h) && !Holds(room.llvm, h)) return "reaches LLVM";
  }
  if (other == &room) return "";
  for (const std::string& allowed : room.may_include) {
    if (allowed == "*" || Below(h, allowed)) return "";
  }
  return fmt::format("room {} may not include room {}", room.path, other->path);
}

TEST_CASE("every include stands in the table") {
  const std::vector<Room> rooms = ReadRooms();
  int includes = 0;
  for (const std::string& file : Files()) {
    if (!IsSource(file)) continue;
    const Room* room = RoomOf(rooms, file);
    CHECK_MESSAGE(room, file, " is in no room of rooms.txt");
    if (!room) continue;
    for (const Include& include : IncludesOf(file)) {
      ++includes;
      const std::string why = Refusal(rooms, *room, file, include);
      CHECK_MESSAGE(why.empty(), file, ":", include.line, ": ", include.path,
                    ": ", why);
    }
  }
  CHECK(includes > 100);
}

TEST_CASE("the checks refuse what the table forbids") {
  const std::vector<Room> rooms = ReadRooms();
  const auto refusal = [&](const std::string& file, bool quoted,
                           const std::string& header) {
    return Refusal(rooms, *RoomOf(rooms, file), file, {1, quoted, header});
  };
  CHECK(refusal("ir/graph/graph.cc", true, "ir/graph/graph.h") == "");
  CHECK(refusal("ir/graph/graph.cc", true, "passes/pass.h") != "");
  CHECK(refusal("ir/support/check.h", true, "ir/graph/graph.h") != "");
  CHECK(refusal("codegen/plan.cc", true, "ir/graph/tensor.h") == "");
  CHECK(refusal("codegen/plan.cc", true, "ir/graph/graph.h") != "");
  CHECK(refusal("codegen/plan.cc", false, "llvm/IR/Module.h") != "");
  const std::string builder = "codegen/llvm/pass_builder.h";
  CHECK(refusal("codegen/llvm/optimize.cc", true, builder) == "");
  CHECK(refusal("codegen/cpu/cpu_backend.cc", true, builder) != "");
  CHECK(refusal(builder, false, "llvm/Passes/PassBuilder.h") == "");
  const std::string nests = "codegen/loops/map_nests.h";
  CHECK(refusal("codegen/cpu/cpu_backend.cc", true, nests) == "");
  CHECK(refusal("codegen/cuda/step_kernel.cc", true, nests) == "");
  const std::string of_cpu = "codegen/cpu/task_ranges.h";
  CHECK(refusal("codegen/cuda/step_kernel.cc", true, of_cpu) != "");
  CHECK(refusal("codegen/loops/map_nests.cc", true, of_cpu) != "");
  const std::string of_cuda = "codegen/cuda/step_kernel.h";
  CHECK(refusal("codegen/cpu/cpu_backend.cc", true, of_cuda) != "");
  CHECK(refusal("codegen/llvm/link.cc", false, "llvm/IR/Module.h") != "");
  CHECK(refusal("runtime/mxc.cc", true, "ir/support/result.h") != "");
  CHECK(refusal("frontend/load.cc", false, "nlohmann/json.hpp") == "");
  CHECK(refusal("passes/fuse.cc", false, "nlohmann/json.hpp") != "");
  CHECK(refusal("passes/fuse.cc", false, "thread") != "");
  CHECK(refusal("runtime/executor/pool.cc", false, "sys/socket.h") != "");
}

// All headers of the repository that a file sees through its includes.
void AddSeen(const std::string& file, std::set<std::string>& seen) {
  for (const Include& include : IncludesOf(file)) {
    if (!include.quoted || !fs::exists(kRoot / include.path)) continue;
    if (seen.insert(include.path).second) AddSeen(include.path, seen);
  }
}

TEST_CASE("headers that many rooms include look into no kind of step") {
  const auto kind_in = [](const std::string& header) -> std::string {
    std::set<std::string> seen;
    AddSeen(header, seen);
    const auto kind = std::find_if(seen.begin(), seen.end(), [](const auto& h) {
      return Below(h, "ir/program/steps");
    });
    return kind == seen.end() ? "" : *kind;
  };
  for (const std::string header :
       {"ir/program/program.h", "ir/program/kernel_catalog.h",
        "ir/program/definition.h", "ir/program/interpreter.h",
        "ir/program/in_place.h", "ir/program/names.h", "ir/ops/op.h",
        "passes/pass.h", "passes/step_readers.h", "codegen/codegen.h",
        "tools/driver/compile.h", "codegen/backend.h"}) {
    CHECK_MESSAGE(kind_in(header) == "", header, " sees ", kind_in(header));
  }
  CHECK(kind_in("ir/program/procedure_builder.h") ==
        "ir/program/steps/procedure.h");
}

TEST_CASE("front ends alone name what a file says beyond the graph") {
  int named = 0;
  for (const std::string& file : Files()) {
    if (!IsSource(file) || Below(file, "tests")) continue;
    std::ifstream in(kRoot / file);
    for (std::string line; std::getline(in, line);) {
      if (line.find("written.attributes") == line.npos &&
          line.find("written.annotations") == line.npos &&
          line.find("written.subgraphs") == line.npos) {
        continue;
      }
      ++named;
      CHECK_MESSAGE(Below(file, "frontend"), file, ": ", line);
    }
  }
  CHECK(named > 10);
}

// What opens a file to write it, or puts one in another's place.
bool WritesFiles(const std::string& line) {
  const std::string code = line.substr(0, line.find("//"));
  const auto ways = {
      "ofstream",  "std::fstream", "fopen(",     "freopen(",
      " creat(",   "mkstemp",      "mkostemp",   "tmpfile(",
      "::rename(", "renameat",     "copy_file(", "raw_fd_ostream",
      "O_CREAT",   "O_WRONLY",     "O_RDWR",     "O_TRUNC"};
  return std::any_of(ways.begin(), ways.end(), [&](const char* way) {
    return code.find(way) != code.npos;
  });
}

TEST_CASE("files are written in runtime/base alone") {
  int found = 0;
  for (const std::string& file : Files()) {
    if (!IsSource(file) || Below(file, "tests")) continue;
    std::ifstream in(kRoot / file);
    int number = 0;
    for (std::string line; std::getline(in, line);) {
      ++number;
      if (!WritesFiles(line)) continue;
      ++found;
      CHECK_MESSAGE(Below(file, "runtime/base"), file, ":", number, ": ", line);
    }
  }
  CHECK(found >= 4);
  CHECK(WritesFiles("  std::ofstream out(path, std::ios::binary);"));
  CHECK(WritesFiles("  FILE* f = std::fopen(path, \"w\");"));
  CHECK(WritesFiles("  open(path, O_WRONLY | O_CREAT, 0666);"));
  CHECK(WritesFiles("  fs::rename(from, to);"));
  CHECK_FALSE(WritesFiles("  std::ifstream in(path);  // no ofstream"));
}

TEST_CASE("the top level is the house's") {
  for (const auto& entry : fs::directory_iterator(kRoot)) {
    const std::string name = entry.path().filename();
    if (name.starts_with(".") || name.starts_with("build")) continue;
    CHECK_MESSAGE(kTopLevel.contains(name), name);
  }
}

TEST_CASE("every source file names its licence in its first line") {
  for (const std::string& file : Files()) {
    std::ifstream in(kRoot / file);
    std::string first, second;
    std::getline(in, first);
    const bool script = first.starts_with("#!");
    if (!script && !IsSource(file) && !file.ends_with("CMakeLists.txt") &&
        !file.ends_with(".cmake") && !file.ends_with(".md")) {
      continue;
    }
    std::getline(in, second);
    const std::string& line = script ? second : first;
    CHECK_MESSAGE(
        line.find("SPDX-License-Identifier: Apache-2.0") != std::string::npos,
        file);
  }
}

}  // namespace
