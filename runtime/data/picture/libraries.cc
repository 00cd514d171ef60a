// SPDX-License-Identifier: Apache-2.0
#include "runtime/data/picture/libraries.h"

#include "runtime/base/dynamic_library.h"

namespace mxc::data {
namespace {

using runtime::StatusOr;
using runtime::WantedFunction;

#define MXC_TEXT_OF(token) #token
#define MXC_TEXT(macro) MXC_TEXT_OF(macro)

// Each version of these structures has a name of its own.
#if JPEG_LIB_VERSION >= 80
constexpr const char* kLibJpeg = "libjpeg.so.8";
constexpr const char* kLibJpegPackage = "libjpeg8";
#else
constexpr const char* kLibJpeg = "libjpeg.so.62";
constexpr const char* kLibJpegPackage = "libjpeg62-turbo";
#endif
constexpr const char* kLibPng = "libpng16.so." MXC_TEXT(PNG_LIBPNG_VER_SONUM);

#define MXC_WANT(name) {#name, reinterpret_cast<void**>(&functions.name)},
StatusOr<LibJpeg> LoadJpeg() {
  LibJpeg functions;
  const WantedFunction wanted[] = {MXC_LIBJPEG_FUNCTIONS(MXC_WANT)};
  MXC_RT_RETURN_IF_ERROR(runtime::LoadFunctions(kLibJpeg, "a JPEG picture",
                                                kLibJpegPackage, wanted));
  return functions;
}

StatusOr<LibPng> LoadPng() {
  LibPng functions;
  const WantedFunction wanted[] = {MXC_LIBPNG_FUNCTIONS(MXC_WANT)};
  MXC_RT_RETURN_IF_ERROR(
      runtime::LoadFunctions(kLibPng, "a PNG picture", "libpng16-16", wanted));
  return functions;
}
#undef MXC_WANT

}  // namespace

StatusOr<const LibJpeg*> LibJpeg::Get() {
  static const StatusOr<LibJpeg> loaded = LoadJpeg();
  if (!loaded.ok()) return loaded.status();
  return &*loaded;
}

StatusOr<const LibPng*> LibPng::Get() {
  static const StatusOr<LibPng> loaded = LoadPng();
  if (!loaded.ok()) return loaded.status();
  return &*loaded;
}

}  // namespace mxc::data
