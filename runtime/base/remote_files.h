// SPDX-License-Identifier: Apache-2.0
// Files whose names are no paths: what opens, writes, lists or removes a file asks
// a program's RemoteFiles for one that has "://" in its name.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/base/arriving_file.h"
#include "runtime/base/status.h"

namespace mxc::runtime {

// Objects that can be read: all at `path`, or where `arriving` is not null, as
// they arrive.
struct ReadableFile {
  std::string path;
  std::shared_ptr<ArrivingFile> arriving;
};

struct ListedFile {
  std::string name;  // below the folder: "cats/1.jpg"
  uint64_t bytes = 0;
  std::string version;  // differs where the bytes do; empty: it is not known
};

// Objects of servers by URL. Called by any thread; messages hold no secrets of a
// name.
class RemoteFiles {
 public:
  virtual ~RemoteFiles() = default;

  // The path of the file that the name means, as file:///PATH does; empty: it
  // means an object. Refuses what names neither; asks no server.
  virtual StatusOr<std::string> PathOf(const std::string& name) = 0;

  // The path of a local file with the object's bytes. kNotFound: there is none.
  virtual StatusOr<std::string> Fetch(const std::string& name) = 0;
  // The same, before all of the object is there.
  virtual StatusOr<ReadableFile> Stream(const std::string& name) = 0;
  // What lies below a folder, at any depth, sorted by name.
  virtual StatusOr<std::vector<ListedFile>> ListBelow(
      const std::string& folder) = 0;
  // These files of the folder as one, each at the place of `begins` with its
  // number, which is set.
  virtual StatusOr<ReadableFile> StreamTogether(
      const std::string& folder, const std::vector<ListedFile>& files,
      std::vector<uint64_t>& begins) = 0;
  // The object becomes all that is in the file of this descriptor, or stays as it
  // is.
  virtual Status Put(const std::string& name, int file) = 0;
  virtual StatusOr<bool> Exists(const std::string& name) = 0;
  // The names, without their folder, of what lies where `prefix` does, not in
  // folders below, and begins as the last part of `prefix` does.
  virtual StatusOr<std::vector<std::string>> List(
      const std::string& prefix) = 0;
  // Whoever removes what is not there succeeds.
  virtual Status Remove(const std::string& name) = 0;
};

// Once, before threads begin; it is not owned. Without one such names are paths.
void SetRemoteFiles(RemoteFiles* files);

// A file by its name: `remote` is null where it is the file at `path`.
struct FilePlace {
  RemoteFiles* remote = nullptr;
  std::string path;
};
StatusOr<FilePlace> PlaceOf(const std::string& name);

// The same of files and objects. Names are sorted; a folder that is not there has
// none.
StatusOr<bool> FileExists(const std::string& name);
StatusOr<std::vector<std::string>> FilesBeginningWith(
    const std::string& prefix);
Status RemoveFile(const std::string& name);

}  // namespace mxc::runtime
