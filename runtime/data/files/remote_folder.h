// SPDX-License-Identifier: Apache-2.0
// Files of a folder on a server (base/remote_files.h), which arrive as they are
// read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/base/bytes.h"
#include "runtime/base/remote_files.h"
#include "runtime/base/status.h"
#include "runtime/data/files/watched_file.h"

namespace mxc::data {

class RemoteFolder {
 public:
  static runtime::StatusOr<RemoteFolder> Open(
      runtime::RemoteFiles& remote, const std::string& folder,
      std::vector<runtime::ListedFile> files);

  // By the number in the list.
  runtime::StatusOr<runtime::Bytes> Read(size_t file) const;
  uint64_t WillRead(size_t file) const;
  bool complete() const { return all_.arriving().complete(); }

 private:
  RemoteFolder(std::vector<runtime::ListedFile> files, WatchedFile all)
      : files_(std::move(files)), all_(std::move(all)) {}
  runtime::Bytes BytesOf(size_t file) const;

  std::vector<runtime::ListedFile> files_;
  std::vector<uint64_t> begins_;
  WatchedFile all_;
};

}  // namespace mxc::data
