// SPDX-License-Identifier: Apache-2.0
#include "tools/signature/libcrypto.h"

#include "runtime/base/dynamic_library.h"

namespace mxc::signature {
namespace {

runtime::StatusOr<LibCrypto> Load() {
  LibCrypto functions;
#define MXC_WANT(name) {#name, reinterpret_cast<void**>(&functions.name)},
  const runtime::WantedFunction wanted[] = {MXC_LIBCRYPTO_FUNCTIONS(MXC_WANT)};
#undef MXC_WANT
  MXC_RT_RETURN_IF_ERROR(runtime::LoadFunctions(
      "libcrypto.so.3", "a digest or signature", "libssl3", wanted));
  return functions;
}

}  // namespace

runtime::StatusOr<const LibCrypto*> LibCrypto::Get() {
  static const runtime::StatusOr<LibCrypto> loaded = Load();
  if (!loaded.ok()) return loaded.status();
  return &*loaded;
}

}  // namespace mxc::signature
