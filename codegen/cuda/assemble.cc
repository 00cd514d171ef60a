// SPDX-License-Identifier: Apache-2.0
#include "codegen/cuda/assemble.h"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <vector>

#include "runtime/abi/abi.h"
#include "runtime/base/file_writer.h"
#include "runtime/base/nameless_file.h"

namespace mxc {
namespace {

using runtime::NamelessFile;

// That a program which is run has, too.
Result<NamelessFile> MakeFile() {
  auto file = NamelessFile::Create();
  if (!file.ok()) return Error({}, "{}", file.status().message());
  const runtime::Status kept = file->KeepAtExec();
  if (!kept.ok()) return Error({}, "{}", kept.message());
  return std::move(*file);
}

std::string ContentOf(const NamelessFile& file) {
  std::ifstream in(file.path(), std::ios::binary);
  std::ostringstream content;
  content << in.rdbuf();
  return content.str();
}

// What it says on either stream goes to `said`. Its exit status.
Result<int> RunProgram(const std::vector<std::string>& words,
                       const NamelessFile& said) {
  std::vector<char*> arguments;
  for (const std::string& word : words) {
    arguments.push_back(const_cast<char*>(word.c_str()));
  }
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, said.descriptor(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  pid_t child = 0;
  const int error = posix_spawnp(&child, arguments[0], &actions, nullptr,
                                 arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) {
    return Error({}, "cannot run '{}': {}", words[0], std::strerror(error));
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) {
      return Error({}, "cannot wait for '{}': {}", words[0],
                   std::strerror(errno));
    }
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

Result<std::string> Assemble(const std::string& assembler,
                             const std::string& ptx, uint32_t version) {
  MXC_ASSIGN(const NamelessFile text, MakeFile());
  MXC_ASSIGN(const NamelessFile code, MakeFile());
  MXC_ASSIGN(const NamelessFile said, MakeFile());
  runtime::FileWriter out(text.path());
  out.Append(ptx);
  const runtime::Status written = out.Commit();
  if (!written.ok()) return Error({}, "{}", written.message());
  const std::string architecture =
      fmt::format("-arch=sm_{}{}", version & ~MXC_IMAGE_OF_ONE,
                  (version & MXC_IMAGE_OF_ONE) != 0 ? "a" : "");
  MXC_ASSIGN(const int status, RunProgram({assembler, architecture, text.path(),
                                           "-o", code.path()},
                                          said));
  std::string cubin = ContentOf(code);
  if (status == 0 && !cubin.empty()) return cubin;
  std::string first = ContentOf(said);
  first.resize(std::min(first.find('\n'), first.size()));
  return Error({}, "'{}' does not take the kernels (status {}): {}", assembler,
               status, first.empty() ? "it says nothing" : first);
}

}  // namespace mxc
