// SPDX-License-Identifier: Apache-2.0
// mxc-run serve: becomes mxc-serve, which lies beside it.
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "tools/run/failure.h"
#include "tools/run/serve_options.h"
#include "tools/run/subcommand.h"

namespace mxc::run {
namespace {

// What was said, without what CLI11 made of it.
std::vector<std::string> WordsOf(const CLI::App& app) {
  std::vector<std::string> words;
  for (const CLI::Option* option : app.get_options()) {
    const bool flag = option->get_expected_max() == 0;
    if (flag && option->count() > 0) words.push_back(option->get_name());
    if (flag) continue;
    for (const std::string& value : option->results()) {
      const bool named = !option->get_positional();
      words.push_back(named ? option->get_name() + "=" + value : value);
    }
  }
  return words;
}

[[noreturn]] void Become(std::vector<std::string> words) {
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  const std::string program =
      error ? "mxc-serve" : (self.parent_path() / "mxc-serve").string();
  words.insert(words.begin(), program);
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  execvp(program.c_str(), argv.data());
  const int why = errno;
  std::string message = "cannot start " + program + ": " + std::strerror(why);
  if (why == ENOENT) message += "; it is built where there is cpp-httplib";
  throw Failure(std::move(message));
}

}  // namespace

Command AddServe(CLI::App& app, Reporting&) {
  const auto options = std::make_shared<ServeOptions>();
  DeclareServe(app, *options);
  return [&app, options] { Become(WordsOf(app)); };
}

}  // namespace mxc::run
