// SPDX-License-Identifier: Apache-2.0
// The bytes of a connection, plain or encrypted.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <functional>
#include <memory>

namespace mxc::serve {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

// One read and one write at a time. What is called back runs in the thread of
// the socket's io_context.
class Stream {
 public:
  using Done = std::function<void(error_code, size_t)>;

  virtual ~Stream() = default;
  // Some bytes, at least one unless there is an error.
  virtual void Read(asio::mutable_buffer into, Done done) = 0;
  virtual void Write(asio::const_buffer from, Done done) = 0;
  // Returns whether there is something to read at once.
  virtual bool Ready() = 0;
  // Nothing more is written; the other end reads to the end.
  virtual void EndWriting() = 0;
  // What is under way is called back with an error.
  virtual void Close() = 0;
};

std::unique_ptr<Stream> PlainStream(tcp::socket socket);

}  // namespace mxc::serve
