// SPDX-License-Identifier: Apache-2.0
// usage: e2e_runner [--rewrite] BIN_DIR FILE.test…
// Runs the commands of each file and compares all that they print and their
// exit codes with what the file says; README.md beside this file shows the
// form.
#include <fmt/format.h>
#include <stdlib.h>
#include <sys/wait.h>

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;
using Lines = std::vector<std::string>;

struct Replacement {
  std::regex pattern;
  std::string with;
};

// What differs from run to run and from machine to machine.
std::vector<Replacement> StandingReplacements() {
  return {{std::regex(R"([ ]+[0-9.]+ (s|ms|us|min)$)"), "  <time>"},
          {std::regex(R"(\b[0-9.]+ (s|ms|us)\b)"), "<time>"}};
}

struct Command {
  std::string text;
  Lines expected, found;
};

struct TestFile {
  fs::path path;
  Lines head;  // comments, files and replacements, as they stand
  std::vector<Replacement> replacements;
  std::vector<Command> commands;
};

std::string ReadAll(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

Lines SplitLines(const std::string& text) {
  Lines lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// "replace REGEX => TEXT"
bool ParseReplacement(const std::string& line, TestFile& test) {
  const size_t arrow = line.find(" => ");
  if (!line.starts_with("replace ") || arrow == std::string::npos) return false;
  test.replacements.push_back(
      {std::regex(line.substr(8, arrow - 8)), line.substr(arrow + 4)});
  return true;
}

// Writes "file NAME" … "end" into `folder`; returns the index after it.
size_t WriteFileBlock(const Lines& lines, size_t at, const fs::path& folder,
                      TestFile& test) {
  test.head.push_back(lines[at]);
  std::ofstream out(folder / lines[at].substr(5), std::ios::binary);
  for (++at; at < lines.size() && lines[at] != "end"; ++at) {
    test.head.push_back(lines[at]);
    out << lines[at] << '\n';
  }
  test.head.push_back("end");
  return at + 1;
}

// "npy NAME 1x3x8x8": numbers in [0, 1) that look random but never change, as
// float32, or with "float64" behind it as that; with "below 3" whole numbers
// from 0 to 2.
bool WriteNpy(const std::string& line, const fs::path& folder) {
  std::istringstream words(line);
  std::string keyword, name, shape, type;
  int64_t limit = 0;
  words >> keyword >> name >> shape >> type >> limit;
  const bool wide = type == "float64";
  if (keyword != "npy" || shape.empty()) return false;
  int64_t count = 1;
  std::string dims;
  std::istringstream extents(shape);
  for (std::string extent; std::getline(extents, extent, 'x');) {
    count *= std::stoll(extent);
    dims += extent + ", ";
  }
  std::string header =
      std::string(wide ? "{'descr': '<f8'" : "{'descr': '<f4'") +
      ", 'fortran_order': False, 'shape': (" + dims + "), }";
  header.resize(117, ' ');
  std::ofstream out(folder / name, std::ios::binary);
  out << std::string("\x93NUMPY\x01\x00\x76\x00", 10) << header << '\n';
  uint32_t state = 1;
  for (int64_t i = 0; i < count; ++i) {
    state = state * 1664525u + 1013904223u;
    const double part = static_cast<double>(state >> 8) * 0x1p-24;
    const double value =
        type == "below" ? std::floor(part * static_cast<double>(limit)) : part;
    const auto narrow = static_cast<float>(value);
    out.write(wide ? reinterpret_cast<const char*>(&value)
                   : reinterpret_cast<const char*>(&narrow),
              wide ? sizeof value : sizeof narrow);
  }
  return true;
}

TestFile ReadTest(const fs::path& path, const fs::path& folder) {
  TestFile test;
  test.path = path;
  test.replacements = StandingReplacements();
  const Lines lines = SplitLines(ReadAll(path));
  for (size_t at = 0; at < lines.size();) {
    const std::string& line = lines[at];
    if (line.starts_with("$ ")) {
      test.commands.push_back({line.substr(2), {}, {}});
    } else if (!test.commands.empty()) {
      test.commands.back().expected.push_back(line);
    } else if (line.starts_with("file ")) {
      at = WriteFileBlock(lines, at, folder, test);
      continue;
    } else {
      if (!WriteNpy(line, folder)) ParseReplacement(line, test);
      test.head.push_back(line);
    }
    ++at;
  }
  return test;
}

void Append(const fs::path& output, const std::string& prefix,
            const TestFile& test, const fs::path& folder, Lines& found) {
  for (std::string line : SplitLines(ReadAll(output))) {
    for (size_t at; (at = line.find(folder.string())) != std::string::npos;) {
      line.replace(at, folder.string().size(), "$DIR");
    }
    for (const Replacement& r : test.replacements) {
      line = std::regex_replace(line, r.pattern, r.with);
    }
    line = prefix + line;
    line.erase(line.find_last_not_of(" \t") + 1);
    found.push_back(line);
  }
}

void Run(Command& command, const TestFile& test, const fs::path& folder) {
  const fs::path out = folder / ".stdout", err = folder / ".stderr";
  const std::string shell =
      fmt::format("cd '{}' && ( {} ) >'{}' 2>'{}' </dev/null", folder.string(),
                  command.text, out.string(), err.string());
  const int status = system(shell.c_str());
  Append(err, "! ", test, folder, command.found);
  Append(out, "", test, folder, command.found);
  if (!WIFEXITED(status)) {
    command.found.push_back("killed");
  } else if (WEXITSTATUS(status) != 0) {
    command.found.push_back(fmt::format("exit {}", WEXITSTATUS(status)));
  }
  command.found.push_back("");
}

void Rewrite(const TestFile& test) {
  std::ofstream out(test.path, std::ios::binary);
  for (const std::string& line : test.head) out << line << '\n';
  for (size_t i = 0; i < test.commands.size(); ++i) {
    out << "$ " << test.commands[i].text << '\n';
    Lines found = test.commands[i].found;
    if (i + 1 == test.commands.size()) found.pop_back();
    for (const std::string& line : found) out << line << '\n';
  }
}

void PrintDifference(const TestFile& test, const Command& command) {
  fmt::print("FAIL {}\n$ {}\n", test.path.string(), command.text);
  const size_t count = std::max(command.expected.size(), command.found.size());
  for (size_t i = 0; i < count; ++i) {
    const std::string* want =
        i < command.expected.size() ? &command.expected[i] : nullptr;
    const std::string* got =
        i < command.found.size() ? &command.found[i] : nullptr;
    if (want && got && *want == *got) {
      fmt::print("  {}\n", *got);
      continue;
    }
    if (want) fmt::print("- {}\n", *want);
    if (got) fmt::print("+ {}\n", *got);
  }
}

bool RunTest(const fs::path& path, bool rewrite) {
  char name[] = "/tmp/mxc-e2e-XXXXXX";
  const fs::path folder = mkdtemp(name);
  TestFile test = ReadTest(path, folder);
  bool passed = !test.commands.empty();
  if (!passed) fmt::print("FAIL {}: it has no command\n", path.string());
  for (size_t i = 0; i < test.commands.size(); ++i) {
    Command& command = test.commands[i];
    Run(command, test, folder);
    if (i + 1 == test.commands.size()) command.expected.push_back("");
    if (command.expected == command.found) continue;
    passed = false;
    if (!rewrite) PrintDifference(test, command);
  }
  if (rewrite && !test.commands.empty()) Rewrite(test);
  fs::remove_all(folder);
  return passed || rewrite;
}

}  // namespace

int main(int argc, char** argv) {
  Lines arguments(argv + 1, argv + argc);
  const bool rewrite = !arguments.empty() && arguments[0] == "--rewrite";
  if (rewrite) arguments.erase(arguments.begin());
  if (arguments.size() < 2) {
    fmt::print(stderr, "usage: e2e_runner [--rewrite] BIN_DIR FILE.test…\n");
    return 2;
  }
  setenv(
      "PATH",
      fmt::format("{}:{}", fs::absolute(arguments[0]).string(), getenv("PATH"))
          .c_str(),
      1);
  setenv("MODELS", MXC_SOURCE_DIR "/models", 1);
  setenv("SOURCE", MXC_SOURCE_DIR, 1);
  // Nothing is found in the user's caches, and nothing is left there.
  unsetenv("XDG_CACHE_HOME");
  unsetenv("HOME");
  int failed = 0;
  for (size_t i = 1; i < arguments.size(); ++i) {
    failed += !RunTest(fs::absolute(arguments[i]), rewrite);
  }
  fmt::print("{} passed, {} failed\n", arguments.size() - 1 - failed, failed);
  return failed != 0;
}
