// SPDX-License-Identifier: Apache-2.0
#include "tools/run/input_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "runtime/base/file_writer.h"
#include "runtime/base/nameless_file.h"
#include "runtime/formats/npy.h"

namespace mxc::run {
namespace {

using runtime::Descriptor, runtime::MappedFile;
using runtime::Fail, runtime::Status, runtime::StatusCode, runtime::StatusOr;

constexpr int64_t kMostOfPipe = int64_t{4} << 30;
constexpr const char* kStandardInput = "-";

// Nothing but what was typed would come.
bool IsTerminal(int file) { return isatty(file) != 0; }

StatusOr<Descriptor> OpenPipe(const std::string& file) {
  if (file != kStandardInput) {
    Descriptor pipe(open(file.c_str(), O_RDONLY | O_CLOEXEC));
    if (pipe.get() < 0) return runtime::SystemError("open", file);
    return pipe;
  }
  Descriptor input(dup(STDIN_FILENO));
  if (input.get() < 0) return runtime::SystemError("read", file);
  if (IsTerminal(input.get())) {
    return Fail(StatusCode::kIo,
                "'-' is standard input, which is the terminal; expected a "
                "file or a pipe");
  }
  return input;
}

Status CopyAll(const Descriptor& pipe, const std::string& file,
               runtime::FileWriter& out) {
  std::vector<std::byte> piece(1 << 16);
  for (int64_t copied = 0;;) {
    const ssize_t count = read(pipe.get(), piece.data(), piece.size());
    if (count == 0) return {};
    if (count < 0 && errno == EINTR) continue;
    // Both programs open streams that are closed, for writing alone.
    if (count < 0 && errno == EBADF) {
      return Fail(StatusCode::kIo, "'-' is standard input, which is closed");
    }
    if (count < 0) return runtime::SystemError("read", file);
    copied += count;
    if (copied > kMostOfPipe) {
      return Fail(StatusCode::kInvalidArgument,
                  "'%s' gives more than 4 GiB; write it to a file",
                  file.c_str());
    }
    out.Append(std::span(piece).first(static_cast<size_t>(count)));
  }
}

StatusOr<MappedFile> ReadPipe(const std::string& file) {
  const auto pipe = OpenPipe(file);
  if (!pipe.ok()) return pipe.status();
  const auto kept = runtime::NamelessFile::Create();
  if (!kept.ok()) return kept.status();
  runtime::FileWriter out(kept->path());
  MXC_RT_RETURN_IF_ERROR(CopyAll(*pipe, file, out));
  MXC_RT_RETURN_IF_ERROR(out.Commit(runtime::FileWriter::Sync::kNo));
  return MappedFile::Open(kept->path());
}

}  // namespace

bool IsPipe(const std::string& file) {
  if (file == kStandardInput) return true;
  struct stat status;
  return stat(file.c_str(), &status) == 0 &&
         (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode));
}

StatusOr<MappedFile> OpenInput(const std::string& file) {
  if (!IsPipe(file)) return MappedFile::Open(file);
  static std::map<std::string, MappedFile> pipes;
  const auto known = pipes.find(file);
  if (known != pipes.end()) return known->second;
  auto bytes = ReadPipe(file);
  if (bytes.ok()) pipes.emplace(file, *bytes);
  return bytes;
}

StatusOr<runtime::Array> ReadInputArray(const std::string& file) {
  const auto bytes = OpenInput(file);
  if (!bytes.ok()) return bytes.status();
  auto array = runtime::ParseNpy(bytes->bytes());
  if (array.ok()) return array;
  return Status(array.status().code(), file + ": " + array.status().message());
}

}  // namespace mxc::run
