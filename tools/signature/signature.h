// SPDX-License-Identifier: Apache-2.0
// Who answers for an artifact: Ed25519 over the SHA-256 of its content, in its
// trailer (runtime/abi/FORMAT.md). Keys are PEM files as OpenSSL makes them:
//
//   openssl genpkey -algorithm ed25519 -out private.pem
//   openssl pkey -in private.pem -pubout -out public.pem
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <string>

#include "runtime/abi/abi.h"
#include "runtime/base/bytes.h"
#include "runtime/base/status.h"
#include "tools/signature/digest.h"

namespace mxc::signature {

// Of all bytes of an artifact before its signature: the same whether it is
// signed or not. Nothing where `file` is too short for an artifact.
runtime::StatusOr<Digest> ContentDigest(runtime::Bytes file);

// The bytes of the artifact's signature; `file` is long enough for a trailer.
mxc_signature SignatureOf(runtime::Bytes file);
bool IsSigned(const mxc_signature& signature);

// An Ed25519 key of a PEM file, private or public.
class Key {
 public:
  enum class Kind { kPrivate, kPublic };
  // Refuses other kinds of keys. Never asks for a passphrase.
  static runtime::StatusOr<Key> Read(const std::string& path, Kind kind);

  // The public key that the signature names, whoever's it is.
  static runtime::StatusOr<Key> OfSigner(const mxc_signature& signature);

  // A private key's.
  runtime::StatusOr<mxc_signature> Sign(const Digest& content) const;
  // Whether `file`, an artifact, was signed with this key and is as it was
  // then.
  runtime::Status Verify(runtime::Bytes file) const;

 private:
  struct Free {
    void operator()(void* key) const;
  };
  std::string name_;  // how messages call it
  std::unique_ptr<void, Free> key_;
  std::array<uint8_t, 32> public_key_{};
};

// The public key in hexadecimal digits: who signed.
std::string SignerOf(const mxc_signature& signature);

}  // namespace mxc::signature
