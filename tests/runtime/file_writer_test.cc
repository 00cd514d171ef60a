// SPDX-License-Identifier: Apache-2.0
// Files are replaced as a whole or not at all, and nothing else is replaced.
#include "runtime/base/file_writer.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <string>
#include <thread>

#include "runtime/base/log_file.h"
#include "runtime/base/nameless_file.h"
#include "tests/support/temporary_folder.h"

namespace mxc::runtime {
namespace {

namespace fs = std::filesystem;
using test::TemporaryFolder;
using test::TextOf;
using test::WriteText;

std::string Write(const std::string& path, const std::string& text) {
  FileWriter writer(path);
  writer.Append(text);
  return writer.Commit().message();
}

size_t FilesIn(const TemporaryFolder& folder) {
  return static_cast<size_t>(std::distance(
      fs::directory_iterator(folder.path()), fs::directory_iterator()));
}

mode_t ModeOf(const std::string& path) {
  struct stat status = {};
  REQUIRE(lstat(path.c_str(), &status) == 0);
  return status.st_mode & 07777;
}

// No file grows beyond `bytes` while this lives.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    handler_ = signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit = {bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    setrlimit(RLIMIT_FSIZE, &before_);
    signal(SIGXFSZ, handler_);
  }

 private:
  rlimit before_ = {};
  sighandler_t handler_;
};

// The status with which a child that runs `body` ends.
int RunInChild(const std::function<void()>& body) {
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    body();
    _exit(0);
  }
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  return status;
}

}  // namespace

TEST_CASE("file writer: as a whole or not at all") {
  const TemporaryFolder folder("writer");
  const std::string path = folder.File("x");
  WriteText(path, "before");
  {
    FileWriter writer(path);
    writer.Append("half");
  }
  CHECK(TextOf(path) == "before");
  FileWriter writer(path);
  writer.Append("after");
  writer.AppendScalar(uint8_t{33});
  CHECK(TextOf(path) == "before");
  REQUIRE(writer.Commit().ok());
  CHECK(TextOf(path) == "after!");
  CHECK(FilesIn(folder) == 1);
  // Folders are made, where that can be.
  CHECK(Write(folder.File("new/deeper/x"), "here") == "");
  CHECK(TextOf(folder.File("new/deeper/x")) == "here");
  CHECK(Write("/proc/nowhere/x", "") ==
        "cannot create '/proc/nowhere/x': No such file or directory");
  CHECK(Write(path + "/below", "") ==
        "cannot create '" + path + "/below': Not a directory");
}

