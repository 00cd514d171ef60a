// SPDX-License-Identifier: Apache-2.0
#include "runtime/kvstore/transport/sockets.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <utility>
#include <vector>

#include "runtime/base/clock.h"
#include "runtime/base/file.h"
#include "runtime/kvstore/transport/address.h"

namespace mxc::kvstore {
namespace {

using runtime::Descriptor;

constexpr std::string_view kInherited = "fd:";

Status SocketError(const std::string& address, int error) {
  return Fail(StatusCode::kIo, "%s: %s", address.c_str(), std::strerror(error));
}

bool LaterAgain(int error) {
  return error == EAGAIN || error == EWOULDBLOCK || error == EINTR ||
         error == EINPROGRESS || error == ENOTCONN;
}

// Of what the system has taken and not sent: nothing overtakes it, however
// urgent. As much as a link of 1 Gbit/s takes in a millisecond; where the last
// kPaceBytes went faster, as much as went in that time: with less, a sender on a
// fast link sleeps and is woken again and again.
constexpr int kLeastUnsent = 128 << 10, kMostUnsent = 4 << 20;
constexpr size_t kPaceBytes = size_t{16} << 20;

// Chunks leave at once, and a machine that is gone is noticed.
void Configure(int fd, const SocketAddress& address, Time silence) {
  if (address.family() == AF_UNIX) return;
  const auto set = [fd](int level, int option, int value) {
    setsockopt(fd, level, option, &value, sizeof value);
  };
  const int seconds = static_cast<int>(std::max<Time>(1, silence / kSecond));
  set(IPPROTO_TCP, TCP_NODELAY, 1);
  set(IPPROTO_TCP, TCP_NOTSENT_LOWAT, kLeastUnsent);
  set(IPPROTO_TCP, TCP_USER_TIMEOUT, seconds * 1000);
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, 1);
  set(IPPROTO_TCP, TCP_KEEPINTVL, 1);
  set(IPPROTO_TCP, TCP_KEEPCNT, seconds);
}

class SocketConnection final : public Connection {
 public:
  SocketConnection(Descriptor fd, const SocketAddress& address)
      : fd_(std::move(fd)), address_(address) {}

  StatusOr<size_t> Read(std::span<std::byte> bytes) override {
    const ssize_t count = recv(fd_.get(), bytes.data(), bytes.size(), 0);
    if (count > 0) return static_cast<size_t>(count);
    if (count < 0) return Stopped();
    return Fail(StatusCode::kIo, "%s: the other end closed the connection",
                peer().c_str());
  }

  using Connection::Write;
  StatusOr<size_t> Write(Bytes first, Bytes second) override {
    const auto piece = [](Bytes bytes) {
      return iovec{const_cast<std::byte*>(bytes.data()), bytes.size()};
    };
    iovec pieces[] = {piece(first), piece(second)};
    msghdr message = {};
    message.msg_iov = pieces;
    message.msg_iovlen = std::size(pieces);
    const ssize_t count = sendmsg(fd_.get(), &message, MSG_NOSIGNAL);
    if (count < 0) return Stopped();
    NotePace(static_cast<size_t>(count));
    return static_cast<size_t>(count);
  }

  std::string peer() const override { return address_.text(); }
  bool local() const override { return address_.local(); }
  int descriptor() const override { return fd_.get(); }

 private:
  StatusOr<size_t> Stopped() const {
    if (!LaterAgain(errno)) return SocketError(peer(), errno);
    int error = 0;  // of a connect that failed meanwhile
    socklen_t size = sizeof error;
    getsockopt(fd_.get(), SOL_SOCKET, SO_ERROR, &error, &size);
    if (error != 0) return SocketError(peer(), error);
    return size_t{0};
  }

  void NotePace(size_t bytes) {
    paced_ += bytes;
    if (paced_ < kPaceBytes || address_.family() == AF_UNIX) return;
    const Time now = runtime::Nanoseconds();
    const double milliseconds =
        std::max(1e-3, static_cast<double>(now - since_) * 1e-6);
    const int unsent =
        static_cast<int>(std::clamp(static_cast<double>(paced_) / milliseconds,
                                    double{kLeastUnsent}, double{kMostUnsent}));
    setsockopt(fd_.get(), IPPROTO_TCP, TCP_NOTSENT_LOWAT, &unsent,
               sizeof unsent);
    paced_ = 0;
    since_ = now;
  }

  const Descriptor fd_;
  const SocketAddress address_;
  size_t paced_ = 0;  // bytes that were taken since
  Time since_ = 0;
};

class SocketListener final : public Listener {
 public:
  SocketListener(Descriptor fd, std::string unix_path, Time silence)
      : fd_(std::move(fd)), path_(std::move(unix_path)), silence_(silence) {}
  ~SocketListener() override {
    if (!path_.empty()) unlink(path_.c_str());
  }

