// SPDX-License-Identifier: Apache-2.0
#include "runtime/kvstore/transport/tls.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "runtime/kvstore/openssl.h"
#include "runtime/kvstore/transport/tls_stage.h"

namespace mxc::kvstore {

struct Tls::State {
  const OpenSsl* openssl = nullptr;
  Side side = Side::kClient;
  Credentials own;
  SSL_CTX* context = nullptr;
  ~State() { openssl->SSL_CTX_free(context); }
};

namespace {

constexpr const char* kCipher = "TLS_AES_128_GCM_SHA256";
constexpr size_t kRecordBytes = 17 << 10;  // with all that TLS adds
constexpr size_t kReadBytes = 128 << 10;   // by one call of the system
constexpr unsigned char kCipherNumber[] = {0x13, 0x01};

// What the two callbacks of OpenSSL need of a connection.
struct Peer {
  const Tls::State* node;
  std::string identity;  // of the other end, once it has named itself
};

// Whoever has a Tls has OpenSSL.
const OpenSsl& Functions() { return **OpenSsl::Get(); }

Peer* PeerOf(const SSL* ssl) {
  return static_cast<Peer*>(Functions().SSL_get_ex_data(ssl, 0));
}

std::string LastError() {
  const OpenSsl& openssl = Functions();
  const unsigned long code = openssl.ERR_get_error();
  openssl.ERR_clear_error();
  const char* reason =
      code == 0 ? nullptr : openssl.ERR_reason_error_string(code);
  return reason == nullptr ? "no reason is known" : reason;
}

SSL_SESSION* SessionOf(SSL* ssl, const Key& key) {
  const OpenSsl& openssl = Functions();
  SSL_SESSION* session = openssl.SSL_SESSION_new();
  const SSL_CIPHER* cipher = openssl.SSL_CIPHER_find(ssl, kCipherNumber);
  if (session == nullptr || cipher == nullptr ||
      openssl.SSL_SESSION_set1_master_key(
          session, reinterpret_cast<const unsigned char*>(key.data()),
          key.size()) != 1 ||
      openssl.SSL_SESSION_set_cipher(session, cipher) != 1 ||
      openssl.SSL_SESSION_set_protocol_version(session, TLS1_3_VERSION) != 1) {
    openssl.SSL_SESSION_free(session);
    return nullptr;
  }
  return session;
}

int OfferKey(SSL* ssl, const EVP_MD*, const unsigned char** id, size_t* size,
             SSL_SESSION** session) {
  const auto* peer = PeerOf(ssl);
  const Credentials& own = peer->node->own;
  *session = SessionOf(ssl, own.key);
  *id = reinterpret_cast<const unsigned char*>(own.identity.data());
  *size = own.identity.size();
  return *session != nullptr;
}

// An unknown name gets a key that nobody has.
int FindKey(SSL* ssl, const unsigned char* id, size_t size,
            SSL_SESSION** session) {
  auto* peer = PeerOf(ssl);
  constexpr size_t kLongestIdentity = 64;
  if (size > kLongestIdentity) return 0;
  peer->identity.assign(reinterpret_cast<const char*>(id), size);
  *session = SessionOf(ssl, DeriveKey(peer->node->own.key, peer->identity));
  return *session != nullptr;
}

class TlsConnection final : public Connection {
 public:
  TlsConnection(const Tls::State& node, std::unique_ptr<Connection> plain)
      : openssl_(Functions()), plain_(std::move(plain)), peer_{&node, ""} {
    stages_.in = plain_.get();
  }
  ~TlsConnection() override { openssl_.SSL_free(ssl_); }

  Status Begin() {
    ssl_ = openssl_.SSL_new(peer_.node->context);
    BIO* bio = MakeBio(stages_);
    if (ssl_ == nullptr || bio == nullptr) {
      return Fail(StatusCode::kOutOfMemory, "no memory for a connection");
    }
    openssl_.SSL_set_bio(ssl_, bio, bio);
    openssl_.SSL_set_ex_data(ssl_, 0, &peer_);
    if (peer_.node->side == Side::kServer) {
      openssl_.SSL_set_accept_state(ssl_);
    } else {
      openssl_.SSL_set_connect_state(ssl_);
    }
    return {};
  }

  StatusOr<size_t> Read(std::span<std::byte> bytes) override {
    MXC_RT_RETURN_IF_ERROR(ended_);
    MXC_RT_RETURN_IF_ERROR(Flush());
    size_t done = 0;
    while (done < bytes.size()) {
      size_t count = 0;
      if (openssl_.SSL_read_ex(ssl_, bytes.data() + done, bytes.size() - done,
                               &count) == 1) {
        done += count;
        continue;
      }
      const StatusOr<bool> more = MayGoOn();
      if (more.ok() && *more) continue;
      if (!more.ok() && done == 0) return more.status();
      if (!more.ok()) ended_ = more.status();  // what has come is not lost
      break;
    }
    return done;
  }

