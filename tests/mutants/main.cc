// SPDX-License-Identifier: Apache-2.0
// mxc-mutants ARTIFACT [COUNT] [SEED] [--look]: changes an artifact in COUNT
// ways, makes all checksums right again in most, and looks at, opens, binds and
// runs each in a process of its own. Ends with 0 where none crashed or hung.
// What the instructions do is not changed: an artifact is a program.
// With --look nothing of it is opened or run, only read and shown, all in this
// process: that is fast, and meant for sanitizers, which end it at a fault; the
// mutant is the file that is left beside the artifact.
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <random>

#include "runtime/executor/executor.h"
#include "tests/mutants/look.h"
#include "tests/mutants/sealed_file.h"
#include "tests/mutants/table_mutator.h"
#include "tests/support/hurtful_values.h"

namespace mxc::test {
namespace {

constexpr int kRefused = 10, kRan = 11;
constexpr unsigned kSeconds = 20;    // of a processor
constexpr unsigned kPatience = 600;  // in all, for what waits and never ends

class Mutator {
 public:
  Mutator(const SealedFile& good, uint64_t seed) : good_(good), random_(seed) {}

  // The file, and what was changed.
  std::pair<std::string, const char*> Next() {
    SealedFile file = good_;
    switch (Below(18)) {
      case 0:
      case 1:
        SwapOperands(file);
        return {file.Seal(), "operands"};
      case 2:
      case 3:
      case 4:
        Spoil(file.sections[MXC_SECTION_TABLES]);
        return {file.Seal(), "tables"};
      case 5:
      case 6:
      case 7:
        SpoilCode(file.sections[MXC_SECTION_CODE]);
        return {file.Seal(), "code"};
      case 8:
        Spoil(file.sections[MXC_SECTION_WEIGHTS]);
        return {file.Seal(), "weights"};
      case 9:
        Spoil(file.sections[Below(2) == 0 ? MXC_SECTION_MANIFEST
                                          : MXC_SECTION_SYMBOL]);
        return {file.Seal(), "texts"};
      case 10:
        return {file.Seal([&](mxc_trailer& trailer) { Spoil(trailer); }),
                "trailer"};
      case 11:
        return {Damaged(), "unsealed"};
      default: {
        std::string& tables = file.sections[MXC_SECTION_TABLES];
        tables = MutatedTables(tables, random_);
        return {file.Seal(), "rows"};
      }
    }
  }

 private:
  uint64_t Below(uint64_t count) { return random_() % count; }

  void Spoil(char* bytes, size_t size) {
    for (uint64_t n = 1 + Below(3); n > 0 && size > 0; --n) {
      const size_t width = size_t{1} << Below(4);
      if (size < width) continue;
      const uint64_t value =
          Below(3) == 0 ? random_()
                        : kHurtfulValues[Below(std::size(kHurtfulValues))];
      std::memcpy(bytes + Below(size / width) * width, &value, width);
    }
  }
  void Spoil(std::string& bytes) { Spoil(bytes.data(), bytes.size()); }
  void Spoil(mxc_trailer& trailer) {
    Spoil(reinterpret_cast<char*>(&trailer), offsetof(mxc_trailer, checksum));
  }

  void SpoilCode(std::string& code) {
    const auto parts = good_.PartsOfCode();
    const auto& [at, size] = parts[Below(parts.size())];
    Spoil(code.data() + at, size);
  }

  // Other buffers of the same entry, as many as the table of operands has.
  void SwapOperands(SealedFile& file) {
    std::string& tables = file.sections[MXC_SECTION_TABLES];
    mxc_tables header;
    std::memcpy(&header, tables.data(), sizeof header);
    for (uint64_t n = 1 + Below(3); n > 0 && header.operand_count > 0; --n) {
      char* rows = tables.data() + header.operands_offset;
      uint32_t row = 0;
      std::memcpy(&row, rows + Below(header.operand_count) * 4, 4);
      std::memcpy(rows + Below(header.operand_count) * 4, &row, 4);
    }
  }

  // Nothing is made right.
  std::string Damaged() {
    std::string file = good_.Seal();
    // Instructions stay as they are, even unsealed.
    const size_t end = file.size() - good_.sections[MXC_SECTION_CODE].size();
    Spoil(file.data() + file.size() - end, end);
    if (Below(4) == 0) file.resize(Below(file.size()));
    return file;
  }

