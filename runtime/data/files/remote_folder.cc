// SPDX-License-Identifier: Apache-2.0
#include "runtime/data/files/remote_folder.h"

#include <utility>

namespace mxc::data {

using runtime::Bytes;
using runtime::StatusOr;

StatusOr<RemoteFolder> RemoteFolder::Open(
    runtime::RemoteFiles& remote, const std::string& folder,
    std::vector<runtime::ListedFile> files) {
  std::vector<uint64_t> begins;
  MXC_RT_ASSIGN(const runtime::ReadableFile together,
                remote.StreamTogether(folder, files, begins));
  MXC_RT_ASSIGN(WatchedFile all, WatchedFile::Open(together, folder));
  RemoteFolder opened(std::move(files), std::move(all));
  opened.begins_ = std::move(begins);
  return opened;
}

// Nothing of a copy that lacks it, which WatchedFile tells.
Bytes RemoteFolder::BytesOf(size_t file) const {
  const auto slice =
      runtime::Slice(all_.bytes(), begins_[file], files_[file].bytes);
  return slice && !slice->empty() ? *slice : all_.bytes().first(0);
}

StatusOr<Bytes> RemoteFolder::Read(size_t file) const {
  const Bytes bytes = BytesOf(file);
  MXC_RT_RETURN_IF_ERROR(all_.arriving().Await(bytes));
  return bytes;
}

uint64_t RemoteFolder::WillRead(size_t file) const {
  return all_.arriving().WillRead(BytesOf(file));
}

}  // namespace mxc::data
