// SPDX-License-Identifier: Apache-2.0
#include "runtime/device/cuda/cudnn.h"

#include <dlfcn.h>

#include <algorithm>

namespace mxc::runtime {
namespace {

constexpr char kCudnnLibrary[] = "libcudnn.so.9";

Status CudnnLacks(const char* symbol) {
  return Fail(StatusCode::kUnsupported, "cuDNN is too old (it lacks %s)",
              symbol);
}

}  // namespace

StatusOr<std::unique_ptr<const Cudnn>> Cudnn::Open() {
  void* library = dlopen(kCudnnLibrary, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return Fail(StatusCode::kUnsupported, "cuDNN is not installed");
  }
  auto found = std::make_unique<Cudnn>();
#define MXC_CUDNN_FUNCTION(member, symbol, parameters)                    \
  found->member =                                                         \
      reinterpret_cast<decltype(found->member)>(dlsym(library, #symbol)); \
  if (found->member == nullptr) return CudnnLacks(#symbol);
#include "runtime/device/cuda/cudnn.def"
  found->text_ = reinterpret_cast<decltype(found->text_)>(
      dlsym(library, "cudnnGetErrorString"));
  if (found->text_ == nullptr) return CudnnLacks("cudnnGetErrorString");
  const CudnnStatus status = found->create(&found->handle_);
  if (status != 0) {
    return Fail(StatusCode::kFailed, "cannot open cuDNN: %s",
                found->Text(status).c_str());
  }
  return std::unique_ptr<const Cudnn>(std::move(found));
}

std::string Cudnn::Text(CudnnStatus status) const {
  const char* text = text_(status);
  return text != nullptr ? text : "unknown error";
}

CudnnStatus Cudnn::Execute(CudnnDescriptor plan, CudnnDescriptor operands,
                           CudaStreamHandle stream) const {
  const std::lock_guard lock(mutex_);
  const CudnnStatus status = set_stream(handle_, stream);
  return status != 0 ? status : execute(handle_, plan, operands);
}

DnnDescriptor::DnnDescriptor(const Cudnn& library, int kind)
    : library_(library),
      status_(library.create_descriptor(kind, &descriptor_)) {}

DnnDescriptor::~DnnDescriptor() {
  if (descriptor_ != nullptr) library_.destroy_descriptor(descriptor_);
}

DnnDescriptor& DnnDescriptor::SetBytes(int attribute, int type, int64_t count,
                                       const void* values) {
  if (status_ == 0) {
    status_ = library_.set(descriptor_, attribute, type, count, values);
  }
  return *this;
}

DnnDescriptor& DnnDescriptor::Set(int attribute, const DnnDescriptor& other) {
  if (status_ == 0) status_ = other.status_;
  return SetBytes(attribute, kDnnDescriptor, 1, &other.descriptor_);
}

bool DnnDescriptor::Finalize() {
  if (status_ == 0) status_ = library_.finalize(descriptor_);
  return status_ == 0;
}

int64_t DnnDescriptor::Get(int attribute, int type, int64_t most,
                           void* values) const {
  int64_t count = 0;
  if (status_ != 0 ||
      library_.get(descriptor_, attribute, type, most, &count, values) != 0) {
    return 0;
  }
  return std::clamp<int64_t>(count, 0, most);
}

}  // namespace mxc::runtime
