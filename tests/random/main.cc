// SPDX-License-Identifier: Apache-2.0
// mxc-random: random networks, compiled in random ways, against the
// interpreter.
//   mxc-random --first 0 --count 60          what ctest runs
//   mxc-random --first 7 --count 1 --keep F  leaves network 7 in folder F
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <filesystem>

#include "tests/cases/device.h"
#include "tests/cases/in_process.h"
#include "tests/cases/other_machine.h"
#include "tests/random/check.h"
#include "tools/terminal.h"

namespace mxc::random {
namespace {

namespace fs = std::filesystem;

struct Options {
  uint32_t first = 0, count = 60;
  double seconds = 1e9;
  DrawOptions draw;
  std::string device, keep;
};

std::string CheckApart(uint32_t seed, const Way& way, const DrawOptions& draw,
                       const std::string& folder) {
  const auto check = [&] {
    return Check(seed, way, DrawNetwork(seed, draw), folder);
  };
  return InProcess(check).message;
}

// The shortest beginning of the network that is wrong, too.
int Shortest(uint32_t seed, const Way& way, DrawOptions draw,
             const std::string& folder) {
  for (draw.layers = 1; draw.layers < 20; ++draw.layers) {
    if (!CheckApart(seed, way, draw, folder).empty()) return draw.layers;
  }
  return 0;
}

int Run(const Options& options) {
  const Stopwatch watch;
  const bool keeps = !options.keep.empty();
  const fs::path root = keeps ? fs::path(options.keep)
                              : fs::temp_directory_path() /
                                    fmt::format("mxc-random-{}", getpid());
  int failed = 0;
  uint32_t seed = options.first;
  for (; seed < options.first + options.count; ++seed) {
    if (watch.seconds() > options.seconds) break;
    const Way way = DrawWay(seed, options.device);
    const std::string folder = root / std::to_string(seed);
    DrawOptions draw = options.draw;
    draw.trains = way.trains;
    const std::string wrong = CheckApart(seed, way, draw, folder);
    if (!wrong.empty()) {
      ++failed;
      fmt::print("seed {}: {}\n{}\n", seed, ToString(way), wrong);
      if (draw.layers == 0) {
        fmt::print("wrong with --layers {}\n",
                   Shortest(seed, way, draw, folder));
      }
      std::fflush(stdout);
    }
    std::error_code ignored;
    if (wrong.empty() || !keeps) fs::remove_all(folder, ignored);
  }
  fmt::print("{} networks, {} wrong, {:.1f} s\n", seed - options.first, failed,
             watch.seconds());
  std::error_code ignored;
  if (!keeps) fs::remove_all(root, ignored);
  return failed == 0 ? 0 : 1;
}

int Main(int argc, char** argv) {
  CLI::App app("random networks against the interpreter");
  Options options;
  app.add_option("--first", options.first, "the first seed");
  app.add_option("--count", options.count, "how many seeds");
  app.add_option("--seconds", options.seconds, "stop after so long");
  app.add_option("--layers", options.draw.layers, "take fewer layers");
  app.add_option("--size", options.draw.size,
                 "how many times as large: 8 takes seconds each");
  app.add_option("--device", options.device,
                 "run them on a GPU, emulated or not")
      ->check(CLI::IsMember(DeviceTargets()));
  app.add_option("--keep", options.keep, "leave networks that fail here");
  CLI11_PARSE(app, argc, argv);
  if (!options.device.empty()) {
    if (const Status status = UseDevice(options.device); !status.ok()) {
      fmt::print("{}\n", status.errors().front().message);
      return 2;
    }
  }
  test::OtherMachine::Get();  // once, for all the processes of this one
  return Run(options);
}

}  // namespace
}  // namespace mxc::random

int main(int argc, char** argv) { return mxc::random::Main(argc, argv); }
