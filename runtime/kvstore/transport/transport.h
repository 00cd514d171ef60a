// SPDX-License-Identifier: Apache-2.0
// What carries bytes between the nodes of a job: an ordered stream that may
// break at any moment. Nothing here waits but Transport::Wait, so one thread
// serves any number of connections, and a simulation drives all nodes of a job
// on one thread and a clock of its own.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "runtime/kvstore/status.h"

namespace mxc::kvstore {

// Used by one thread at a time. After an error it is broken for good; the error
// is a sentence about the cause.
class Connection {
 public:
  virtual ~Connection() = default;

  // How many bytes have moved; 0: none can at the moment. The end of the stream
  // is an error.
  virtual StatusOr<size_t> Read(std::span<std::byte> bytes) = 0;
  // Moves bytes of the first, then of the second.
  virtual StatusOr<size_t> Write(Bytes first, Bytes second) = 0;
  StatusOr<size_t> Write(Bytes bytes) { return Write(bytes, {}); }
  // Returns whether bytes that Write took are still to be sent: by Flush, by
  // the next Read, or by a Write that has no room for more.
  virtual bool unsent() const { return false; }
  virtual Status Flush() { return {}; }

  // The other end's address.
  virtual std::string peer() const = 0;
  // Who the other end has proved to be ("worker-3"); empty: nobody yet, or the
  // connection does not ask.
  virtual std::string identity() const { return ""; }
  // Returns whether nobody can listen who is not on this machine.
  virtual bool local() const = 0;
  // For Transport::Wait.
  virtual int descriptor() const = 0;
};

class Listener {
 public:
  virtual ~Listener() = default;

  // The next connection; null: nobody is there at the moment.
  virtual StatusOr<std::unique_ptr<Connection>> Accept() = 0;
  // As Connect takes it, with the port that was chosen.
  virtual std::string address() const = 0;
  virtual int descriptor() const = 0;
};

// What Wait waits for: something to read, and room to write, if asked.
struct Interest {
  int descriptor = -1;
  bool write = false;
  bool read = true;
};

class Transport {
 public:
  virtual ~Transport() = default;

  virtual StatusOr<std::unique_ptr<Listener>> Listen(
      const std::string& address) = 0;
  // Begins to connect. What goes wrong, Read and Write tell.
  virtual StatusOr<std::unique_ptr<Connection>> Connect(
      const std::string& address) = 0;

  // On a clock that never goes back.
  virtual Time Now() = 0;
  // Until one of them may get on, Wake is called, or `deadline` has come.
  virtual void Wait(std::span<const Interest> interests, Time deadline) = 0;
  // Returns whether something can be read there, as far as the last Wait has
  // seen: not, if it waited for that and nothing came. For the thread that
  // waits.
  virtual bool MayRead(int /*descriptor*/) const { return true; }
  // From any thread.
  virtual void Wake() = 0;
};

}  // namespace mxc::kvstore
