// SPDX-License-Identifier: Apache-2.0
#include "runtime/artifact/code.h"

#include <dlfcn.h>
#include <link.h>

#include <cstddef>
#include <string>

#include "runtime/artifact/image.h"
#include "runtime/artifact/library.h"
#include "runtime/base/cpu.h"

namespace mxc::runtime {
namespace {

// Where the dynamic linker put the library.
std::byte* AddressOf(void* library) {
  link_map* map = nullptr;
  if (dlinfo(library, RTLD_DI_LINKMAP, &map) != 0) return nullptr;
  return reinterpret_cast<std::byte*>(map->l_addr);
}

Status CheckProcessor(uint64_t required) {
  const uint64_t missing = required & ~CpuFeatures();
  if (missing == 0) return AllowFeatures(required);
  const std::string present = CpuFeatureNames(CpuFeatures());
  return Fail(
      StatusCode::kUnsupported,
      "needs %s, which this processor does not have (it has %s); "
      "compile the model with another --target",
      CpuFeatureNames(missing).c_str(),
      present.empty() ? "none of the optional features" : present.c_str());
}

}  // namespace

void Code::Unload::operator()(void* library) const { dlclose(library); }

StatusOr<Code> Code::Load(const Container& container, const Tables& tables) {
  MXC_RT_RETURN_IF_ERROR(CheckProcessor(tables.header().required_features));
  const StatusOr<Image> image =
      Image::Read(container.section(MXC_SECTION_CODE));
  if (!image.ok()) return image.status();
  MXC_RT_RETURN_IF_ERROR(image->Check(container, tables));
  const StatusOr<void*> library = LoadLibrary(
      container.file(), container.path(), container.trailer().checksum);
  if (!library.ok()) return library.status();
  Code code;
  code.library_.reset(*library);
  const std::byte* address = AddressOf(code.library_.get());
  if (address == nullptr) {
    return Fail(StatusCode::kIo, "its code cannot be found in memory");
  }
  code.kernels_ = {
      reinterpret_cast<const mxc_kernel*>(address + image->kernels()),
      tables.header().kernel_count};
  return code;
}

}  // namespace mxc::runtime
