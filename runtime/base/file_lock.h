// SPDX-License-Identifier: Apache-2.0
// A file that one process at a time may hold, for as long as it lives.
#pragma once

#include <string>

#include "runtime/base/file.h"
#include "runtime/base/status.h"

namespace mxc::runtime {

// Lets go of the file and removes it when it is destroyed; a process that is
// killed lets go of it, too, and leaves an empty file that means nothing.
class FileLock {
 public:
  FileLock() = default;  // holds nothing
  FileLock(FileLock&& other) noexcept;
  FileLock& operator=(FileLock&& other) noexcept;
  ~FileLock();

  // Makes the file where there is none, and waits some seconds for another
  // process, which may be ending. kBusy: another process holds it, which
  // the message names if it is on this machine. Holds nothing, and says so by
  // holds(), where the file system has no locks, or a server has the file.
  static StatusOr<FileLock> Take(std::string path);

  bool holds() const { return file_.get() >= 0; }

 private:
  std::string path_;
  Descriptor file_;
};

}  // namespace mxc::runtime
