// SPDX-License-Identifier: Apache-2.0
// Appends whole records to a file, for logs and journals that others read
// meanwhile.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/base/bytes.h"
#include "runtime/base/file.h"
#include "runtime/base/status.h"

namespace mxc::runtime {

// A file that others read while it grows.
class LogFile {
 public:
  // A new one: a file that is there is not touched.
  static StatusOr<LogFile> Create(std::string path);
  // One that goes on behind what is there.
  static StatusOr<LogFile> Continue(std::string path);

  // The piece is in the file when the call returns. A piece that does not fit
  // is left out as a whole, so that later ones can be read.
  Status Append(Bytes piece);
  // What was appended is on the disk when the call returns.
  Status Sync();

 private:
  static StatusOr<LogFile> Open(std::string path, int flags);
  LogFile(std::string path, Descriptor file)
      : path_(std::move(path)), file_(std::move(file)) {}

  std::string path_;
  Descriptor file_;
  int64_t size_ = 0;  // of what is whole
};

}  // namespace mxc::runtime
