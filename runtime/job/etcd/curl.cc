// SPDX-License-Identifier: Apache-2.0
#include "runtime/job/etcd/curl.h"

#include "runtime/base/dynamic_library.h"

namespace mxc::job {
namespace {

runtime::StatusOr<Curl> Load() {
  Curl functions;
#define MXC_WANT(name) {#name, reinterpret_cast<void**>(&functions.name)},
  const runtime::WantedFunction wanted[] = {MXC_CURL_FUNCTIONS(MXC_WANT)};
#undef MXC_WANT
  MXC_RT_RETURN_IF_ERROR(runtime::LoadFunctions(
      "libcurl.so.4", "a job whose servers etcd knows", "libcurl4", wanted));
  functions.curl_global_init(CURL_GLOBAL_DEFAULT);
  return functions;
}

}  // namespace

runtime::StatusOr<const Curl*> Curl::Get() {
  static const runtime::StatusOr<Curl> loaded = Load();
  if (!loaded.ok()) return loaded.status();
  return &*loaded;
}

}  // namespace mxc::job
