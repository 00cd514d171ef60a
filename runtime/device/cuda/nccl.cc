// SPDX-License-Identifier: Apache-2.0
#include "runtime/device/cuda/nccl.h"

#include <dlfcn.h>

#include <mutex>
#include <utility>

#include "runtime/base/element.h"

namespace mxc::runtime {
namespace {

constexpr char kNcclLibrary[] = "libnccl.so.2";
constexpr int kSum = 0;   // of nccl.h
constexpr int kByte = 0;  // ncclInt8

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
  if (aborted_ != 0) return;
  for (NcclComm comm : comms_) nccl_.close(comm);
}

void CudaGroup::Abort() {
  if (aborted_.exchange(1) != 0) return;
  for (NcclComm comm : comms_) nccl_.abort(comm);
}

// Notes the first failure.
class CudaGroup::CudaMember final : public Member {
 public:
  CudaMember(const CudaGroup& group, size_t number, CudaStreamHandle stream)
      : nccl_(group.nccl_),
        comm_(group.comms_[number]),
        count_(group.comms_.size()),
        number_(number),
        stream_(stream) {
    Note(nccl_.begin_group());
  }

  size_t number() const override { return number_; }
  size_t count() const override { return count_; }

  void Sum(const CollectiveTensor& t) override {
    if (result_ != 0) return;
    Note(nccl_.all_reduce(t.from, t.to, Elements(t.from_bytes, t.dtype),
                          NcclType(t.dtype), kSum, comm_, stream_));
  }
  void SumPart(const CollectiveTensor& t) override {
    if (result_ != 0) return;
    Note(nccl_.reduce_scatter(t.from, t.to, Elements(t.to_bytes, t.dtype),
                              NcclType(t.dtype), kSum, comm_, stream_));
  }
  void Gather(const CollectiveTensor& t) override {
    if (result_ != 0) return;
    Note(nccl_.all_gather(t.from, t.to, t.from_bytes, kByte, comm_, stream_));
  }
  void Send(const void* from, uint64_t bytes, size_t device) override {
    if (result_ != 0) return;
    Note(nccl_.send(from, bytes, kByte, static_cast<int>(device), comm_,
                    stream_));
  }
  void Receive(void* to, uint64_t bytes, size_t device) override {
    if (result_ != 0) return;
    Note(nccl_.receive(to, bytes, kByte, static_cast<int>(device), comm_,
                       stream_));
  }

  // What it was asked for goes at once.
  Status End() {
    Note(nccl_.end_group());
    return result_ == 0 ? Status()
                        : Nccl::Failure(result_, "join the GPUs' values");
  }

 private:
  static size_t Elements(uint64_t bytes, uint8_t dtype) {
    return bytes /
           static_cast<uint64_t>(ElementBytes(static_cast<ElementType>(dtype)));
  }
  void Note(int result) {
    if (result_ == 0) result_ = result;
  }

  const Nccl& nccl_;
  const NcclComm comm_;
  const size_t count_, number_;
  const CudaStreamHandle stream_;
  int result_ = 0;
};

Status CudaGroup::Do(size_t number, CollectiveFunction function,
                     std::span<const CollectiveTensor> tensors,
                     CudaStreamHandle stream) const {
  CudaMember member(*this, number, stream);
  for (const CollectiveTensor& tensor : tensors) function(member, tensor);
  return member.End();
}

}  // namespace mxc::runtime
