// SPDX-License-Identifier: Apache-2.0
#include "tools/run/launch/machines.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "runtime/base/shell_word.h"
#include "tools/run/failure.h"

namespace mxc::run {
namespace {

// The words that a program prints.
std::vector<std::string> WordsOf(const std::string& command) {
  std::FILE* const pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) throw Failure("cannot run '" + command + "'");
  std::string text;
  for (int byte = 0; (byte = std::fgetc(pipe)) != EOF;) {
    text += static_cast<char>(byte);
  }
  if (pclose(pipe) != 0) throw Failure("'" + command + "' fails");
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

std::string AddressOfNode(const std::string& node) {
  constexpr std::string_view kAddress = "NodeAddr=";
  for (const std::string& word :
       WordsOf("scontrol show node --oneliner " + runtime::ShellWord(node))) {
    if (word.starts_with(kAddress)) return word.substr(kAddress.size());
  }
  return node;
}

}  // namespace

std::vector<Machine> MachinesOfSlurm() {
  const char* nodes = std::getenv("SLURM_JOB_NODELIST");
  if (nodes == nullptr) {
    throw Failure(
        "--on slurm works within an allocation, and there is none here; begin "
        "with sbatch or salloc");
  }
  std::vector<Machine> machines;
  for (const std::string& node :
       WordsOf("scontrol show hostnames " + runtime::ShellWord(nodes))) {
    machines.push_back({node, AddressOfNode(node)});
  }
  return machines;
}

std::vector<Machine> MachinesOf(const std::string& names) {
  std::vector<Machine> machines;
  std::istringstream stream(names);
  for (std::string name; std::getline(stream, name, ',');) {
    // What begins with a dash would be an option of ssh.
    if (name.empty() || name[0] == '-') {
      throw Failure("--hosts '" + names + "' names no machine in '" + name +
                    "', expected names separated by commas");
    }
    machines.push_back({name, name.substr(name.find('@') + 1)});
  }
  if (machines.empty()) throw Failure("--on ssh needs machines: --hosts a,b");
  return machines;
}

// A link that is cut ends ssh after 15 s.
std::vector<std::string> AttendantOn(const Machine& machine,
                                     const std::string& engine) {
  const std::string program =
      std::filesystem::read_symlink("/proc/self/exe").string();
  if (engine == "ssh") {
    return {"ssh",
            "-o",
            "BatchMode=yes",
            "-o",
            "ServerAliveInterval=5",
            "-o",
            "ServerAliveCountMax=3",
            "-o",
            "ConnectTimeout=20",
            machine.name,
            runtime::ShellWord(program) + " attend"};
  }
  return {"srun",       "--overlap", "--nodes=1",
          "--ntasks=1", "--quiet",   "--nodelist=" + machine.name,
          program,      "attend"};
}

}  // namespace mxc::run
