// SPDX-License-Identifier: Apache-2.0
#include "runtime/data/files/libz.h"

#include "runtime/base/dynamic_library.h"

namespace mxc::data {
namespace {

runtime::StatusOr<LibZ> LoadLibZ() {
  LibZ functions;
#define MXC_WANT(name) {#name, reinterpret_cast<void**>(&functions.name)},
  const runtime::WantedFunction wanted[] = {MXC_LIBZ_FUNCTIONS(MXC_WANT)};
#undef MXC_WANT
  MXC_RT_RETURN_IF_ERROR(runtime::LoadFunctions(
      "libz.so.1", "a compressed file", "zlib1g", wanted));
  return functions;
}

}  // namespace

runtime::StatusOr<const LibZ*> LibZ::Get() {
  static const runtime::StatusOr<LibZ> loaded = LoadLibZ();
  if (!loaded.ok()) return loaded.status();
  return &*loaded;
}

}  // namespace mxc::data
