// SPDX-License-Identifier: Apache-2.0
#include "runtime/artifact/code.h"

#include <cstddef>
#include <string>
#include <utility>

#include "runtime/artifact/image.h"
#include "runtime/base/cpu.h"

namespace mxc::runtime {
namespace {

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

StatusOr<Code> Code::Load(const Container& container, const Tables& tables) {
  MXC_RT_RETURN_IF_ERROR(CheckProcessor(tables.header().required_features));
  const auto object = SharedObject::Read(container.section(MXC_SECTION_CODE));
  if (!object.ok()) return object.status();
  const StatusOr<Image> image = Image::Read(*object);
  if (!image.ok()) return image.status();
  MXC_RT_RETURN_IF_ERROR(image->Check(container, tables));
  StatusOr<LoadedObject> loaded = LoadedObject::Load(*object, container.file());
  if (!loaded.ok()) return loaded.status();
  Code code;
  code.object_ = std::move(*loaded);
  code.kernels_ = {reinterpret_cast<const mxc_kernel*>(code.object_.address() +
                                                       image->kernels()),
                   tables.header().kernel_count};
  return code;
}

}  // namespace mxc::runtime