  StatusOr<std::unique_ptr<Connection>> Accept() override {
    SocketAddress peer;
    peer.size = sizeof peer.storage;
    Descriptor fd(accept4(fd_.get(), reinterpret_cast<sockaddr*>(&peer.storage),
                          &peer.size, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (fd.get() < 0) return std::unique_ptr<Connection>();
    Configure(fd.get(), peer, silence_);
    return std::unique_ptr<Connection>(
        std::make_unique<SocketConnection>(std::move(fd), peer));
  }

  std::string address() const override {
    SocketAddress own;
    own.size = sizeof own.storage;
    getsockname(fd_.get(), reinterpret_cast<sockaddr*>(&own.storage),
                &own.size);
    return own.text();
  }
  int descriptor() const override { return fd_.get(); }

 private:
  const Descriptor fd_;
  const std::string path_;
  const Time silence_;
};

class Sockets final : public Transport {
 public:
  Sockets(Descriptor wake, Time silence)
      : wake_(std::move(wake)), silence_(silence) {}

  StatusOr<std::unique_ptr<Listener>> Listen(
      const std::string& address) override {
    if (address.starts_with(kInherited)) return Inherit(address);
    const auto parsed = ParseAddress(address);
    if (!parsed.ok()) return parsed.status();
    Descriptor fd(socket(parsed->family(),
                         SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    const int yes = 1;
    const bool on_path = parsed->family() == AF_UNIX;
    if (!on_path) {
      setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    }
    if (fd.get() < 0 || bind(fd.get(), parsed->get(), parsed->size) != 0 ||
        listen(fd.get(), SOMAXCONN) != 0) {
      return SocketError("cannot listen at " + address, errno);
    }
    return std::unique_ptr<Listener>(std::make_unique<SocketListener>(
        std::move(fd), on_path ? address.substr(5) : "", silence_));
  }

  StatusOr<std::unique_ptr<Connection>> Connect(
      const std::string& address) override {
    const auto parsed = ParseAddress(address);
    if (!parsed.ok()) return parsed.status();
    Descriptor fd(socket(parsed->family(),
                         SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (fd.get() < 0) return SocketError(address, errno);
    Configure(fd.get(), *parsed, silence_);
    if (connect(fd.get(), parsed->get(), parsed->size) != 0 &&
        !LaterAgain(errno)) {
      return SocketError(address, errno);
    }
    return std::unique_ptr<Connection>(
        std::make_unique<SocketConnection>(std::move(fd), *parsed));
  }

  Time Now() override { return runtime::Nanoseconds(); }

  void Wait(std::span<const Interest> interests, Time deadline) override {
    polled_ = {{wake_.get(), POLLIN, 0}};
    for (const Interest& interest : interests) {
      polled_.push_back({interest.descriptor,
                         static_cast<short>((interest.read ? POLLIN : 0) |
                                            (interest.write ? POLLOUT : 0)),
                         0});
    }
    const Time left = std::max<Time>(0, deadline - Now());
    constexpr Time kMillisecond = 1'000'000;
    const Time wait = std::min(kSecond * 60, left) + kMillisecond - 1;
    const int moved = poll(polled_.data(), polled_.size(),
                           static_cast<int>(wait / kMillisecond));
    NoteQuiet(moved >= 0);
    uint64_t count;
    if (moved > 0 && polled_[0].revents != 0 &&
        read(wake_.get(), &count, sizeof count) < 0) {
      return;  // it was taken back meanwhile
    }
  }

  bool MayRead(int descriptor) const override {
    const auto row = static_cast<size_t>(descriptor);
    return row >= quiet_.size() || !quiet_[row];
  }

  void Wake() override {
    const uint64_t one = 1;
    if (write(wake_.get(), &one, sizeof one) < 0) return;  // it is awake
  }

 private:
  StatusOr<std::unique_ptr<Listener>> Inherit(const std::string& address) {
    Descriptor fd(std::atoi(address.c_str() + kInherited.size()));
    int listens = 0;
    socklen_t size = sizeof listens;
    if (getsockopt(fd.get(), SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) != 0 ||
        listens == 0) {
      return Fail(StatusCode::kInvalidArgument, "%s is no socket that listens",
                  address.c_str());
    }
    return std::unique_ptr<Listener>(
        std::make_unique<SocketListener>(std::move(fd), "", silence_));
  }

  void NoteQuiet(bool known) {
    quiet_.assign(quiet_.size(), false);
    if (!known) return;
    for (const pollfd& polled : polled_) {
      if ((polled.events & POLLIN) == 0 || polled.revents != 0) continue;
      const auto row = static_cast<size_t>(polled.fd);
      if (row >= quiet_.size()) quiet_.resize(row + 1);
      quiet_[row] = true;
    }
  }

  const Descriptor wake_;
  const Time silence_;
  std::vector<pollfd> polled_;
  std::vector<bool> quiet_;  // by descriptor
};

}  // namespace

StatusOr<std::unique_ptr<Transport>> MakeSockets(Time silence) {
  Descriptor wake(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
  if (wake.get() < 0) return SocketError("cannot make an eventfd", errno);
  return std::unique_ptr<Transport>(
      std::make_unique<Sockets>(std::move(wake), silence));
}

}  // namespace mxc::kvstore
