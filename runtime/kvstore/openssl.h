// SPDX-License-Identifier: Apache-2.0
// The functions of OpenSSL that jobs use, found when a job first needs them:
// programs start on machines that have no OpenSSL.
#pragma once

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/ssl.h>

#include "runtime/kvstore/status.h"

namespace mxc::kvstore {

#define MXC_OPENSSL_FUNCTIONS(F)           \
  F(BIO_clear_flags)                       \
  F(BIO_get_data)                          \
  F(BIO_meth_new)                          \
  F(BIO_meth_set_ctrl)                     \
  F(BIO_meth_set_read_ex)                  \
  F(BIO_meth_set_write_ex)                 \
  F(BIO_new)                               \
  F(BIO_set_data)                          \
  F(BIO_set_flags)                         \
  F(BIO_set_init)                          \
  F(ERR_clear_error)                       \
  F(ERR_get_error)                         \
  F(ERR_reason_error_string)               \
  F(EVP_sha256)                            \
  F(HMAC)                                  \
  F(SSL_CIPHER_find)                       \
  F(SSL_CTX_ctrl)                          \
  F(SSL_CTX_free)                          \
  F(SSL_CTX_new)                           \
  F(SSL_CTX_set_ciphersuites)              \
  F(SSL_CTX_set_default_read_buffer_len)   \
  F(SSL_CTX_set_num_tickets)               \
  F(SSL_CTX_set_psk_find_session_callback) \
  F(SSL_CTX_set_psk_use_session_callback)  \
  F(SSL_CTX_set_verify)                    \
  F(SSL_SESSION_free)                      \
  F(SSL_SESSION_new)                       \
  F(SSL_SESSION_set1_master_key)           \
  F(SSL_SESSION_set_cipher)                \
  F(SSL_SESSION_set_protocol_version)      \
  F(SSL_free)                              \
  F(SSL_get_error)                         \
  F(SSL_get_ex_data)                       \
  F(SSL_is_init_finished)                  \
  F(SSL_new)                               \
  F(SSL_read_ex)                           \
  F(SSL_set_accept_state)                  \
  F(SSL_set_bio)                           \
  F(SSL_set_connect_state)                 \
  F(SSL_set_ex_data)                       \
  F(SSL_write_ex)                          \
  F(TLS_client_method)                     \
  F(TLS_server_method)

struct OpenSsl {
#define MXC_DECLARE(name) decltype(&::name) name = nullptr;
  MXC_OPENSSL_FUNCTIONS(MXC_DECLARE)
#undef MXC_DECLARE

  // The library, loaded once for the process and never unloaded.
  static StatusOr<const OpenSsl*> Get();
};

}  // namespace mxc::kvstore
