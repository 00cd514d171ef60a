// SPDX-License-Identifier: Apache-2.0
// Files that stay mapped while samples are read. Reading what somebody has cut
// off meanwhile would end the process by SIGBUS; here it gives zeros, and
// CheckFiles says which file it was; and which one a server does not give.
#pragma once

#include <memory>
#include <string>

#include "runtime/base/bytes.h"
#include "runtime/base/file.h"
#include "runtime/base/remote_files.h"
#include "runtime/base/status.h"
#include "runtime/data/files/arriving.h"

namespace mxc::data {

class WatchedFile {
 public:
  // The first one takes over SIGBUS for the process; signals that are not about
  // watched files go where they went before.
  static runtime::StatusOr<WatchedFile> Open(const std::string& path);

  // The same of an object, before all of it is there.
  static runtime::StatusOr<WatchedFile> OpenInParts(const std::string& path);
  // `name` is for messages.
  static runtime::StatusOr<WatchedFile> Open(const runtime::ReadableFile& file,
                                             const std::string& name);

  runtime::Bytes bytes() const { return bytes_; }
  const Arriving& arriving() const { return arriving_; }
  // Keeps the mapping alive, and watched.
  const std::shared_ptr<const void>& owner() const { return owner_; }

 private:
  static runtime::StatusOr<WatchedFile> Map(
      runtime::Descriptor file, const std::string& name,
      std::shared_ptr<runtime::ArrivingFile> arriving);

  std::shared_ptr<const void> owner_;
  runtime::Bytes bytes_;
  Arriving arriving_;
};

// An error that names one of the watched files, where it has become shorter:
// what was read since may be zeros. Likewise where what a server should give does
// not arrive.
runtime::Status CheckFiles();

}  // namespace mxc::data
