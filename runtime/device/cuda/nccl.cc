// SPDX-License-Identifier: Apache-2.0
#include "runtime/device/cuda/nccl.h"

#include <dlfcn.h>

#include <mutex>
#include <utility>

#include "runtime/base/element.h"

namespace mxc::runtime {
namespace {

constexpr char kNcclLibrary[] = "libnccl.so.2";
constexpr int kSum = 0;  // of nccl.h

// ncclDataType_t; -1: it has none.
int NcclType(uint8_t dtype) {
  switch (static_cast<ElementType>(dtype)) {
    case ElementType::kF16:
      return 6;
    case ElementType::kF32:
      return 7;
    case ElementType::kF64:
      return 8;
    case ElementType::kBF16:
      return 9;
    default:
      return -1;
  }
}

}  // namespace

StatusOr<const Nccl*> Nccl::Find() {
  static Nccl nccl;
  static Status status;
  static std::once_flag once;
  std::call_once(once, [] { status = nccl.Open(); });
  if (!status.ok()) return status;
  return &nccl;
}

Status Nccl::Open() {
  void* library = dlopen(kNcclLibrary, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return Fail(StatusCode::kUnsupported,
                "several GPUs train together by NCCL, which is not installed "
                "(%s is not found)",
                kNcclLibrary);
  }
#define MXC_NCCL_FUNCTION(member, symbol, parameters)                    \
  member = reinterpret_cast<decltype(member)>(dlsym(library, #symbol));  \
  if (member == nullptr) {                                               \
    return Fail(StatusCode::kUnsupported,                                \
                "the installed NCCL is too old (it lacks %s)", #symbol); \
  }
#include "runtime/device/cuda/nccl.def"
  return {};
}

// NCCL's texts come from a function of its own; the number is what its manual
// lists.
Status Nccl::Failure(int result, const char* what) {
  return Fail(StatusCode::kFailed, "cannot %s: NCCL says %d", what, result);
}

StatusOr<std::shared_ptr<DeviceGroup>> CudaGroup::Open(
    std::vector<int> devices) {
  const StatusOr<const Nccl*> nccl = Nccl::Find();
  if (!nccl.ok()) return nccl.status();
  std::shared_ptr<CudaGroup> group(new CudaGroup(**nccl));
  std::vector<NcclComm> comms(devices.size());
  const int result = (*nccl)->open_all(
      comms.data(), static_cast<int>(devices.size()), devices.data());
  if (result != 0) return Nccl::Failure(result, "connect the GPUs");
  group->comms_ = std::move(comms);
  return std::shared_ptr<DeviceGroup>(std::move(group));
}

CudaGroup::~CudaGroup() {
  if (aborted_) return;
  for (NcclComm comm : comms_) nccl_.close(comm);
}

void CudaGroup::Abort() {
  if (aborted_.exchange(true)) return;
  for (NcclComm comm : comms_) nccl_.abort(comm);
}

Status CudaGroup::Sum(size_t number, std::span<const Summand> tensors,
                      CudaStreamHandle stream) const {
  int result = nccl_.begin_group();
  for (const Summand& tensor : tensors) {
    if (result != 0) break;
    result =
        nccl_.all_reduce(tensor.from, tensor.to, tensor.elements,
                         NcclType(tensor.dtype), kSum, comms_[number], stream);
  }
  const int ended = nccl_.end_group();
  if (result == 0) result = ended;
  return result == 0 ? Status() : Nccl::Failure(result, "sum over the GPUs");
}

}  // namespace mxc::runtime
