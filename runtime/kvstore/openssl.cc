// SPDX-License-Identifier: Apache-2.0
#include "runtime/kvstore/openssl.h"

#include "runtime/base/dynamic_library.h"

namespace mxc::kvstore {
namespace {

StatusOr<OpenSsl> Load() {
  OpenSsl functions;
#define MXC_WANT(name) {#name, reinterpret_cast<void**>(&functions.name)},
  const runtime::WantedFunction wanted[] = {MXC_OPENSSL_FUNCTIONS(MXC_WANT)};
#undef MXC_WANT
  MXC_RT_RETURN_IF_ERROR(runtime::LoadFunctions(
      "libssl.so.3", "a job of several processes", "libssl3", wanted));
  return functions;
}

}  // namespace

StatusOr<const OpenSsl*> OpenSsl::Get() {
  static const StatusOr<OpenSsl> loaded = Load();
  if (!loaded.ok()) return loaded.status();
  return &*loaded;
}

}  // namespace mxc::kvstore
