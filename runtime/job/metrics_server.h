// SPDX-License-Identifier: Apache-2.0
// Serves a job's metrics over HTTP/1.1, as Prometheus asks for them: GET of
// /metrics is answered with what was published last, and the connection ends. It
// never waits, so the launcher turns it in its own loop: clients that are slow,
// many or hostile cost little and hold nobody up.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runtime/job/status.h"
#include "runtime/kvstore/transport/transport.h"

namespace mxc::job {

class MetricsServer {
 public:
  static constexpr size_t kMostClients = 16;  // one more ends the oldest
  static constexpr size_t kLongestRequest = 8 << 10;                // bytes
  static constexpr kvstore::Time kPatience = 5 * kvstore::kSecond;  // each has

  // Listens at `place`, a port of this machine alone or ADDRESS:PORT; port 0 is
  // any. The transport must outlive it.
  static StatusOr<std::unique_ptr<MetricsServer>> Listen(
      kvstore::Transport& transport, const std::string& place);
  ~MetricsServer();

  std::string address() const;
  void Publish(std::string metrics);
  // What there is to wait for, and then to be done.
  std::vector<kvstore::Interest> interests() const;
  void Pump();

 private:
  struct Client;

  MetricsServer(kvstore::Transport& transport,
                std::unique_ptr<kvstore::Listener> listener);

  void Accept();
  bool Serve(Client& client);
  void Answer(Client& client);

  kvstore::Transport& transport_;
  std::unique_ptr<kvstore::Listener> listener_;
  std::vector<std::unique_ptr<Client>> clients_;  // the oldest first
  std::shared_ptr<const std::string> metrics_;
};

}  // namespace mxc::job
