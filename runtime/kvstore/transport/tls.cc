// SPDX-License-Identifier: Apache-2.0
#include "runtime/kvstore/transport/tls.h"

#include <openssl/err.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

namespace mxc::kvstore {

struct Tls::State {
  Side side;
  Credentials own;
  SSL_CTX* context = nullptr;
  ~State() { SSL_CTX_free(context); }
};

namespace {

constexpr const char* kCipher = "TLS_AES_128_GCM_SHA256";
constexpr size_t kMostPlain = 64 << 10;  // that a Write takes
constexpr unsigned char kCipherNumber[] = {0x13, 0x01};

// What the two callbacks of OpenSSL need of a connection.
struct Peer {
  const Tls::State* node;
  std::string identity;  // of the other end, once it has named itself
};

std::string LastError() {
  const unsigned long code = ERR_get_error();
  ERR_clear_error();
  const char* reason = code == 0 ? nullptr : ERR_reason_error_string(code);
  return reason == nullptr ? "no reason is known" : reason;
}

SSL_SESSION* SessionOf(SSL* ssl, const Key& key) {
  SSL_SESSION* session = SSL_SESSION_new();
  const SSL_CIPHER* cipher = SSL_CIPHER_find(ssl, kCipherNumber);
  if (session == nullptr || cipher == nullptr ||
      SSL_SESSION_set1_master_key(
          session, reinterpret_cast<const unsigned char*>(key.data()),
          key.size()) != 1 ||
      SSL_SESSION_set_cipher(session, cipher) != 1 ||
      SSL_SESSION_set_protocol_version(session, TLS1_3_VERSION) != 1) {
    SSL_SESSION_free(session);
    return nullptr;
  }
  return session;
}

int OfferKey(SSL* ssl, const EVP_MD*, const unsigned char** id, size_t* size,
             SSL_SESSION** session) {
  const auto* peer = static_cast<const Peer*>(SSL_get_app_data(ssl));
  const Credentials& own = peer->node->own;
  *session = SessionOf(ssl, own.key);
  *id = reinterpret_cast<const unsigned char*>(own.identity.data());
  *size = own.identity.size();
  return *session != nullptr;
}

// An unknown name gets a key that nobody has.
int FindKey(SSL* ssl, const unsigned char* id, size_t size,
            SSL_SESSION** session) {
  auto* peer = static_cast<Peer*>(SSL_get_app_data(ssl));
  constexpr size_t kLongestIdentity = 64;
  if (size > kLongestIdentity) return 0;
  peer->identity.assign(reinterpret_cast<const char*>(id), size);
  *session = SessionOf(ssl, DeriveKey(peer->node->own.key, peer->identity));
  return *session != nullptr;
}

class TlsConnection final : public Connection {
 public:
  TlsConnection(const Tls::State& node, std::unique_ptr<Connection> plain)
      : plain_(std::move(plain)), peer_{&node, ""}, cipher_(kMostPlain) {}
  ~TlsConnection() override { SSL_free(ssl_); }

  Status Begin() {
    ssl_ = SSL_new(peer_.node->context);
    BIO* in = BIO_new(BIO_s_mem());
    BIO* out = BIO_new(BIO_s_mem());
    if (ssl_ == nullptr || in == nullptr || out == nullptr) {
      BIO_free(in);
      BIO_free(out);
      return Fail(StatusCode::kOutOfMemory, "no memory for a connection");
    }
    BIO_set_mem_eof_return(in, -1);
    SSL_set_bio(ssl_, in, out);
    in_ = in;
    out_ = out;
    SSL_set_app_data(ssl_, &peer_);
    if (peer_.node->side == Side::kServer) {
      SSL_set_accept_state(ssl_);
    } else {
      SSL_set_connect_state(ssl_);
    }
    return {};
  }

  StatusOr<size_t> Read(std::span<std::byte> bytes) override {
    MXC_RT_RETURN_IF_ERROR(Flush());
    while (true) {
      size_t count = 0;
      if (SSL_read_ex(ssl_, bytes.data(), bytes.size(), &count) == 1) {
        return count;
      }
      const StatusOr<bool> more = Feed();
      if (!more.ok()) return more.status();
      if (!*more) return size_t{0};
    }
  }

