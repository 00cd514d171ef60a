// SPDX-License-Identifier: Apache-2.0
#include "runtime/kvstore/transport/tls_stage.h"

#include <algorithm>
#include <cstring>

namespace mxc::kvstore {
namespace {

int ReadStage(BIO* bio, char* data, size_t size, size_t* count) {
  const OpenSsl& openssl = **OpenSsl::Get();
  Stages& stages = *static_cast<Stages*>(openssl.BIO_get_data(bio));
  openssl.BIO_clear_flags(bio, BIO_FLAGS_RWS | BIO_FLAGS_SHOULD_RETRY);
  const StatusOr<size_t> came =
      stages.in->Read({reinterpret_cast<std::byte*>(data), size});
  *count = came.ok() ? *came : 0;
  if (!came.ok()) {
    stages.in_failed = came.status();
  } else if (*count == 0) {
    openssl.BIO_set_flags(bio, BIO_FLAGS_READ | BIO_FLAGS_SHOULD_RETRY);
  }
  return *count > 0;
}

int WriteStage(BIO* bio, const char* data, size_t size, size_t* count) {
  const OpenSsl& openssl = **OpenSsl::Get();
  Stage& out = static_cast<Stages*>(openssl.BIO_get_data(bio))->out;
  *count = std::min(size, out.room().size());
  openssl.BIO_clear_flags(bio, BIO_FLAGS_RWS | BIO_FLAGS_SHOULD_RETRY);
  if (*count == 0) {
    openssl.BIO_set_flags(bio, BIO_FLAGS_WRITE | BIO_FLAGS_SHOULD_RETRY);
    return 0;
  }
  std::memcpy(out.room().data(), data, *count);
  out.Add(*count);
  return 1;
}

long ControlStage(BIO*, int command, long, void*) {
  return command == BIO_CTRL_FLUSH;
}

// Null where there is no memory for it; it lives as long as the process.
const BIO_METHOD* StageMethod(const OpenSsl& openssl) {
  static BIO_METHOD* const method = [&] {
    BIO_METHOD* made = openssl.BIO_meth_new(BIO_TYPE_SOURCE_SINK, "mxc");
    if (made != nullptr) {
      openssl.BIO_meth_set_read_ex(made, ReadStage);
      openssl.BIO_meth_set_write_ex(made, WriteStage);
      openssl.BIO_meth_set_ctrl(made, ControlStage);
    }
    return made;
  }();
  return method;
}

}  // namespace

BIO* MakeBio(Stages& stages) {
  const OpenSsl& openssl = **OpenSsl::Get();
  const BIO_METHOD* method = StageMethod(openssl);
  BIO* bio = method == nullptr ? nullptr : openssl.BIO_new(method);
  if (bio == nullptr) return nullptr;
  openssl.BIO_set_data(bio, &stages);
  openssl.BIO_set_init(bio, 1);
  return bio;
}

}  // namespace mxc::kvstore
