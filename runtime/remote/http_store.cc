// SPDX-License-Identifier: Apache-2.0
// HTTP without more: PUT and DELETE, as WebDAV's servers and signed URLs take them.
// Source: RFC 9110.
#include "runtime/remote/store.h"

namespace mxc::remote {
namespace {

using runtime::Fail;
using runtime::Status;
using runtime::StatusCode;
using runtime::StatusOr;

class Http final : public Store {
 public:
  Status Put(const Location& location, const Source& source) const override {
    return PutWhole(location, source, {.url = location.url});
  }

  StatusOr<std::vector<std::string>> List(
      const Location& location) const override {
    return ListsNothing(location);
  }
  StatusOr<std::vector<runtime::ListedFile>> ListBelow(
      const Location& location) const override {
    return ListsNothing(location);
  }

 private:
  static Status ListsNothing(const Location& location) {
    return Fail(StatusCode::kUnsupported,
                "'%s': HTTP does not say which files there are; s3://, az:// "
                "and webhdfs:// do",
                location.shown.c_str());
  }
};

}  // namespace

const Store& HttpStore() {
  static const Http store;
  return store;
}

}  // namespace mxc::remote