  using Connection::Write;
  StatusOr<size_t> Write(Bytes first, Bytes second) override {
    if (first.size() + second.size() > together_.size()) {
      const StatusOr<size_t> done = WritePiece(first);
      if (!done.ok() || *done < first.size()) return done;
      const StatusOr<size_t> rest = WritePiece(second);
      return rest.ok() ? *done + *rest : rest;
    }
    CopyBytes(first, together_);
    CopyBytes(second, std::span(together_).subspan(first.size()));
    return WritePiece(Bytes(together_).first(first.size() + second.size()));
  }

  bool unsent() const override {
    return stages_.out.size() > 0 || plain_->unsent();
  }

  Status Flush() override {
    while (stages_.out.size() > 0) {
      const StatusOr<size_t> sent = plain_->Write(stages_.out.bytes());
      if (!sent.ok()) return sent.status();
      if (*sent == 0) return {};
      stages_.out.Drop(*sent);
    }
    return {};
  }

  std::string peer() const override { return plain_->peer(); }
  std::string identity() const override {
    if (!openssl_.SSL_is_init_finished(ssl_)) return "";
    return peer_.node->side == Side::kServer ? peer_.identity : "server";
  }
  bool local() const override { return plain_->local(); }
  int descriptor() const override { return plain_->descriptor(); }

 private:
  // Collects records; Flush sends them, here where there is no room for more.
  StatusOr<size_t> WritePiece(Bytes bytes) {
    size_t done = 0;
    while (done < bytes.size()) {
      if (stages_.out.room().size() < kRecordBytes) {
        MXC_RT_RETURN_IF_ERROR(Flush());
        if (stages_.out.size() > 0) break;
      }
      size_t count = 0;
      const Bytes rest = bytes.subspan(done);
      if (openssl_.SSL_write_ex(ssl_, rest.data(), rest.size(), &count) == 1) {
        done += count;
        continue;
      }
      const StatusOr<bool> more = MayGoOn();
      if (!more.ok()) return more.status();
      if (!*more) break;
    }
    return done;
  }

  // After a call that did nothing: whether another one might. An error: it does
  // not only have to wait.
  StatusOr<bool> MayGoOn() {
    const int error = openssl_.SSL_get_error(ssl_, 0);
    if (error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE) {
      MXC_RT_RETURN_IF_ERROR(Flush());
      return error == SSL_ERROR_WANT_WRITE && stages_.out.size() == 0;
    }
    const std::string reason = LastError();
    MXC_RT_RETURN_IF_ERROR(stages_.in_failed);
    (void)Flush().ok();  // the alert, if it can still be sent
    return Fail(StatusCode::kIo, "%s: TLS: %s", peer().c_str(), reason.c_str());
  }

  const OpenSsl& openssl_;
  const std::unique_ptr<Connection> plain_;
  Peer peer_;
  Stages stages_;
  // Small frames become a record as a whole.
  std::array<std::byte, 4 << 10> together_ = {};
  Status ended_;
  SSL* ssl_ = nullptr;
};

}  // namespace

Tls::Tls(std::unique_ptr<State> state) : state_(std::move(state)) {}
Tls::~Tls() = default;

StatusOr<std::unique_ptr<Tls>> Tls::Make(Side side, const Credentials& own) {
  const auto loaded = OpenSsl::Get();
  if (!loaded.ok()) return loaded.status();
  const OpenSsl& openssl = **loaded;
  auto state = std::make_unique<State>();
  state->openssl = &openssl;
  state->side = side;
  state->own = own;
  const bool serves = side == Side::kServer;
  state->context = openssl.SSL_CTX_new(serves ? openssl.TLS_server_method()
                                              : openssl.TLS_client_method());
  SSL_CTX* context = state->context;
  if (context == nullptr ||
      openssl.SSL_CTX_ctrl(context, SSL_CTRL_SET_MIN_PROTO_VERSION,
                           TLS1_3_VERSION, nullptr) != 1 ||
      openssl.SSL_CTX_set_ciphersuites(context, kCipher) != 1 ||
      openssl.SSL_CTX_set_num_tickets(context, 0) != 1) {
    return Fail(StatusCode::kUnsupported, "OpenSSL lacks TLS 1.3: %s",
                LastError().c_str());
  }
  openssl.SSL_CTX_set_default_read_buffer_len(context, kReadBytes);
  openssl.SSL_CTX_ctrl(context, SSL_CTRL_SET_READ_AHEAD, 1, nullptr);
  openssl.SSL_CTX_ctrl(context, SSL_CTRL_SET_SESS_CACHE_MODE,
                       SSL_SESS_CACHE_OFF, nullptr);
  openssl.SSL_CTX_ctrl(
      context, SSL_CTRL_MODE,
      SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER,
      nullptr);
  if (serves) {
    openssl.SSL_CTX_set_psk_find_session_callback(context, FindKey);
  } else {
    // Without the key a server could show a certificate, of anybody.
    openssl.SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
    openssl.SSL_CTX_set_psk_use_session_callback(context, OfferKey);
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
