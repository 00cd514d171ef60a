// SPDX-License-Identifier: Apache-2.0
// One client's connection: requests are read one after the other, each is
// answered before the next is looked at. It never waits, and holds no thread.
#pragma once

#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <memory>
#include <string>

#include "tools/serve/message.h"
#include "tools/serve/stream.h"

namespace mxc::serve {

struct ConnectionLimits {
  uint64_t body_bytes = 64 << 20;
  int head_seconds = 10;     // from its first byte to its last
  int request_seconds = 60;  // head and body
  int idle_seconds = 60;     // between two requests
  // A body or an answer that moves fewer bytes in five seconds is given up.
  uint64_t least_bytes = 5 << 10;
};

// What connections share.
struct ConnectionSite {
  asio::io_context& io;
  Application& application;
  MemoryBudget& memory;
  ConnectionLimits limits;
  // The server ends: no request is begun any more.
  bool stopping = false;
};

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  // `ended` is called once, when nothing is left to do.
  Connection(ConnectionSite& site, std::unique_ptr<Stream> stream,
             std::string client, std::function<void(Connection&)> ended);
  ~Connection();

  void Start();
  // Answers this and ends; for one that has not been started.
  void StartRefusing(Response response);
  // Ends where no request has begun; else it ends after that one, as the site is
  // stopping.
  void FinishRequest();
  // Refuses a request that is not whole yet.
  void DropIncomplete();
  void Close();
  // Waits for a request of which nothing has come.
  bool idle() const;

 private:
  struct Exchange;  // the request that is read or answered
  enum class State { kHead, kBody, kAnswering, kWriting, kEnding, kClosed };

  void BeginRequest();
  void ReadMore();
  void AfterRead(const error_code& error);
  void Parse();
  bool AfterHead();  // false: it is answered already
  void AfterBody();
  void RefuseParse(const error_code& error);
  // Also while the body still comes: then the connection ends with it.
  void Answer(Response response, bool keep);
  void RefuseSlow();
  void WriteMore();
  void AfterAnswer();
  void End();
  void Wait(int seconds);
  void OnTime();

  ConnectionSite& site_;
  const std::unique_ptr<Stream> stream_;
  const std::string client_;
  std::function<void(Connection&)> ended_;
  asio::steady_timer timer_;
  int64_t timer_round_ = 0;
  State state_ = State::kHead;
  std::unique_ptr<Exchange> exchange_;
  std::string input_;     // read and not looked at
  std::string output_;    // the answer with its head
  size_t written_ = 0;    // of it
  uint64_t moved_ = 0;    // bytes since the timer was set
  bool reading_ = false;  // a read is under way
  bool keep_ = false;     // after the answer
};

}  // namespace mxc::serve
