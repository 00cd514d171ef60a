// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/stream.h"

#include <utility>

namespace mxc::serve {
namespace {

class Plain final : public Stream {
 public:
  explicit Plain(tcp::socket socket) : socket_(std::move(socket)) {}

  void Read(asio::mutable_buffer into, Done done) override {
    socket_.async_read_some(into, std::move(done));
  }
  void Write(asio::const_buffer from, Done done) override {
    socket_.async_write_some(from, std::move(done));
  }
  bool Ready() override {
    error_code ignored;
    return socket_.available(ignored) > 0;
  }
  void EndWriting() override {
    error_code ignored;
    socket_.shutdown(tcp::socket::shutdown_send, ignored);
  }
  void Close() override {
    error_code ignored;
    socket_.close(ignored);
  }

 private:
  tcp::socket socket_;
};

}  // namespace

std::unique_ptr<Stream> PlainStream(tcp::socket socket) {
  return std::make_unique<Plain>(std::move(socket));
}

}  // namespace mxc::serve