  const SealedFile& good_;
  std::mt19937_64 random_;
};

void RunEntries(const std::shared_ptr<const runtime::Model>& model) {
  const auto& tables = model->tables();
  for (size_t row = 0; row < tables.entries().size(); ++row) {
    auto executor = runtime::Executor::Bind(model, row, {.threads = 2});
    if (!executor.ok()) continue;
    const auto inputs = tables.Inputs(tables.entries()[row]);
    for (size_t k = 0; k < inputs.size(); ++k) {
      std::memset((*executor)->InputStorage(k), 0x3f,
                  (*executor)->buffers()[inputs[k]].bytes);
    }
    (void)(*executor)->Run();
  }
}

// Ends the process where what follows takes longer; how much else the machine
// has to do does not count.
void LimitTime() {
  const itimerval limit = {{}, {kSeconds, 0}};
  setitimer(ITIMER_PROF, &limit, nullptr);
  alarm(kPatience);
}

// In a process of its own.
int LookOpenRun(const std::string& path) {
  LimitTime();
  LookAt(path);
  const auto model = runtime::Model::Open(path, {});
  if (!model.ok()) return kRefused;
  RunEntries(*model);
  return kRan;
}

struct Counts {
  int refused = 0, ran = 0, crashed = 0, hung = 0;
};

void Judge(int status, Counts& counts) {
  const int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  if (signal == SIGALRM || signal == SIGPROF) {
    ++counts.hung;
  } else if (WIFEXITED(status) && WEXITSTATUS(status) == kRefused) {
    ++counts.refused;
  } else if (WIFEXITED(status) && WEXITSTATUS(status) == kRan) {
    ++counts.ran;
  } else {
    ++counts.crashed;
  }
}

void WriteFile(const std::string& path, const std::string& bytes) {
  std::filesystem::remove(path);
  std::ofstream(path, std::ios::binary) << bytes;
}

SealedFile GoodFile(const std::string& artifact) {
  std::ifstream in(artifact, std::ios::binary);
  return SealedFile(std::string((std::istreambuf_iterator<char>(in)),
                                std::istreambuf_iterator<char>()));
}

int Look(const std::string& artifact, int count, uint64_t seed) {
  const SealedFile good = GoodFile(artifact);
  Mutator mutator(good, seed);
  const std::string path = fmt::format("{}.mutant-{}", artifact, getpid());
  int read = 0;
  for (int i = 0; i < count; ++i) {
    WriteFile(path, mutator.Next().first);
    LimitTime();
    read += LookAt(path) ? 1 : 0;
  }
  std::filesystem::remove(path);
  fmt::print(stderr, "{} mutants of {}, {} were read\n", count, artifact, read);
  return 0;
}

int Main(const std::string& artifact, int count, uint64_t seed) {
  const SealedFile good = GoodFile(artifact);
  Mutator mutator(good, seed);
  std::map<std::string, Counts> table;
  const std::string path = fmt::format("{}.mutant-{}", artifact, getpid());
  int bad = 0;
  for (int i = 0; i < count; ++i) {
    const auto [bytes, what] = mutator.Next();
    WriteFile(path, bytes);
    const pid_t child = fork();
    if (child == 0) _exit(LookOpenRun(path));
    int status = 0;
    waitpid(child, &status, 0);
    Counts& counts = table[what];
    const int before = counts.crashed + counts.hung;
    Judge(status, counts);
    if (counts.crashed + counts.hung == before) continue;
    ++bad;
    const std::string kept = fmt::format("{}.bad-{}-{}", artifact, seed, i);
    WriteFile(kept, bytes);
    fmt::print("{}: {}, status {:#x}\n", kept, what, status);
  }
  std::filesystem::remove(path);
  fmt::print("{:<10} {:>8} {:>8} {:>8} {:>8}\n", "changed", "refused", "ran",
             "crashed", "hung");
  for (const auto& [what, c] : table) {
    fmt::print("{:<10} {:>8} {:>8} {:>8} {:>8}\n", what, c.refused, c.ran,
               c.crashed, c.hung);
  }
  return bad == 0 ? 0 : 1;
}

}  // namespace
}  // namespace mxc::test

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "usage: mxc-mutants ARTIFACT [COUNT] [SEED] [--look]\n");
    return 2;
  }
  const int count = argc > 2 ? std::atoi(argv[2]) : 2000;
  const uint64_t seed = argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 1;
  const bool look = argc > 4 && std::string_view(argv[4]) == "--look";
  return look ? mxc::test::Look(argv[1], count, seed)
              : mxc::test::Main(argv[1], count, seed);
}