TEST_CASE(
    "file writer: a good file survives a full disk, and so does its pair") {
  const TemporaryFolder folder("writer");
  const std::string path = folder.File("x"), other = folder.File("y");
  WriteText(path, "good");
  {
    const FileSizeLimit limit(8192);
    CHECK(Write(path, std::string(200'000, 'x')) ==
          "cannot write '" + path + "': File too large");
    CHECK(Write(path, std::string(9000, 'x')) ==
          "cannot write '" + path + "': File too large");
    FileWriter small(path);
    small.Append("small");
    CHECK(small.Finish().ok());
    CHECK(Write(other, std::string(9000, 'x')) != "");
  }
  CHECK(TextOf(path) == "good");
  CHECK(FilesIn(folder) == 1);
}

TEST_CASE(
    "file writer: a new file's mode is the umask's, an old one keeps its") {
  const TemporaryFolder folder("writer");
  const mode_t before = umask(027);
  CHECK(Write(folder.File("new"), "x") == "");
  CHECK(ModeOf(folder.File("new")) == 0640);
  umask(0);
  CHECK(Write(folder.File("open"), "x") == "");
  CHECK(ModeOf(folder.File("open")) == 0666);
  for (const mode_t mode : {0600, 0755, 0664}) {
    WriteText(folder.File("old"), "x");
    chmod(folder.File("old").c_str(), mode);
    CHECK(Write(folder.File("old"), "y") == "");
    CHECK(ModeOf(folder.File("old")) == mode);
  }
  umask(before);
}

TEST_CASE("file writer: a file that may not be written stays") {
  if (geteuid() == 0) return;  // who may write anything
  const TemporaryFolder folder("writer");
  const std::string path = folder.File("x");
  WriteText(path, "kept");
  chmod(path.c_str(), 0444);
  CHECK(Write(path, "x") == "cannot write '" + path + "': Permission denied");
  CHECK(TextOf(path) == "kept");
}

TEST_CASE("file writer: links are written through") {
  const TemporaryFolder folder("writer");
  fs::create_directory(folder.File("deep"));
  WriteText(folder.File("deep/x"), "before");
  fs::create_symlink("deep/x", folder.File("relative"));
  fs::create_symlink(folder.File("relative"), folder.File("absolute"));
  CHECK(Write(folder.File("absolute"), "after") == "");
  CHECK(TextOf(folder.File("deep/x")) == "after");
  CHECK(fs::is_symlink(folder.File("absolute")));
  CHECK(fs::is_symlink(folder.File("relative")));

  fs::create_symlink("deep/y", folder.File("dangling"));
  CHECK(Write(folder.File("dangling"), "made") == "");
  CHECK(TextOf(folder.File("deep/y")) == "made");
  CHECK(fs::is_symlink(folder.File("dangling")));

  fs::create_symlink("b", folder.File("a"));
  fs::create_symlink("a", folder.File("b"));
  CHECK(Write(folder.File("a"), "x") == "cannot write '" + folder.File("a") +
                                            "': Too many levels of symbolic "
                                            "links");
}

TEST_CASE("file writer: a link of another user in a shared folder is refused") {
  if (geteuid() != 0) return;  // cannot make one
  const TemporaryFolder folder("writer");
  WriteText(folder.File("secret"), "kept");
  fs::create_directory(folder.File("shared"));
  chmod(folder.File("shared").c_str(), 01777);
  const std::string link = folder.File("shared/x");
  fs::create_symlink(folder.File("secret"), link);
  REQUIRE(lchown(link.c_str(), 12345, 12345) == 0);
  CHECK(Write(link, "x") ==
        "cannot write '" + link + "': it is a link of another user");
  CHECK(TextOf(folder.File("secret")) == "kept");
}

TEST_CASE("file writer: a pipe gets the bytes and stays a pipe") {
  const TemporaryFolder folder("writer");
  const std::string path = folder.File("pipe");
  REQUIRE(mkfifo(path.c_str(), 0600) == 0);
  std::string read;
  std::thread reader([&] { read = TextOf(path); });
  const std::string text(300'000, 'x');
  CHECK(Write(path, text) == "");
  reader.join();
  CHECK(read == text);
  CHECK(fs::is_fifo(path));
  CHECK(FilesIn(folder) == 1);
}

TEST_CASE("file writer: a device stays a device") {
  const TemporaryFolder folder("writer");
  const std::string null = folder.File("null"), full = folder.File("full");
  if (mknod(null.c_str(), S_IFCHR | 0666, makedev(1, 3)) != 0 ||
      mknod(full.c_str(), S_IFCHR | 0666, makedev(1, 7)) != 0) {
    return;  // root makes devices
  }
  CHECK(Write(null, std::string(100'000, 'x')) == "");
  CHECK(fs::is_character_file(null));
  CHECK(Write(full, "x") ==
        "cannot write '" + full + "': No space left on device");
  CHECK(fs::is_character_file(full));
  CHECK(FilesIn(folder) == 2);
}

TEST_CASE("file writer: a descriptor of this process is written where it is") {
  const TemporaryFolder folder("writer");
  const std::string path = folder.File("x");
  const Descriptor file(open(path.c_str(), O_RDWR | O_CREAT, 0600));
  REQUIRE(write(file.get(), "one ", 4) == 4);
  CHECK(Write(fmt::format("/dev/fd/{}", file.get()), "two ") == "");
  CHECK(Write(fmt::format("/proc/self/fd/{}", file.get()), "three") == "");
  CHECK(TextOf(path) == "one two three");
  const std::string closed = "/dev/fd/987";
  CHECK(Write(closed, "x") ==
        "cannot create '/dev/fd/987': No such file or directory");
  CHECK(Write("/proc/self/exe", "x") ==
        "cannot write '/proc/self/exe': it is no file of this process");
}

TEST_CASE("file writer: what cannot be written is refused by its kind") {
  const TemporaryFolder folder("writer");
  const std::string path = folder.path();
  CHECK(Write(path, "x") == "cannot write '" + path + "': it is a folder");
  CHECK(Write(path + "/", "x") ==
        "cannot write '" + path + "/': it names a folder");
  CHECK(Write("", "x") == "cannot create '': No such file or directory");
  const std::string name = folder.File("socket");
  REQUIRE(mknod(name.c_str(), S_IFSOCK | 0600, 0) == 0);
  CHECK(Write(name, "x") == "cannot write '" + name + "': it is a socket");
  CHECK(fs::is_socket(name));
}

TEST_CASE("destination: what cannot be written is known, and nothing is made") {
  const TemporaryFolder folder("writer");
  const std::string own = folder.path(), file = folder.File("x"),
                    pipe = folder.File("pipe");
  WriteText(file, "kept");
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  CHECK(RequireDestination(file).ok());
  CHECK(RequireDestination(folder.File("new")).ok());
  CHECK(RequireDestination(pipe).ok());  // waits for no reader
  CHECK(RequireDestination(folder.File("none/y")).ok());
  CHECK_FALSE(fs::exists(folder.File("none")));
  CHECK(RequireDestination(file + "/y").message() ==
        "cannot create '" + file + "/y': Not a directory");
  CHECK(RequireFolder(own).ok());
  CHECK(RequireFolder(own + "/").ok());
  CHECK(RequireFolder(folder.File("none/deeper/")).ok());
  CHECK(RequireFolder("").ok());
  CHECK(RequireFolder("none/deeper").ok());
  CHECK(RequireFolder("/none").ok() == (geteuid() == 0));
  CHECK(RequireFolder(file + "/log").message() ==
        "cannot write to '" + file + "/log': Not a directory");
  CHECK(RequireFolder(file).message() ==
        "cannot write to '" + file + "': Not a directory");
  CHECK(TextOf(file) == "kept");
  CHECK(FilesIn(folder) == 2);
}

TEST_CASE("file writer: the longest name can be replaced") {
  const TemporaryFolder folder("writer");
  const std::string path = folder.File(std::string(255, 'n'));
  CHECK(Write(path, "one") == "");
  CHECK(Write(path, "two") == "");
  CHECK(TextOf(path) == "two");
  CHECK(FilesIn(folder) == 1);
}

TEST_CASE("unfinished files go with the signal that ends the process") {
  const TemporaryFolder folder("writer");
  const Descriptor opened(open(folder.path().c_str(), O_RDONLY | O_DIRECTORY));
  for (const int ending : {SIGINT, SIGTERM, SIGHUP}) {
    WriteText(folder.File("half"), "");
    WriteText(folder.File("done"), "");
    const int status = RunInChild([&] {
      signal(ending, SIG_DFL);  // doctest handles it
      RemoveUnfinishedAtSignals();
      const UnfinishedName half(opened.get(), "half");
      {
        const UnfinishedName done(opened.get(), "done");
      }
      raise(ending);
    });
    CHECK(WIFSIGNALED(status));
    CHECK(WTERMSIG(status) == ending);
    CHECK_FALSE(fs::exists(folder.File("half")));
    CHECK(fs::exists(folder.File("done")));
  }
}

TEST_CASE("signals that are ignored stay ignored") {
  const int status = RunInChild([] {
    signal(SIGHUP, SIG_IGN);
    RemoveUnfinishedAtSignals();
    raise(SIGHUP);
  });
  CHECK(status == 0);
}

TEST_CASE("a log holds whole pieces") {
  const TemporaryFolder folder("writer");
  const std::string path = folder.File("log");
  StatusOr<LogFile> log = LogFile::Create(path);
  REQUIRE(log.ok());
  const auto append = [&](const std::string& text) {
    return log->Append(std::as_bytes(std::span(text))).message();
  };
  CHECK(append("one ") == "");
  {
    const FileSizeLimit limit(100);
    CHECK(append(std::string(200, 'x')) ==
          "cannot write '" + path + "': File too large");
  }
  CHECK(append("two") == "");
  CHECK(TextOf(path) == "one two");
  CHECK_FALSE(LogFile::Create(path).ok());
  CHECK(TextOf(path) == "one two");
}

TEST_CASE("a nameless file is read by its path and kept for the next program") {
  StatusOr<NamelessFile> file = NamelessFile::Create();
  REQUIRE(file.ok());
  CHECK(Write(file->path(), "text") == "");
  CHECK(TextOf(file->path()) == "text");
  {
    const FileSizeLimit limit(10);
    CHECK(Write(file->path(), "much more").starts_with("cannot write '/"));
    CHECK(Write(file->path(), "x").ends_with("/': File too large"));
  }
  const std::string show = "cat " + file->path();
  CHECK(system((show + " 2>/dev/null").c_str()) != 0);
  REQUIRE(file->KeepAtExec().ok());
  CHECK(system((show + " >/dev/null").c_str()) == 0);
}

}  // namespace mxc::runtime
