// SPDX-License-Identifier: Apache-2.0
// mxc-run attend: what mxc launch starts on another machine. It runs one
// process of the job, gives it the launcher's signals, and ends it when the
// launcher is gone.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>

#include "runtime/base/clock.h"
#include "runtime/base/exit_code.h"
#include "runtime/base/file_writer.h"
#include "runtime/base/nameless_file.h"
#include "runtime/job/lines.h"
#include "tools/run/failure.h"
#include "tools/run/launch/order.h"
#include "tools/run/launch/process.h"
#include "tools/run/subcommand.h"

namespace mxc::run {
namespace {

using runtime::NamelessFile;

// Standard input, of which the process has nothing.
runtime::Descriptor TakeInput() {
  runtime::Descriptor input(fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0));
  const runtime::Descriptor nothing(open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (input.get() < 0 || dup2(nothing.get(), STDIN_FILENO) < 0) {
    throw Failure(std::string("cannot read what the launcher says: ") +
                  std::strerror(errno));
  }
  return input;
}

class Attendant {
 public:
  Attendant();

  // Until the process has ended: its exit status, as of a shell.
  int Run();

 private:
  void Await();
  void Hear(const std::string& line);
  void Start(const Order& order);
  void OnSignals();

  job::Lines lines_;
  runtime::Descriptor signals_;
  std::optional<NamelessFile> key_;
  Process process_{"process", 0};
  bool started_ = false;
  int64_t heard_ = runtime::Nanoseconds();
  std::optional<int> code_;
};

Attendant::Attendant() : lines_(TakeInput()) {
  sigset_t awaited;
  sigemptyset(&awaited);
  for (const int one : {SIGCHLD, SIGTERM, SIGINT, SIGHUP}) {
    sigaddset(&awaited, one);
  }
  sigprocmask(SIG_BLOCK, &awaited, nullptr);
  signals_ =
      runtime::Descriptor(signalfd(-1, &awaited, SFD_NONBLOCK | SFD_CLOEXEC));
}

int Attendant::Run() {
  while (!code_) {
    Await();
    const bool silent = runtime::Nanoseconds() - heard_ > kSilence;
    if (lines_.descriptor() >= 0 && !silent) continue;
    if (!started_) throw Failure("nobody says what to run; mxc launch does");
    process_.Kill(SIGKILL);
  }
  process_.Kill(SIGKILL);  // what it started and left
  return *code_;
}

void Attendant::Await() {
  pollfd waiting[] = {{signals_.get(), POLLIN, 0},
                      {lines_.descriptor(), POLLIN, 0}};
  constexpr int kWhile = 1000;  // ms
  poll(waiting, std::size(waiting), kWhile);
  lines_.Read([this](const std::string& line) { Hear(line); });
  OnSignals();
  int status = 0;
  while (waitpid(-1, &status, WNOHANG) > 0) code_ = runtime::ExitCodeOf(status);
}

void Attendant::Hear(const std::string& line) {
  heard_ = runtime::Nanoseconds();
  if (!started_) return Start(DecodeOrder(line));
  if (const auto signal = DecodeSignal(line)) return process_.Kill(*signal);
  if (process_.hears && !line.empty()) process_.Tell(line + "\n");
}

void Attendant::Start(const Order& order) {
  std::error_code error;
  std::filesystem::current_path(order.folder, error);
  if (error) {
    throw Failure("this machine has no folder '" + order.folder +
                  "', in which the job runs");
  }
  process_.environment = order.environment;
  process_.is_group = true;
  process_.hears = order.environment.contains("MXC_TERMS");
  if (!order.key.empty()) {
    key_ = Take(NamelessFile::Create());
    chmod(key_->path().c_str(), S_IRUSR | S_IWUSR);
    runtime::FileWriter file(key_->path());
    file.Append(order.key + "\n");
    Require(file.Commit(runtime::FileWriter::Sync::kNo));
    Require(key_->KeepAtExec());
    process_.environment["MXC_KEY"] = key_->path();
  }
  process_.Start(order.command);
  started_ = true;
}

void Attendant::OnSignals() {
  signalfd_siginfo come = {};
  while (read(signals_.get(), &come, sizeof come) == sizeof come) {
    if (come.ssi_signo != SIGCHLD) {
      process_.Kill(static_cast<int>(come.ssi_signo));
    }
  }
}

}  // namespace

Command AddAttend(CLI::App& app, Reporting& reporting) {
  app.group("");  // for mxc launch alone
  return [&reporting] { reporting.exit_code = Attendant().Run(); };
}

}  // namespace mxc::run
