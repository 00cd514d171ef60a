// SPDX-License-Identifier: Apache-2.0
#include "runtime/artifact/code.h"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <string>

#include "runtime/artifact/library.h"
#include "runtime/base/cpu.h"

namespace mxc::runtime {
namespace {

// An exported object of at least `bytes`, or null.
const void* FindObject(void* library, const char* name, uint64_t bytes) {
  const void* address = dlsym(library, name);
  if (address == nullptr) return nullptr;
  Dl_info place;
  ElfW(Sym)* symbol = nullptr;
  const int found = dladdr1(address, &place, reinterpret_cast<void**>(&symbol),
                            RTLD_DL_SYMENT);
  if (found == 0 || symbol == nullptr || symbol->st_size < bytes) {
    return nullptr;
  }
  return address;
}

Status CheckProcessor(uint64_t required) {
  const uint64_t missing = required & ~CpuFeatures();
  if (missing == 0) return {};
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
  const StatusOr<void*> library = LoadLibrary(
      container.file(), container.path(), container.trailer().checksum);
  if (!library.ok()) return library.status();
  Code code;
  code.library_.reset(*library);
  MXC_RT_RETURN_IF_ERROR(code.CheckExports(container, tables));
  return code;
}

Status Code::CheckExports(const Container& container, const Tables& tables) {
  const auto* header = static_cast<const mxc_code_header*>(
      FindObject(library_.get(), "mxc_abi", sizeof(mxc_code_header)));
  if (header == nullptr || header->abi_version != MXC_ABI_VERSION) {
    return Fail(StatusCode::kCorrupt, "its code has no mxc_abi of version %u",
                MXC_ABI_VERSION);
  }
  const uint32_t count = tables.header().kernel_count;
  const mxc_section& section = container.trailer().sections[MXC_SECTION_TABLES];
  if (header->tables_checksum != section.checksum ||
      header->kernel_count != count) {
    return Fail(StatusCode::kCorrupt, "its code belongs to other tables");
  }
  if (count == 0) return {};
  kernels_ = static_cast<const mxc_kernel*>(FindObject(
      library_.get(), "mxc_kernels", uint64_t{count} * sizeof(mxc_kernel)));
  if (kernels_ == nullptr ||
      std::find(kernels_, kernels_ + count, nullptr) != kernels_ + count) {
    return Fail(StatusCode::kCorrupt, "its code lacks kernels");
  }
  return {};
}

}  // namespace mxc::runtime