  StatusOr<size_t> Write(Bytes bytes) override {
    MXC_RT_RETURN_IF_ERROR(Flush());
    const size_t most = std::min(bytes.size(), kMostPlain);
    while (!unsent()) {
      size_t count = 0;
      if (SSL_write_ex(ssl_, bytes.data(), most, &count) == 1) {
        MXC_RT_RETURN_IF_ERROR(Flush());
        return count;
      }
      const StatusOr<bool> more = Feed();
      if (!more.ok()) return more.status();
      if (!*more) break;
    }
    return size_t{0};
  }

  bool unsent() const override {
    return BIO_ctrl_pending(out_) > 0 || plain_->unsent();
  }

  Status Flush() override {
    char* data = nullptr;
    while (true) {
      const long size = BIO_get_mem_data(out_, &data);
      if (size <= 0) return {};
      const StatusOr<size_t> sent =
          plain_->Write({reinterpret_cast<const std::byte*>(data),
                         static_cast<size_t>(size)});
      if (!sent.ok()) return sent.status();
      if (*sent == 0) return {};
      Discard(*sent);
    }
  }

  std::string peer() const override { return plain_->peer(); }
  std::string identity() const override {
    if (!SSL_is_init_finished(ssl_)) return "";
    return peer_.node->side == Side::kServer ? peer_.identity : "server";
  }
  bool local() const override { return plain_->local(); }
  int descriptor() const override { return plain_->descriptor(); }

 private:
  void Discard(size_t count) {
    while (count > 0) {
      const size_t some = std::min(count, cipher_.size());
      const int read = BIO_read(out_, cipher_.data(), static_cast<int>(some));
      if (read <= 0) return;
      count -= static_cast<size_t>(read);
    }
  }

  // After a call that did nothing: whether more has come from the other end.
  StatusOr<bool> Feed() {
    MXC_RT_RETURN_IF_ERROR(Check());
    MXC_RT_RETURN_IF_ERROR(Flush());
    const StatusOr<size_t> more = plain_->Read(cipher_);
    if (!more.ok()) return more.status();
    BIO_write(in_, cipher_.data(), static_cast<int>(*more));
    return *more > 0;
  }

  // Whether that call only has to wait.
  Status Check() {
    const int error = SSL_get_error(ssl_, 0);
    if (error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE) {
      return {};
    }
    const std::string reason = LastError();
    (void)Flush().ok();  // the alert, if it can still be sent
    return Fail(StatusCode::kIo, "%s: TLS: %s", peer().c_str(), reason.c_str());
  }

  const std::unique_ptr<Connection> plain_;
  Peer peer_;
  std::vector<std::byte> cipher_;
  SSL* ssl_ = nullptr;
  BIO *in_ = nullptr, *out_ = nullptr;  // owned by ssl_
};

}  // namespace

Tls::Tls(std::unique_ptr<State> state) : state_(std::move(state)) {}
Tls::~Tls() = default;

StatusOr<std::unique_ptr<Tls>> Tls::Make(Side side, const Credentials& own) {
  auto state = std::make_unique<State>();
  state->side = side;
  state->own = own;
  const bool serves = side == Side::kServer;
  state->context =
      SSL_CTX_new(serves ? TLS_server_method() : TLS_client_method());
  SSL_CTX* context = state->context;
  if (context == nullptr ||
      SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION) != 1 ||
      SSL_CTX_set_ciphersuites(context, kCipher) != 1 ||
      SSL_CTX_set_num_tickets(context, 0) != 1) {
    return Fail(StatusCode::kUnsupported, "OpenSSL lacks TLS 1.3: %s",
                LastError().c_str());
  }
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE |
                                SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  if (serves) {
    SSL_CTX_set_psk_find_session_callback(context, FindKey);
  } else {
    // Without the key a server could show a certificate, of anybody.
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
    SSL_CTX_set_psk_use_session_callback(context, OfferKey);
  }
  return std::unique_ptr<Tls>(new Tls(std::move(state)));
}

StatusOr<std::unique_ptr<Connection>> Tls::Secure(
    std::unique_ptr<Connection> plain) {
  auto connection = std::make_unique<TlsConnection>(*state_, std::move(plain));
  MXC_RT_RETURN_IF_ERROR(connection->Begin());
  return std::unique_ptr<Connection>(std::move(connection));
}

}  // namespace mxc::kvstore
