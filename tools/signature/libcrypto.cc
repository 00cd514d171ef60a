// SPDX-License-Identifier: Apache-2.0
#include "tools/signature/libcrypto.h"

#include <dlfcn.h>

namespace mxc::signature {
namespace {

constexpr const char* kLibrary = "libcrypto.so.3";

runtime::StatusOr<LibCrypto> Load() {
  void* library = dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return runtime::Fail(runtime::StatusCode::kUnsupported,
                         "digests and signatures need %s of OpenSSL 3, which "
                         "this machine does not have (Debian: libssl3)",
                         kLibrary);
  }
  LibCrypto functions;
  bool complete = true;
#define MXC_FIND(name)                                                         \
  functions.name = reinterpret_cast<decltype(&::name)>(dlsym(library, #name)); \
  complete = complete && functions.name != nullptr;
  MXC_LIBCRYPTO_FUNCTIONS(MXC_FIND)
#undef MXC_FIND
  if (complete) return functions;
  return runtime::Fail(runtime::StatusCode::kUnsupported,
                       "%s lacks functions of OpenSSL 3", kLibrary);
}

}  // namespace

runtime::StatusOr<const LibCrypto*> LibCrypto::Get() {
  static const runtime::StatusOr<LibCrypto> loaded = Load();
  if (!loaded.ok()) return loaded.status();
  return &*loaded;
}

}  // namespace mxc::signature
