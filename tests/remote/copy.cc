// SPDX-License-Identifier: Apache-2.0
// usage: mxc-copy URL…            the path of a copy of each
//        mxc-copy put FILE URL    writes the file's bytes there
//        mxc-copy list PREFIX     the names that begin so, a line each
//        mxc-copy together FOLDER of each file below it, at any depth, the name,
//                                 how many bytes it has, and their sum
//        mxc-copy remove URL
// or why not, in a line.
#include <unistd.h>

#include <cstdio>
#include <numeric>
#include <string>
#include <vector>

#include "runtime/base/file.h"
#include "runtime/base/file_writer.h"
#include "runtime/base/remote_files.h"
#include "runtime/remote/remote.h"

namespace {

using mxc::runtime::Status;

Status Put(const char* file, const char* url) {
  const auto bytes = mxc::runtime::MappedFile::Open(file);
  if (!bytes.ok()) return bytes.status();
  mxc::runtime::FileWriter writer(url);
  writer.Append(bytes->bytes());
  return writer.Commit();
}

Status List(const char* prefix) {
  const auto names = mxc::runtime::FilesBeginningWith(prefix);
  if (!names.ok()) return names.status();
  for (const std::string& name : *names) std::puts(name.c_str());
  return {};
}

// Each file awaited by itself, the last one first.
Status Together(const char* folder) {
  MXC_RT_ASSIGN(const auto place, mxc::runtime::PlaceOf(folder));
  MXC_RT_ASSIGN(const auto files, place.remote->ListBelow(folder));
  std::vector<uint64_t> begins;
  MXC_RT_ASSIGN(const auto all,
                place.remote->StreamTogether(folder, files, begins));
  mxc::runtime::Descriptor copy;
  int file = -1;
  if (all.arriving != nullptr) {
    file = all.arriving->descriptor();
  } else {
    MXC_RT_ASSIGN(copy, mxc::runtime::OpenFile(all.path));
    file = copy.get();
  }
  for (size_t i = files.size(); i-- > 0;) {
    if (all.arriving != nullptr) {
      MXC_RT_RETURN_IF_ERROR(all.arriving->Await(begins[i], files[i].bytes));
    }
    std::vector<unsigned char> bytes(files[i].bytes);
    const ssize_t read =
        pread(file, bytes.data(), bytes.size(), static_cast<off_t>(begins[i]));
    if (read != static_cast<ssize_t>(bytes.size())) {
      return mxc::runtime::SystemError("read", all.path);
    }
    std::printf("%s %zu %llu\n", files[i].name.c_str(), bytes.size(),
                std::accumulate(bytes.begin(), bytes.end(), 0ULL));
  }
  return {};
}

Status Copy(const char* url) {
  const auto path = mxc::remote::LocalCopy(url);
  if (path.ok()) std::puts(path->c_str());
  return path.status();
}

}  // namespace

int main(int count, char** words) {
  mxc::remote::AllowUrls();
  const std::string first = count > 1 ? words[1] : "";
  int failures = 0;
  const auto tell = [&](const Status& status) {
    if (status.ok()) return;
    ++failures;
    std::puts(status.message().c_str());
  };
  if (first == "put" && count == 4) {
    tell(Put(words[2], words[3]));
  } else if (first == "list" && count == 3) {
    tell(List(words[2]));
  } else if (first == "together" && count == 3) {
    tell(Together(words[2]));
  } else if (first == "remove" && count == 3) {
    tell(mxc::runtime::RemoveFile(words[2]));
  } else {
    for (int i = 1; i < count; ++i) tell(Copy(words[i]));
  }
  return failures == 0 ? 0 : 1;
}
