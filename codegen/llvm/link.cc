// SPDX-License-Identifier: Apache-2.0
#include "codegen/llvm/link.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "codegen/llvm/objects.h"
#include "runtime/base/file_writer.h"
#include "runtime/base/nameless_file.h"

LLD_HAS_DRIVER(elf)
LLD_HAS_DRIVER(wasm)

// What links leave behind that make modules for several threads; the next one would
// take it for its own. The header that declares it, lld/wasm/Symbols.h, is not
// installed; names alone are linked.
namespace lld::wasm {
struct WasmSym {
  static void *initMemory, *initMemoryFlag, *startFunction, *initTLS, *tlsBase,
      *tlsSize, *tlsAlign, *applyTLSRelocs, *applyGlobalTLSRelocs;
};
}  // namespace lld::wasm

namespace mxc {
namespace {

// The objects as one archive in a file that has no name: thousands of files
// would be more than a process may have open.
Result<runtime::NamelessFile> WriteArchive(
    std::span<const std::string> objects) {
  auto file = runtime::NamelessFile::CreateInMemory();
  if (!file.ok()) return Error({}, "{}", file.status().message());
  runtime::FileWriter out(file->path());
  out.Append("!<arch>\n");
  for (size_t i = 0; i < objects.size(); ++i) {
    // Name, time, user, group, mode, size.
    out.Append(fmt::format("{:<16}{:<12}{:<6}{:<6}{:<8}{:<10}`\n",
                           fmt::format("{}.o/", i), 0, 0, 0, 644,
                           objects[i].size()));
    out.Append(objects[i]);
    if (objects[i].size() % 2 != 0) out.Append("\n");
  }
  const runtime::Status written = out.Commit();
  if (!written.ok()) {
    return Error({}, "cannot write a temporary file: {}", written.message());
  }
  return std::move(*file);
}

// A pipe and all that was written to it. What the linker writes to is no
// regular file, so that it makes no temporary one beside it.
class ImagePipe {
 public:
  ImagePipe() {
    int ends[2] = {-1, -1};
    if (pipe2(ends, O_CLOEXEC) != 0) return;
    in_ = runtime::Descriptor(ends[1]);
    out_ = runtime::Descriptor(ends[0]);
    try {
      reader_ = std::thread([this] { Read(); });
    } catch (const std::system_error& error) {
      in_.Close();
      errno = error.code().value();
    }
  }
  ~ImagePipe() { Finish(); }
  ImagePipe(const ImagePipe&) = delete;

  bool ok() const { return in_.get() >= 0; }
  std::string path() const {
    return fmt::format("/proc/self/fd/{}", in_.get());
  }
  std::string Finish() {
    in_.Close();
    if (reader_.joinable()) reader_.join();
    return std::move(image_);
  }

 private:
  void Read() {
    std::array<char, 1 << 16> piece;
    for (;;) {
      const ssize_t size = read(out_.get(), piece.data(), piece.size());
      if (size == 0 || (size < 0 && errno != EINTR)) return;
      if (size > 0) image_.append(piece.data(), static_cast<size_t>(size));
    }
  }

  runtime::Descriptor in_, out_;
  std::thread reader_;
  std::string image_;
};

// lld keeps its state in the process (one CommonLinkerContext).
std::mutex& LinkMutex() {
  static std::mutex mutex;
  return mutex;
}

void ForgetThreads() {
  using Kept = lld::wasm::WasmSym;
  Kept::initMemory = Kept::initMemoryFlag = Kept::startFunction = nullptr;
  Kept::initTLS = Kept::tlsBase = Kept::tlsSize = Kept::tlsAlign = nullptr;
  Kept::applyTLSRelocs = Kept::applyGlobalTLSRelocs = nullptr;
}

void RunLinker(const std::vector<std::string>& args) {
  std::vector<const char*> argv;
  for (const std::string& arg : args) argv.push_back(arg.c_str());
  std::string messages;
  llvm::raw_string_ostream stream(messages);
  const std::lock_guard lock(LinkMutex());
  ForgetThreads();
  const lld::Result result = lld::lldMain(
      argv, stream, stream,
      {{lld::Gnu, &lld::elf::link}, {lld::Wasm, &lld::wasm::link}});
  MXC_CHECK(result.retCode == 0, "linking generated code: {}", messages);
  MXC_CHECK(result.canRunAgain);
}

// What the linker that `args` begin with, and say what to do, makes of all
// objects.
Result<std::string> LinkWhole(std::vector<std::string> args,
                              std::span<const std::string> objects) {
  ImagePipe image;
  if (!image.ok()) {
    return Error({}, "cannot link: no pipe and thread: {}",
                 std::strerror(errno));
  }
  MXC_ASSIGN(const runtime::NamelessFile archive, WriteArchive(objects));
  args.insert(args.end(), {"--threads=1", "-o", image.path(), "--whole-archive",
                           archive.path()});
  RunLinker(args);
  return image.Finish();
}

}  // namespace

Result<std::string> Link(std::span<const std::string> objects,
                         bool relocatable) {
  if (relocatable) return LinkWhole({"ld.lld", "-r"}, objects);
  return LinkWhole(
      {"ld.lld", "-shared", "-nostdlib", "--no-undefined", "-z", "noexecstack",
       "-z", "relro", "-z", "now", "--hash-style=gnu", "--build-id=none"},
      objects);
}

Result<std::string> LinkPage(std::span<const std::string> objects,
                             std::span<const std::string> addresses,
                             bool shared) {
  std::vector<std::string> args = {
      "wasm-ld",          "--no-entry",  "--stack-first",       "-z",
      "stack-size=65536", "--strip-all", "--no-growable-memory"};
  if (shared) {
    args.insert(args.end(), {"--shared-memory", "--import-memory",
                             "--export=__stack_pointer"});
  }
  for (const std::string& symbol : addresses) {
    args.push_back("--export=" + symbol);
  }
  return LinkWhole(std::move(args), objects);
}

int64_t ImportedPages(const std::string& module) {
  llvm::Error error = llvm::Error::success();
  const llvm::object::WasmObjectFile file(
      llvm::MemoryBufferRef(module, "module"), error);
  MXC_CHECK(!error, "{}", llvm::toString(std::move(error)));
  for (const llvm::wasm::WasmImport& import : file.imports()) {
    if (import.Kind == llvm::wasm::WASM_EXTERNAL_MEMORY) {
      return static_cast<int64_t>(import.Memory.Minimum);
    }
  }
  MXC_CHECK(false, "no memory is imported");
  return 0;
}

}  // namespace mxc
