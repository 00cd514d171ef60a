// SPDX-License-Identifier: Apache-2.0
#include "runtime/kvstore/credentials.h"

#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "runtime/base/file.h"
#include "runtime/base/file_writer.h"
#include "runtime/kvstore/openssl.h"

namespace mxc::kvstore {
namespace {

constexpr const char* kFirstWord = "mxc-kvstore-key";
constexpr size_t kLongestFile = 256;

std::string Hexadecimal(const Key& key) {
  std::string text;
  for (const std::byte byte : key) text += Format("%02x", unsigned(byte));
  return text;
}

bool ParseHexadecimal(const char* text, Key& key) {
  for (std::byte& byte : key) {
    unsigned value = 0;
    if (std::sscanf(text, "%2x", &value) != 1) return false;
    byte = static_cast<std::byte>(value);
    text += 2;
  }
  return *text == '\0';
}

}  // namespace

std::string WorkerIdentity(uint32_t rank) {
  return "worker-" + std::to_string(rank);
}

StatusOr<Credentials> MakeSecret() {
  const auto openssl = OpenSsl::Get();
  if (!openssl.ok()) return openssl.status();
  Credentials made;
  made.identity = kServerIdentity;
  const ssize_t size = getrandom(made.key.data(), made.key.size(), 0);
  if (size != static_cast<ssize_t>(made.key.size())) {
    return Fail(StatusCode::kFailed, "the system has no random numbers");
  }
  return made;
}

Key DeriveKey(const Key& secret, const std::string& identity) {
  const std::string text = "mxc kvstore 1 " + identity;
  Key key = {};
  unsigned size = 0;
  const OpenSsl& openssl = **OpenSsl::Get();
  openssl.HMAC(openssl.EVP_sha256(), secret.data(),
               static_cast<int>(secret.size()),
               reinterpret_cast<const unsigned char*>(text.data()), text.size(),
               reinterpret_cast<unsigned char*>(key.data()), &size);
  return key;
}

Status WriteCredentials(const std::string& path, const Credentials& of) {
  const mode_t mask = umask(077);
  runtime::FileWriter file(path);
  file.Append(std::string(kFirstWord) + " " + of.identity + " " +
              Hexadecimal(of.key) + "\n");
  const Status status = file.Commit();
  umask(mask);
  return status;
}

StatusOr<Credentials> ReadCredentials(const std::string& path) {
  const auto openssl = OpenSsl::Get();
  if (!openssl.ok()) return openssl.status();
  const auto file = runtime::OpenFile(path);
  if (!file.ok()) return file.status();
  struct stat facts = {};
  if (fstat(file->get(), &facts) != 0) {
    return runtime::SystemError("read", path);
  }
  // Kubernetes gives root's file to the group of who is to read it.
  const mode_t others = facts.st_uid == 0 && geteuid() != 0 ? 037 : 077;
  if ((facts.st_mode & others) != 0) {
    return Fail(StatusCode::kInvalidArgument,
                "'%s' holds a key and others may read it; chmod 600 it",
                path.c_str());
  }
  char text[kLongestFile + 1] = {};
  const ssize_t size = read(file->get(), text, kLongestFile);
  char word[32] = {}, identity[64] = {}, hexadecimal[80] = {};
  Credentials credentials;
  if (size < 0 ||
      std::sscanf(text, "%31s %63s %79s", word, identity, hexadecimal) != 3 ||
      std::strcmp(word, kFirstWord) != 0 ||
      !ParseHexadecimal(hexadecimal, credentials.key)) {
    return Fail(StatusCode::kCorrupt, "'%s' holds no key of a kvstore",
                path.c_str());
  }
  credentials.identity = identity;
  return credentials;
}

}  // namespace mxc::kvstore
