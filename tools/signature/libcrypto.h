// SPDX-License-Identifier: Apache-2.0
// The functions of OpenSSL's libcrypto that are called here, found when they
// are first needed: mxc-run starts on machines that have no such library.
#pragma once

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include <memory>

#include "runtime/base/status.h"

namespace mxc::signature {

#define MXC_LIBCRYPTO_FUNCTIONS(F) \
  F(BIO_free)                      \
  F(BIO_new_mem_buf)               \
  F(EVP_DigestFinal_ex)            \
  F(EVP_DigestInit_ex)             \
  F(EVP_DigestSign)                \
  F(EVP_DigestSignInit)            \
  F(EVP_DigestUpdate)              \
  F(EVP_DigestVerify)              \
  F(EVP_DigestVerifyInit)          \
  F(EVP_MD_CTX_free)               \
  F(EVP_MD_CTX_new)                \
  F(EVP_PKEY_free)                 \
  F(EVP_PKEY_get_id)               \
  F(EVP_PKEY_get_raw_public_key)   \
  F(EVP_PKEY_new_raw_public_key)   \
  F(EVP_sha256)                    \
  F(PEM_read_bio_PUBKEY)           \
  F(PEM_read_bio_PrivateKey)

struct LibCrypto {
#define MXC_DECLARE(name) decltype(&::name) name = nullptr;
  MXC_LIBCRYPTO_FUNCTIONS(MXC_DECLARE)
#undef MXC_DECLARE

  // The library, loaded once for the process and never unloaded.
  static runtime::StatusOr<const LibCrypto*> Get();
};

}  // namespace mxc::signature
