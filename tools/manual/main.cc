// SPDX-License-Identifier: Apache-2.0
// usage: mxc-manual FOLDER
// Writes manual pages and completion for mxc and mxc-run to where an
// installation's share/ wants them.
#include <cstdio>
#include <filesystem>
#include <string>

#include "runtime/base/file_writer.h"
#include "tools/manual/command_tree.h"

namespace {

using mxc::manual::Command;
namespace fs = std::filesystem;

bool Write(const fs::path& path, const std::string& text) {
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  mxc::runtime::FileWriter out(path.string());
  out.Append(std::as_bytes(std::span(text)));
  const mxc::runtime::Status written = out.Commit();
  if (!written.ok()) std::fprintf(stderr, "%s\n", written.message().c_str());
  return written.ok();
}

bool WriteAll(const fs::path& share, const Command& program) {
  const std::string& name = program.name;
  return Write(share / "man/man1" / (name + ".1"), ManPage(program)) &&
         Write(share / "bash-completion/completions" / name,
               BashCompletion(program)) &&
         Write(share / "fish/vendor_completions.d" / (name + ".fish"),
               FishCompletion(program)) &&
         Write(share / "zsh/vendor-completions" / ("_" + name),
               ZshCompletion(program));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: mxc-manual FOLDER\n");
    return 2;
  }
  const bool written = WriteAll(argv[1], mxc::manual::MxcTree()) &&
                       WriteAll(argv[1], mxc::manual::MxcRunTree());
  return written ? 0 : 1;
}
