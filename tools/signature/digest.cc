// SPDX-License-Identifier: Apache-2.0
#include "tools/signature/digest.h"

#include <new>

#include "tools/signature/libcrypto.h"

namespace mxc::signature {
namespace {

// Who has a digest has seen that the library is there.
const LibCrypto& Loaded() { return **LibCrypto::Get(); }

EVP_MD_CTX* ContextOf(void* context) {
  return static_cast<EVP_MD_CTX*>(context);
}

}  // namespace

std::string Hex(const Digest& digest) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const std::byte byte : digest) {
    text += kDigits[std::to_integer<int>(byte) >> 4];
    text += kDigits[std::to_integer<int>(byte) & 15];
  }
  return text;
}

void RunningDigest::Free::operator()(void* context) const {
  Loaded().EVP_MD_CTX_free(ContextOf(context));
}

runtime::StatusOr<RunningDigest> RunningDigest::Begin() {
  const auto crypto = LibCrypto::Get();
  if (!crypto.ok()) return crypto.status();
  RunningDigest digest;
  digest.context_.reset((*crypto)->EVP_MD_CTX_new());
  if (digest.context_ == nullptr ||
      (*crypto)->EVP_DigestInit_ex(ContextOf(digest.context_.get()),
                                   (*crypto)->EVP_sha256(), nullptr) != 1) {
    throw std::bad_alloc();
  }
  return digest;
}

void RunningDigest::Add(runtime::Bytes bytes) {
  Loaded().EVP_DigestUpdate(ContextOf(context_.get()), bytes.data(),
                            bytes.size());
}

Digest RunningDigest::Finish() {
  Digest digest{};
  Loaded().EVP_DigestFinal_ex(ContextOf(context_.get()),
                              reinterpret_cast<unsigned char*>(digest.data()),
                              nullptr);
  return digest;
}

runtime::StatusOr<Digest> DigestOf(runtime::Bytes bytes) {
  runtime::StatusOr<RunningDigest> digest = RunningDigest::Begin();
  if (!digest.ok()) return digest.status();
  digest->Add(bytes);
  return digest->Finish();
}

}  // namespace mxc::signature
