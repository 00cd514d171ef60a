// SPDX-License-Identifier: Apache-2.0
// Files whose names are no paths: what opens, writes, lists or removes a file asks
// a program's RemoteFiles for one that has "://" in its name.
#pragma once

#include <string>
#include <vector>

#include "runtime/base/status.h"

namespace mxc::runtime {

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
