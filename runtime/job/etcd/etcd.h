// SPDX-License-Identifier: Apache-2.0
// etcd, which keeps small values for the machines of a cluster, by the JSON that
// version 3.4 and later speak: etcd.io/docs, "gRPC gateway".
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/base/status.h"

namespace mxc::job {

struct EtcdOptions {
  std::vector<std::string> endpoints;  // "http://10.0.0.5:2379", one at least
  // Files of a TLS connection, in PEM; empty: the system's authorities, and no
  // certificate of our own.
  std::string authority, certificate, key;
};

// One thread at a time. Each call asks one endpoint after the other until one
// answers, at most 2 s each; kIo says what the last one did instead.
class Etcd {
 public:
  static runtime::StatusOr<std::unique_ptr<Etcd>> Make(
      const EtcdOptions& options);
  ~Etcd();

  // None: there is no such key.
  runtime::StatusOr<std::optional<std::string>> Get(const std::string& key);

  // That a key has this value, or that there is none.
  struct Condition {
    std::string key;
    std::optional<std::string> value;
  };
  // One transaction. False: the condition does not hold, and nothing was put. A
  // value with a lease is deleted with it.
  runtime::StatusOr<bool> PutIf(const Condition& condition,
                                const std::string& key,
                                const std::string& value, int64_t lease = 0);

  runtime::StatusOr<int64_t> Grant(int64_t seconds);
  // For as long again. False: the lease has run out.
  runtime::StatusOr<bool> KeepAlive(int64_t lease);
  runtime::Status Revoke(int64_t lease);

  // This machine's address, as the endpoint sees it that answered last.
  const std::string& local_address() const { return local_address_; }

 private:
  struct Session;
  explicit Etcd(EtcdOptions options);

  // What was answered; `body` is JSON.
  runtime::StatusOr<std::string> Call(const std::string& path,
                                      const std::string& body);
  runtime::StatusOr<std::string> CallOne(const std::string& url,
                                         const std::string& body);

  const EtcdOptions options_;
  size_t current_ = 0;  // endpoint
  std::unique_ptr<Session> session_;
  std::string local_address_;
};

}  // namespace mxc::job
