// SPDX-License-Identifier: Apache-2.0
// Writes a file in parts and in any order; it appears under its name whole, or
// not at all.
#pragma once

#include <string>
#include <utility>

#include "runtime/base/file.h"
#include "runtime/base/status.h"

namespace mxc::runtime {

// A file whose parts are written in any order, by any threads: it has its name
// once Commit has given it, and without that nothing remains, even of a process
// that is killed, where the file system has files without names.
class GatheredFile {
 public:
  // A new file beside `path`, whose folders are made.
  static StatusOr<GatheredFile> Create(std::string path);
  GatheredFile(GatheredFile&& from) noexcept
      : path_(std::move(from.path_)),
        temporary_(std::move(from.temporary_)),
        named_(std::exchange(from.named_, false)),
        file_(std::move(from.file_)) {}
  ~GatheredFile();

  int descriptor() const { return file_.get(); }
  const std::string& path() const { return path_; }
  // Of the file, for reading, from now on.
  StatusOr<Descriptor> OpenToRead() const;
  Status Commit();

 private:
  GatheredFile(std::string path, std::string temporary)
      : path_(std::move(path)), temporary_(std::move(temporary)) {}
  std::string Handle() const;  // a path that leads to the open file

  std::string path_, temporary_;
  bool named_ = false;  // `temporary_` is there, and to be removed
  Descriptor file_;
};

}  // namespace mxc::runtime
