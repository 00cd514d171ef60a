// SPDX-License-Identifier: Apache-2.0
#include "runtime/remote/curl.h"

#include "runtime/base/dynamic_library.h"

namespace mxc::remote {
namespace {

runtime::StatusOr<Curl> Load(const char* what) {
  Curl functions;
#define MXC_WANT(name) {#name, reinterpret_cast<void**>(&functions.name)},
  const runtime::WantedFunction wanted[] = {MXC_CURL_FUNCTIONS(MXC_WANT)};
#undef MXC_WANT
  MXC_RT_RETURN_IF_ERROR(
      runtime::LoadFunctions("libcurl.so.4", what, "libcurl4", wanted));
  functions.curl_global_init(CURL_GLOBAL_DEFAULT);
  return functions;
}

}  // namespace

runtime::StatusOr<const Curl*> Curl::Get(const char* what) {
  static const runtime::StatusOr<Curl> loaded = Load(what);
  if (!loaded.ok()) return loaded.status();
  return &*loaded;
}

}  // namespace mxc::remote
