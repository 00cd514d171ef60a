// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "runtime/abi/abi.h"
#include "runtime/api/handles.h"

struct mxc_status {
  mxc::runtime::Status status;
};

namespace mxc::runtime {
namespace {

static_assert(static_cast<int>(StatusCode::kFailed) == MXC_FAILED &&
              static_cast<int>(StatusCode::kCorrupt) == MXC_CORRUPT &&
              static_cast<int>(StatusCode::kIo) == MXC_IO);

// Its address alone matters.
constexpr char kOutOfMemory = 0;

bool IsOutOfMemory(const mxc_status* status) {
  return static_cast<const void*>(status) == &kOutOfMemory;
}

}  // namespace

mxc_status* ToC(const Status& status) {
  return status.ok() ? nullptr : new mxc_status{status};
}

mxc_status* OutOfMemory() {
  return reinterpret_cast<mxc_status*>(const_cast<char*>(&kOutOfMemory));
}

}  // namespace mxc::runtime

using mxc::runtime::IsOutOfMemory;

const char* mxc_version() { return MXC_VERSION; }

uint32_t mxc_format_version() { return MXC_ABI_VERSION; }

mxc_code mxc_status_code(const mxc_status* status) {
  if (status == nullptr) return MXC_OK;
  if (IsOutOfMemory(status)) return MXC_OUT_OF_MEMORY;
  return static_cast<mxc_code>(status->status.code());
}

const char* mxc_status_message(const mxc_status* status) {
  if (status == nullptr) return "";
  if (IsOutOfMemory(status)) return "out of memory";
  return status->status.message().c_str();
}

void mxc_status_release(mxc_status* status) {
  if (!IsOutOfMemory(status)) delete status;
}
