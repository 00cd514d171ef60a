// SPDX-License-Identifier: Apache-2.0
// What servers do besides giving an object's bytes (download.h): take, list and
// remove objects. A kind of server is a file and a line in store.cc.
#pragma once

#include <string>
#include <vector>

#include "runtime/base/status.h"
#include "runtime/remote/location.h"
#include "runtime/remote/upload.h"

namespace mxc::remote {

// Any thread.
class Store {
 public:
  virtual ~Store() = default;

  // The object becomes the source's bytes, or stays as it is.
  virtual runtime::Status Put(const Location& location,
                              const Source& source) const = 0;
  // What lies in the folder of `location.key` and begins as its last part does,
  // without the folder and what lies in folders of it.
  virtual runtime::StatusOr<std::vector<std::string>> List(
      const Location& location) const = 0;
  // Fine where there is none.
  virtual runtime::Status Remove(const Location& location) const;
};

// Of all kinds but kFile.
const Store& StoreOf(Location::Kind kind);

const Store& HttpStore();
const Store& S3Store();
const Store& AzureStore();
const Store& WebHdfsStore();

// "folder/" of "folder/name".
std::string FolderOf(const Location& location);

// A listing in pages of XML: `url` asks for the one behind a marker, each name is
// in an element `name`, encoded where the page says so, and `next` holds the
// marker of the following page.
struct Pages {
  std::string (*url)(const Location& location, const std::string& marker);
  const char* name;
  const char* next;
};
runtime::StatusOr<std::vector<std::string>> ListPages(const Location& location,
                                                      const Pages& pages);

}  // namespace mxc::remote
