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
// once Commit has given it, and without that nothing remains. Of what readers can
// make again: it is not synced.
class GatheredFile {
 public:
  // A new file beside `path`, whose folders are made.
  static StatusOr<GatheredFile> Create(std::string path);
  GatheredFile(GatheredFile&& from) noexcept
      : path_(std::move(from.path_)),
        temporary_(std::exchange(from.temporary_, {})),
        file_(std::move(from.file_)) {}
  ~GatheredFile();

  int descriptor() const { return file_.get(); }
  const std::string& path() const { return path_; }
  Status Commit();

 private:
  GatheredFile(std::string path, std::string temporary, Descriptor file)
      : path_(std::move(path)),
        temporary_(std::move(temporary)),
        file_(std::move(file)) {}

  std::string path_, temporary_;  // the latter empty: it is committed, or moved
  Descriptor file_;
};

}  // namespace mxc::runtime
