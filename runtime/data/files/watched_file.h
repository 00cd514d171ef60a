// SPDX-License-Identifier: Apache-2.0
// Files that stay mapped while samples are read. Reading what somebody has cut
// off meanwhile would end the process by SIGBUS; here it gives zeros, and
// CheckFiles says which file it was.
#pragma once

#include <memory>
#include <string>

#include "runtime/base/bytes.h"
#include "runtime/base/status.h"

namespace mxc::data {

class WatchedFile {
 public:
  // The first one takes over SIGBUS for the process; signals that are not about
  // watched files go where they went before.
  static runtime::StatusOr<WatchedFile> Open(const std::string& path);

  runtime::Bytes bytes() const { return bytes_; }
  // Keeps the mapping alive, and watched.
  const std::shared_ptr<const void>& owner() const { return owner_; }

 private:
  std::shared_ptr<const void> owner_;
  runtime::Bytes bytes_;
};

// An error that names one of the watched files, where it has become shorter:
// what was read since may be zeros.
runtime::Status CheckFiles();

}  // namespace mxc::data
