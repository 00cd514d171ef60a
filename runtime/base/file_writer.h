// SPDX-License-Identifier: Apache-2.0
// The way in which everything that mxc writes gets into a file.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/base/bytes.h"
#include "runtime/base/checksum.h"
#include "runtime/base/destination.h"
#include "runtime/base/file.h"
#include "runtime/base/file_piece.h"
#include "runtime/base/remote_files.h"
#include "runtime/base/status.h"
#include "runtime/base/unfinished_name.h"

namespace mxc::runtime {

// Writes a file without a name, or a temporary one beside `path` where the file
// system has only those; Commit syncs it and gives it the name, so that nobody
// ever sees half a file. Without Commit nothing remains. A file that is there
// keeps its mode, and its owner where that may be; a new one has the umask's.
// Another hard link keeps the old bytes.
// Links are written through. What is no regular file is written as it is, piece
// by piece, or refused: it is never replaced. What a name means that is no path
// (remote_files.h) lies in a temporary file until Commit sends it.
class FileWriter {
 public:
  explicit FileWriter(std::string path);
  ~FileWriter();
  FileWriter(const FileWriter&) = delete;
  FileWriter& operator=(const FileWriter&) = delete;

  const std::string& path() const { return path_; }

  // The first failure is kept and returned by Commit.
  void Append(Bytes bytes);
  void Append(const std::string& text);
  void Append(const FilePiece& piece);
  template <class T>
  void AppendScalar(T value) {
    Append(std::as_bytes(std::span(&value, 1)));
  }

  // Waits until the disk has what was appended so far, so that whoever shows
  // how far it has come does not wait for all of it at the end.
  void Settle();

  // kNo is faster, but a crash of the system may damage the file: only for what
  // readers check and can make again.
  enum class Sync { kYes, kNo };
  // Everything is on the disk, under no name: of several files that belong
  // together none is replaced before there is room for all.
  Status Finish(Sync sync = Sync::kYes);
  Status Commit(Sync sync = Sync::kYes);

  // Adds to `checksum` what is appended from now on; null ends it.
  void Follow(RunningChecksum* checksum) { followed_ = checksum; }

 private:
  void Flush();
  void Write(Bytes bytes);
  void TakeOver(const struct stat& present);
  void OpenForObject();
  bool OpenNameless(unsigned mode);
  bool OpenNamed(unsigned mode);
  bool GiveName();
  bool Replace();
  std::string DrawName() const;

  std::string path_;
  RemoteFiles* remote_ = nullptr;  // null: it becomes a file
  Destination to_;
  bool streams_ = false;
  Descriptor file_;
  std::string temporary_;  // in the folder; empty while the file has no name
  std::optional<UnfinishedName> unfinished_;  // temporary_
  std::vector<std::byte> buffer_;
  RunningChecksum* followed_ = nullptr;
  bool finished_ = false;
  Status status_;
};

}  // namespace mxc::runtime
