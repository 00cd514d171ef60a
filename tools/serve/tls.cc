// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/tls.h"

#include <openssl/err.h>
#include <openssl/ssl.h>

#include <boost/asio/post.hpp>
#include <utility>

#include "runtime/base/dynamic_library.h"
#include "tools/run/failure.h"

namespace mxc::serve {

#define MXC_OPENSSL_FUNCTIONS(F)        \
  F(ERR_clear_error)                    \
  F(ERR_get_error)                      \
  F(ERR_reason_error_string)            \
  F(SSL_CTX_check_private_key)          \
  F(SSL_CTX_ctrl)                       \
  F(SSL_CTX_free)                       \
  F(SSL_CTX_new)                        \
  F(SSL_CTX_use_PrivateKey_file)        \
  F(SSL_CTX_use_certificate_chain_file) \
  F(SSL_free)                           \
  F(SSL_get_error)                      \
  F(SSL_is_init_finished)               \
  F(SSL_new)                            \
  F(SSL_pending)                        \
  F(SSL_read_ex)                        \
  F(SSL_set_accept_state)               \
  F(SSL_set_fd)                         \
  F(SSL_shutdown)                       \
  F(SSL_write_ex)                       \
  F(TLS_server_method)

struct TlsFunctions {
#define MXC_DECLARE(name) decltype(&::name) name = nullptr;
  MXC_OPENSSL_FUNCTIONS(MXC_DECLARE)
#undef MXC_DECLARE
};

namespace {

TlsFunctions Load() {
  TlsFunctions functions;
#define MXC_WANT(name) {#name, reinterpret_cast<void**>(&functions.name)},
  const runtime::WantedFunction wanted[] = {MXC_OPENSSL_FUNCTIONS(MXC_WANT)};
#undef MXC_WANT
  run::Require(
      runtime::LoadFunctions("libssl.so.3", "HTTPS", "libssl3", wanted));
  return functions;
}

}  // namespace

struct Tls::State {
  TlsFunctions openssl = Load();
  SSL_CTX* context = openssl.SSL_CTX_new(openssl.TLS_server_method());
  ~State() { openssl.SSL_CTX_free(context); }
};

namespace {

class TlsStream final : public Stream,
                        public std::enable_shared_from_this<TlsStream> {
 public:
  TlsStream(const Tls::State& tls, tcp::socket socket)
      : openssl_(tls.openssl),
        socket_(std::move(socket)),
        ssl_(openssl_.SSL_new(tls.context)) {
    error_code ignored;
    socket_.native_non_blocking(true, ignored);
    if (ssl_ == nullptr) return;
    openssl_.SSL_set_fd(ssl_, socket_.native_handle());
    openssl_.SSL_set_accept_state(ssl_);
  }
  ~TlsStream() override { openssl_.SSL_free(ssl_); }

  void Read(asio::mutable_buffer into, Done done) override {
    Try(
        [this, into](size_t* count) {
          return openssl_.SSL_read_ex(ssl_, into.data(), into.size(), count);
        },
        std::move(done));
  }
  void Write(asio::const_buffer from, Done done) override {
    Try(
        [this, from](size_t* count) {
          return openssl_.SSL_write_ex(ssl_, from.data(), from.size(), count);
        },
        std::move(done));
  }
  bool Ready() override {
    error_code ignored;
    return (ssl_ != nullptr && openssl_.SSL_pending(ssl_) > 0) ||
           socket_.available(ignored) > 0;
  }
  void EndWriting() override {
    error_code ignored;
    openssl_.ERR_clear_error();
    if (ssl_ != nullptr && openssl_.SSL_is_init_finished(ssl_)) {
      openssl_.SSL_shutdown(ssl_);
    }
    socket_.shutdown(tcp::socket::shutdown_send, ignored);
  }
  void Close() override {
    error_code ignored;
    socket_.close(ignored);
  }

 private:
  using Step = std::function<int(size_t*)>;

  // Calls `step` until it has moved bytes; it waits for the socket between.
  void Try(Step step, Done done) {
    size_t count = 0;
    if (ssl_ == nullptr || !socket_.is_open()) {
      return Finish(asio::error::operation_aborted, 0, std::move(done));
    }
    openssl_.ERR_clear_error();
    const int result = step(&count);
    if (result == 1) return Finish({}, count, std::move(done));
    const int why = openssl_.SSL_get_error(ssl_, result);
    if (why != SSL_ERROR_WANT_READ && why != SSL_ERROR_WANT_WRITE) {
      return Finish(asio::error::eof, 0, std::move(done));
    }
    socket_.async_wait(why == SSL_ERROR_WANT_READ ? tcp::socket::wait_read
                                                  : tcp::socket::wait_write,
                       [self = shared_from_this(), step = std::move(step),
                        done = std::move(done)](error_code error) mutable {
                         if (error) return done(error, 0);
                         self->Try(std::move(step), std::move(done));
                       });
  }
  void Finish(error_code error, size_t count, Done done) {
    asio::post(socket_.get_executor(),
               [self = shared_from_this(), done = std::move(done), error,
                count] { done(error, count); });
  }

  const TlsFunctions& openssl_;
  tcp::socket socket_;
  SSL* const ssl_;
};

// The stream lives as long as its last call.
class SharedStream final : public Stream {
 public:
  explicit SharedStream(std::shared_ptr<TlsStream> stream)
      : stream_(std::move(stream)) {}
  void Read(asio::mutable_buffer into, Done done) override {
    stream_->Read(into, std::move(done));
  }
  void Write(asio::const_buffer from, Done done) override {
    stream_->Write(from, std::move(done));
  }
  bool Ready() override { return stream_->Ready(); }
  void EndWriting() override { stream_->EndWriting(); }
  void Close() override { stream_->Close(); }

 private:
  const std::shared_ptr<TlsStream> stream_;
};

}  // namespace

Tls::Tls(const std::string& certificate, const std::string& key)
    : state_(std::make_unique<State>()) {
  const TlsFunctions& openssl = state_->openssl;
  SSL_CTX* context = state_->context;
  const auto require = [&](int result, const std::string& what) {
    if (result == 1) return;
    const char* why = openssl.ERR_reason_error_string(openssl.ERR_get_error());
    throw run::Failure(what + ": " + (why == nullptr ? "refused" : why));
  };
  if (context == nullptr) throw run::Failure("OpenSSL has no memory");
  openssl.SSL_CTX_ctrl(context, SSL_CTRL_SET_MIN_PROTO_VERSION, TLS1_2_VERSION,
                       nullptr);
  openssl.SSL_CTX_ctrl(context, SSL_CTRL_MODE,
                       SSL_MODE_ENABLE_PARTIAL_WRITE |
                           SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                           SSL_MODE_RELEASE_BUFFERS,
                       nullptr);
  require(
      openssl.SSL_CTX_use_certificate_chain_file(context, certificate.c_str()),
      "the certificate '" + certificate + "'");
  require(openssl.SSL_CTX_use_PrivateKey_file(context, key.c_str(),
                                              SSL_FILETYPE_PEM),
          "the key '" + key + "'");
  require(openssl.SSL_CTX_check_private_key(context),
          "'" + key + "' is not the key of '" + certificate + "'");
}

Tls::~Tls() = default;

std::unique_ptr<Stream> Tls::Secure(tcp::socket socket) const {
  return std::make_unique<SharedStream>(
      std::make_shared<TlsStream>(*state_, std::move(socket)));
}

}  // namespace mxc::serve
