// SPDX-License-Identifier: Apache-2.0
// What servers do besides giving an object's bytes (object.h): take, list and
// remove objects. A kind of server is a file and a line in store.cc.
#pragma once

#include <string>
#include <vector>

#include "runtime/base/remote_files.h"
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
  // What lies in the folder of `location.key` and in folders of it.
  virtual runtime::StatusOr<std::vector<runtime::ListedFile>> ListBelow(
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

// More names than anybody lists.
inline constexpr size_t kMostNames = 1'000'000;
runtime::Status TooManyNames(const Location& location);

// A listing in pages of XML: `url` asks for the one behind a marker, of what
// begins with a prefix, without what lies in folders below where it is told so.
// Each object is an element `object`, which holds its name, encoded where the page
// says so, its size and its tag; `next` holds the marker of the following page.
struct Pages {
  std::string (*url)(const Location& location, const std::string& prefix,
                     bool below, const std::string& marker);
  const char *object, *name, *size, *tag, *next;
};
runtime::StatusOr<std::vector<std::string>> ListPages(const Location& location,
                                                      const Pages& pages);
runtime::StatusOr<std::vector<runtime::ListedFile>> ListPagesBelow(
    const Location& location, const Pages& pages);

}  // namespace mxc::remote
