// SPDX-License-Identifier: Apache-2.0
// The functions of libcurl that are used, found when somebody first needs them:
// programs start on machines that have no libcurl.
#pragma once

#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>

#include "runtime/base/status.h"

namespace mxc::remote {

#define MXC_CURL_FUNCTIONS(F) \
  F(curl_easy_cleanup)        \
  F(curl_easy_getinfo)        \
  F(curl_easy_init)           \
  F(curl_easy_perform)        \
  F(curl_easy_setopt)         \
  F(curl_easy_strerror)       \
  F(curl_global_init)         \
  F(curl_slist_append)        \
  F(curl_slist_free_all)

struct Curl {
#define MXC_DECLARE(name) decltype(&::name) name = nullptr;
  MXC_CURL_FUNCTIONS(MXC_DECLARE)
#undef MXC_DECLARE

  // The library, loaded once for the process and never unloaded. `what` needs it:
  // "a job whose servers etcd knows".
  static runtime::StatusOr<const Curl*> Get(const char* what);
};

}  // namespace mxc::remote
