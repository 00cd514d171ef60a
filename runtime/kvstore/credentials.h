// SPDX-License-Identifier: Apache-2.0
// Who may take part in a job. The job has a secret of 256 bits, which its
// servers know. Each worker knows a key of its own, derived from the secret and
// the worker's name, so that no worker can speak for another. A key lies in a
// file that only its owner can read; it never stands on a command line or in
// the environment.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "runtime/kvstore/status.h"

namespace mxc::kvstore {

using Key = std::array<std::byte, 32>;

inline constexpr std::string_view kServerIdentity = "server";
// A server's that connects to its partner, with a key derived as workers' are.
inline constexpr std::string_view kPartnerIdentity = "partner";

struct Credentials {
  std::string identity;  // kServerIdentity, "worker-3"
  Key key = {};          // a server's is the job's secret
};

std::string WorkerIdentity(uint32_t rank);

StatusOr<Credentials> MakeSecret();
// HMAC-SHA256 of the identity under the secret, by OpenSSL: where somebody has
// made or read a secret, that is there.
Key DeriveKey(const Key& secret, const std::string& identity);

// A new file of mode 0600. Not while other threads make files: it is the umask
// that gives the mode.
Status WriteCredentials(const std::string& path, const Credentials& of);
// Refuses a file that others may read.
StatusOr<Credentials> ReadCredentials(const std::string& path);

}  // namespace mxc::kvstore
