// SPDX-License-Identifier: Apache-2.0
#include "tools/signature/signature.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <string_view>
#include <vector>

#include "runtime/base/file.h"
#include "tools/signature/libcrypto.h"

namespace mxc::signature {
namespace {

using runtime::Bytes;
using runtime::Fail;
using runtime::Status;
using runtime::StatusCode;
using runtime::StatusOr;

// Bytes at the end of a file that a signature does not cover: itself, and what
// follows from the rest.
constexpr size_t kTail = sizeof(mxc_trailer) - offsetof(mxc_trailer, signature);
constexpr size_t kLargestKey = 1 << 16;

EVP_PKEY* KeyOf(void* key) { return static_cast<EVP_PKEY*>(key); }

// What is signed.
std::vector<unsigned char> MessageOf(const Digest& content) {
  constexpr std::string_view kPrefix = MXC_SIGNED_PREFIX;
  std::vector<unsigned char> message(kPrefix.begin(), kPrefix.end());
  for (const std::byte byte : content) {
    message.push_back(std::to_integer<unsigned char>(byte));
  }
  return message;
}

using Context = std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX*)>;

Context NewContext(const LibCrypto& crypto) {
  Context context(crypto.EVP_MD_CTX_new(), crypto.EVP_MD_CTX_free);
  if (context == nullptr) throw std::bad_alloc();
  return context;
}

// Keys are read by machines: who has a passphrase decrypts the key before.
int NoPassphrase(char*, int, int, void*) { return -1; }

EVP_PKEY* ParseKey(const LibCrypto& crypto, Bytes pem, Key::Kind kind) {
  const std::unique_ptr<BIO, int (*)(BIO*)> bio(
      crypto.BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())),
      crypto.BIO_free);
  if (bio == nullptr) throw std::bad_alloc();
  const auto read = kind == Key::Kind::kPrivate ? crypto.PEM_read_bio_PrivateKey
                                                : crypto.PEM_read_bio_PUBKEY;
  return read(bio.get(), nullptr, NoPassphrase, nullptr);
}

}  // namespace

StatusOr<Digest> ContentDigest(Bytes file) {
  if (file.size() < sizeof(mxc_trailer)) {
    return Fail(StatusCode::kCorrupt, "too short for an artifact");
  }
  return DigestOf(file.first(file.size() - kTail));
}

mxc_signature SignatureOf(Bytes file) {
  mxc_signature signature;
  std::memcpy(&signature, file.last(kTail).data(), sizeof signature);
  return signature;
}

bool IsSigned(const mxc_signature& signature) {
  static constexpr mxc_signature kNone = {};
  return std::memcmp(&signature, &kNone, sizeof kNone) != 0;
}

std::string SignerOf(const mxc_signature& signature) {
  Digest key;
  static_assert(sizeof key == sizeof signature.public_key);
  std::memcpy(key.data(), signature.public_key, key.size());
  return Hex(key);
}

void Key::Free::operator()(void* key) const {
  (*LibCrypto::Get())->EVP_PKEY_free(KeyOf(key));
}

StatusOr<Key> Key::Read(const std::string& path, Kind kind) {
  const auto crypto = LibCrypto::Get();
  if (!crypto.ok()) return crypto.status();
  const auto pem = runtime::MappedFile::Open(path);
  if (!pem.ok()) return pem.status();
  Key key;
  key.name_ = path;
  const Bytes text =
      pem->bytes().first(std::min(pem->bytes().size(), kLargestKey));
  key.key_.reset(ParseKey(**crypto, text, kind));
  const bool is_private = kind == Kind::kPrivate;
  size_t size = key.public_key_.size();
  if (key.key_ == nullptr ||
      (*crypto)->EVP_PKEY_get_id(KeyOf(key.key_.get())) != EVP_PKEY_ED25519 ||
      (*crypto)->EVP_PKEY_get_raw_public_key(
          KeyOf(key.key_.get()), key.public_key_.data(), &size) != 1) {
    return Fail(StatusCode::kInvalidArgument,
                "'%s' holds no %s in PEM form; '%s' makes one", path.c_str(),
                is_private ? "private Ed25519 key without a passphrase"
                           : "public Ed25519 key",
                is_private ? "openssl genpkey -algorithm ed25519 -out KEY"
                           : "openssl pkey -in KEY -pubout -out PUBKEY");
  }
  return key;
}

StatusOr<Key> Key::OfSigner(const mxc_signature& signature) {
  const auto crypto = LibCrypto::Get();
  if (!crypto.ok()) return crypto.status();
  Key key;
  key.name_ = SignerOf(signature);
  std::ranges::copy(signature.public_key, key.public_key_.begin());
  key.key_.reset((*crypto)->EVP_PKEY_new_raw_public_key(
      EVP_PKEY_ED25519, nullptr, signature.public_key,
      sizeof signature.public_key));
  if (key.key_ != nullptr) return key;
  return Fail(StatusCode::kCorrupt, "its signature names no key");
}

StatusOr<mxc_signature> Key::Sign(const Digest& content) const {
  const LibCrypto& crypto = **LibCrypto::Get();
  const std::vector<unsigned char> message = MessageOf(content);
  const Context context = NewContext(crypto);
  mxc_signature signature = {};
  std::memcpy(signature.public_key, public_key_.data(), public_key_.size());
  size_t size = sizeof signature.signature;
  if (crypto.EVP_DigestSignInit(context.get(), nullptr, nullptr, nullptr,
                                KeyOf(key_.get())) != 1 ||
      crypto.EVP_DigestSign(context.get(), signature.signature, &size,
                            message.data(), message.size()) != 1) {
    return Fail(StatusCode::kInvalidArgument, "'%s' cannot sign",
                name_.c_str());
  }
  return signature;
}

Status Key::Verify(Bytes file) const {
  const StatusOr<Digest> content = ContentDigest(file);
  if (!content.ok()) return content.status();
  const mxc_signature signature = SignatureOf(file);
  if (!IsSigned(signature)) {
    return Fail(StatusCode::kInvalidArgument,
                "not signed; a signature with '%s' is required", name_.c_str());
  }
  if (!std::ranges::equal(signature.public_key, public_key_)) {
    return Fail(StatusCode::kInvalidArgument,
                "signed with another key (%s), not with '%s'",
                SignerOf(signature).c_str(), name_.c_str());
  }
  const LibCrypto& crypto = **LibCrypto::Get();
  const std::vector<unsigned char> message = MessageOf(*content);
  const Context context = NewContext(crypto);
  if (crypto.EVP_DigestVerifyInit(context.get(), nullptr, nullptr, nullptr,
                                  KeyOf(key_.get())) == 1 &&
      crypto.EVP_DigestVerify(context.get(), signature.signature,
                              sizeof signature.signature, message.data(),
                              message.size()) == 1) {
    return {};
  }
  return Fail(StatusCode::kCorrupt, "altered after it was signed with '%s'",
              name_.c_str());
}

}  // namespace mxc::signature
