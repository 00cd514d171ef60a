// SPDX-License-Identifier: Apache-2.0
#include "runtime/device/cuda/cublaslt.h"

#include <dlfcn.h>

namespace mxc::runtime {
namespace {

// Newest first: of CUDA 13 and 12. What is used is the same in both.
constexpr const char* kCublasLtLibraries[] = {"libcublasLt.so.13",
                                              "libcublasLt.so.12"};

Status Lacks(const char* symbol) {
  return Fail(StatusCode::kUnsupported, "cuBLASLt is too old (it lacks %s)",
              symbol);
}

}  // namespace

StatusOr<std::unique_ptr<const CublasLt>> CublasLt::Open() {
  void* library = nullptr;
  for (const char* name : kCublasLtLibraries) {
    if (library == nullptr) library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  }
  if (library == nullptr) {
    return Fail(StatusCode::kUnsupported, "cuBLASLt is not installed");
  }
  auto found = std::make_unique<CublasLt>();
#define MXC_CUBLASLT_FUNCTION(member, symbol, parameters)                 \
  found->member =                                                         \
      reinterpret_cast<decltype(found->member)>(dlsym(library, #symbol)); \
  if (found->member == nullptr) return Lacks(#symbol);
#include "runtime/device/cuda/cublaslt.def"
  found->text_ = reinterpret_cast<decltype(found->text_)>(
      dlsym(library, "cublasLtGetStatusString"));
  if (found->text_ == nullptr) return Lacks("cublasLtGetStatusString");
  const CublasLtStatus status = found->create(&found->handle_);
  if (status != 0) {
    return Fail(StatusCode::kFailed, "cannot open cuBLASLt: %s",
                found->Text(status).c_str());
  }
  return std::unique_ptr<const CublasLt>(std::move(found));
}

std::string CublasLt::Text(CublasLtStatus status) const {
  const char* text = text_(status);
  return text != nullptr ? text : "unknown error";
}

}  // namespace mxc::runtime
