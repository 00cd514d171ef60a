// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/file_writer.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <utility>

#include "runtime/base/nameless_file.h"
#include "runtime/base/random_number.h"

namespace mxc::runtime {
namespace {

constexpr size_t kBufferBytes = 1 << 16;

std::string NameInProc(const Descriptor& file) {
  return Format("/proc/self/fd/%d", file.get());
}

// For messages: of a file without a name, the folder that it lies in.
std::string ShownPath(const Descriptor& file, const std::string& path) {
  struct stat status;
  std::array<char, PATH_MAX> place;
  if (fstat(file.get(), &status) != 0 || status.st_nlink > 0) return path;
  const ssize_t size =
      readlink(NameInProc(file).c_str(), place.data(), place.size());
  const std::string name(place.data(),
                         size > 0 ? static_cast<size_t>(size) : 0);
  const size_t slash = name.rfind('/');
  return slash == name.npos ? path : name.substr(0, slash + 1);
}

// An empty path is an object's: it is the disk with the temporary file that is full,
// and the object's name may hold secrets.
Status CannotWrite(const std::string& path, const Descriptor& file) {
  const int error = errno;
  const std::string place =
      path.empty() ? ShownPath(file, "a temporary file") : path;
  errno = error;
  return SystemError("write", place);
}

}  // namespace

FileWriter::FileWriter(std::string path) : path_(std::move(path)) {
  StatusOr<FilePlace> place = PlaceOf(path_);
  if (!place.ok()) {
    status_ = place.status();
    return;
  }
  remote_ = place->remote;
  if (remote_ != nullptr) {
    OpenForObject();
    return;
  }
  path_ = std::move(place->path);
  status_ = MakeFoldersAround(path_);
  if (!status_.ok()) return;
  StatusOr<Destination> to = FindDestination(path_);
  if (!to.ok()) {
    status_ = to.status();
    return;
  }
  to_ = std::move(*to);
  streams_ = to_.is_stream();
  if (streams_) {
    path_ = ShownPath(to_.stream, path_);
    return;
  }
  // Nobody else reads what replaces a file that only some may read.
  const unsigned mode = to_.present ? 0600 : 0666;
  if (!OpenNameless(mode) && !OpenNamed(mode)) {
    status_ = SystemError("create", path_);
  }
}

FileWriter::~FileWriter() {
  if (!temporary_.empty()) unlinkat(to_.folder.get(), temporary_.c_str(), 0);
}

void FileWriter::OpenForObject() {
  auto file = NamelessFile::Create();
  if (file.ok()) {
    file_ = file->Release();
  } else {
    status_ = file.status();
  }
}

// Only where it can be given a name later.
bool FileWriter::OpenNameless(unsigned mode) {
  file_ = Descriptor(
      openat(to_.folder.get(), ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, mode));
  if (file_.get() < 0) return false;
  if (access(NameInProc(file_).c_str(), F_OK) == 0) return true;
  file_.Close();
  return false;
}

bool FileWriter::OpenNamed(unsigned mode) {
  temporary_ = DrawName();
  unfinished_.emplace(to_.folder.get(), temporary_);
  file_ = Descriptor(
      openat(to_.folder.get(), temporary_.c_str(),
             O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode));
  if (file_.get() >= 0) return true;
  unfinished_.reset();
  temporary_.clear();
  return false;
}

// "NAME.PID.0xRANDOM": whoever finds it after a crash knows whose it was.
std::string FileWriter::DrawName() const {
  const std::string ending =
      Format(".%d.0x%016llx", static_cast<int>(getpid()),
             static_cast<unsigned long long>(RandomNumber()));
  return to_.name.substr(0, NAME_MAX - ending.size()) + ending;
}

void FileWriter::Append(Bytes bytes) {
  if (followed_ != nullptr) followed_->Add(bytes);
  if (buffer_.size() + bytes.size() > kBufferBytes) Flush();
  if (bytes.size() > kBufferBytes) return Write(bytes);
  buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
}

void FileWriter::Append(const std::string& text) {
  Append(std::as_bytes(std::span(text)));
}

void FileWriter::Append(const FilePiece& piece) {
  constexpr uint64_t kMost = 1 << 20;
  std::vector<std::byte> bytes(std::min(piece.bytes, kMost));
  uint64_t done = 0;
  while (status_.ok() && done < piece.bytes) {
    const size_t wanted = std::min<uint64_t>(bytes.size(), piece.bytes - done);
    const ssize_t size = pread(piece.file->descriptor(), bytes.data(), wanted,
                               static_cast<off_t>(piece.offset + done));
    if (size > 0) {
      Append(Bytes(bytes).first(static_cast<size_t>(size)));
      done += static_cast<uint64_t>(size);
    } else if (size == 0 || errno != EINTR) {
      status_ = SystemError("read a temporary file for", path_);
    }
  }
}

void FileWriter::Settle() {
  Flush();
  if (streams_ || remote_ != nullptr || !status_.ok()) return;
  if (fdatasync(file_.get()) != 0) status_ = SystemError("write", path_);
}

void FileWriter::Flush() {
  Write(buffer_);
  buffer_.clear();
}

void FileWriter::Write(Bytes bytes) {
  const int file = streams_ ? to_.stream.get() : file_.get();
  while (status_.ok() && !bytes.empty()) {
    const ssize_t written = write(file, bytes.data(), bytes.size());
    if (written >= 0) {
      bytes = bytes.subspan(static_cast<size_t>(written));
    } else if (errno != EINTR) {
      status_ = CannotWrite(remote_ == nullptr ? path_ : "", file_);
    }
  }
}

// Owner and mode of the file that is replaced. Who may not give a file away
// keeps it.
void FileWriter::TakeOver(const struct stat& present) {
  if (present.st_uid != geteuid() || present.st_gid != getegid()) {
    (void)!fchown(file_.get(), present.st_uid, present.st_gid);
  }
  fchmod(file_.get(), present.st_mode & 0777);
}

Status FileWriter::Finish(Sync sync) {
  Flush();
  if (std::exchange(finished_, true) || !status_.ok()) return status_;
  bool saved = true;
  if (streams_) {
    saved = to_.stream.Close();
  } else if (remote_ == nullptr) {
    if (to_.present) TakeOver(*to_.present);
    saved = sync == Sync::kNo || fsync(file_.get()) == 0;
  }
  if (!saved) status_ = SystemError("write", path_);
  return status_;
}

Status FileWriter::Commit(Sync sync) {
  MXC_RT_RETURN_IF_ERROR(Finish(sync));
  if (streams_) return status_;
  if (remote_ != nullptr) return status_ = remote_->Put(path_, file_.get());
  if (!GiveName() && !Replace()) return status_ = SystemError("write", path_);
  // A name is lasting once its folder has been synced.
  if (sync == Sync::kYes) fsync(to_.folder.get());
  if (!file_.Close()) status_ = SystemError("write", path_);
  return status_;
}

// To a file without one, unless another has the name by now.
bool FileWriter::GiveName() {
  if (!temporary_.empty()) return false;
  return linkat(AT_FDCWD, NameInProc(file_).c_str(), to_.folder.get(),
                to_.name.c_str(), AT_SYMLINK_FOLLOW) == 0;
}

bool FileWriter::Replace() {
  if (temporary_.empty()) {
    temporary_ = DrawName();
    unfinished_.emplace(to_.folder.get(), temporary_);
    if (linkat(AT_FDCWD, NameInProc(file_).c_str(), to_.folder.get(),
               temporary_.c_str(), AT_SYMLINK_FOLLOW) != 0) {
      return false;
    }
  }
  struct stat now;
  const bool there = fstatat(to_.folder.get(), to_.name.c_str(), &now,
                             AT_SYMLINK_NOFOLLOW) == 0;
  if (there && !S_ISREG(now.st_mode)) {  // it was something else before
    errno = EEXIST;
    return false;
  }
  if (renameat(to_.folder.get(), temporary_.c_str(), to_.folder.get(),
               to_.name.c_str()) != 0) {
    return false;
  }
  unfinished_.reset();
  temporary_.clear();
  return true;
}

}  // namespace mxc::runtime
