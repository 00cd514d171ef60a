// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/connection.h"

#include <algorithm>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/status.hpp>
#include <chrono>
#include <cstdio>
#include <optional>
#include <string_view>
#include <utility>

#include "runtime/base/clock.h"
#include "tools/serve/budget_body.h"

namespace mxc::serve {
namespace {

namespace http = boost::beast::http;

constexpr size_t kHeadPiece = 2 << 10;  // what an idle connection holds
constexpr size_t kPiece = 64 << 10;
constexpr uint32_t kLongestHead = 16 << 10;
constexpr int kWindow = 5;        // seconds in which some bytes must move
constexpr int kDrainSeconds = 5;  // for what a client still sends
constexpr size_t kLongestId = 128;

using Parser = http::request_parser<BudgetBody>;

bool IsId(std::string_view text) {
  return !text.empty() && text.size() <= kLongestId &&
         std::ranges::all_of(text, [](char c) { return c > ' ' && c < 127; });
}

std::string NewId() {
  static const int64_t start = runtime::Nanoseconds();
  static uint64_t count = 0;  // one thread reads all requests
  char text[40];
  std::snprintf(text, sizeof text, "%llx-%llx",
                static_cast<unsigned long long>(start),
                static_cast<unsigned long long>(++count));
  return text;
}

bool EqualsIgnoringCase(std::string_view a, std::string_view b) {
  return boost::beast::iequals({a.data(), a.size()}, {b.data(), b.size()});
}

std::string HeadOf(const Response& response, const Request& request,
                   bool keep) {
  const auto reason =
      http::obsolete_reason(static_cast<http::status>(response.status));
  std::string head = "HTTP/1.1 " + std::to_string(response.status) + " " +
                     std::string(reason.data(), reason.size()) + "\r\n";
  const auto add = [&](std::string_view name, std::string_view value) {
    head.append(name).append(": ").append(value).append("\r\n");
  };
  add("Content-Type", response.content_type);
  add("Content-Length", std::to_string(response.body.size()));
  for (const auto& [name, value] : response.headers) add(name, value);
  add("X-Request-Id", request.id);
  add("Connection", keep ? "keep-alive" : "close");
  return head + "\r\n";
}

}  // namespace

struct Connection::Exchange {
  explicit Exchange(ConnectionSite& site, const std::string& client)
      : request(std::make_shared<Request>()) {
    parser.header_limit(kLongestHead);
    parser.body_limit(site.limits.body_bytes);
    parser.get().body() = ByteBuffer(site.memory);
    request->id = NewId();
    request->client = client;
  }

  Parser parser;
  std::shared_ptr<Request> request;
  int status = 0;
};

Connection::Connection(ConnectionSite& site, std::unique_ptr<Stream> stream,
                       std::string client,
                       std::function<void(Connection&)> ended)
    : site_(site),
      stream_(std::move(stream)),
      client_(std::move(client)),
      ended_(std::move(ended)),
      timer_(site.io) {}

Connection::~Connection() = default;

void Connection::Start() {
  BeginRequest();
  // Who connects says something soon.
  Wait(site_.limits.head_seconds);
  ReadMore();
}

void Connection::StartRefusing(Response response) {
  BeginRequest();
  Answer(std::move(response), /*keep=*/false);
}

bool Connection::idle() const {
  return state_ == State::kHead && exchange_->request->begun == 0;
}

void Connection::FinishRequest() {
  if (idle() && !stream_->Ready()) End();
}

void Connection::DropIncomplete() {
  if (idle()) return End();
  if (state_ == State::kHead || state_ == State::kBody) RefuseSlow();
}

void Connection::RefuseSlow() {
  Answer(ErrorResponse(408, {"the request comes too slowly"}), false);
}

void Connection::BeginRequest() {
  exchange_ = std::make_unique<Exchange>(site_, client_);
  state_ = State::kHead;
}

void Connection::ReadMore() {
  if (std::exchange(reading_, true)) return;
  const size_t held = input_.size();
  const size_t room = state_ == State::kHead ? kHeadPiece : kPiece;
  input_.resize(held + room);
  stream_->Read(
      asio::buffer(input_.data() + held, room),
      [self = shared_from_this(), held](error_code error, size_t count) {
        self->reading_ = false;
        self->input_.resize(held + count);
        self->moved_ += count;
        self->AfterRead(error);
      });
}

void Connection::AfterRead(const error_code& error) {
  switch (state_) {
    case State::kHead:
    case State::kBody:
      return error ? Close() : Parse();
    case State::kEnding:
      input_.clear();
      return error ? Close() : ReadMore();
    default:
      return;  // it was too slow, and is told so
  }
}

void Connection::Parse() {
  Parser& parser = exchange_->parser;
  if (exchange_->request->begun == 0 && !input_.empty()) {
    exchange_->request->begun = runtime::Nanoseconds();
    Wait(site_.limits.head_seconds);
  }
  while (!parser.is_done()) {
    if (input_.empty()) return ReadMore();
    error_code error;
    const size_t used = parser.put(asio::buffer(input_), error);
    input_.erase(0, used);
    if (error == http::error::need_more) return ReadMore();
    if (error) return RefuseParse(error);
    if (state_ == State::kHead && parser.is_header_done() && !AfterHead()) {
      return;
    }
  }
  AfterBody();
}

bool Connection::AfterHead() {
  state_ = State::kBody;
  const auto& message = exchange_->parser.get();
  Request& request = *exchange_->request;
  const auto field = [&](http::field name) {
    const auto value = message[name];
    return std::string(value.data(), value.size());
  };
  request.method = std::string(message.method_string());
  request.content_type = field(http::field::content_type);
  request.content_encoding = field(http::field::content_encoding);
  request.authorization = field(http::field::authorization);
  request.range = field(http::field::range);
  const auto id = message["X-Request-Id"];
  if (IsId({id.data(), id.size()})) request.id = std::string(id);
  const auto target = message.target();
  std::optional<Response> refusal;
  if (!ParseTarget({target.data(), target.size()}, request)) {
    refusal = ErrorResponse(400, {"the target is no path"});
  } else {
    refusal = site_.application.Refuse(request);
  }
  const bool whole = exchange_->parser.is_done();
  if (refusal) {
    Answer(std::move(*refusal), whole && exchange_->parser.keep_alive());
    return false;
  }
  if (whole) return true;
  exchange_->parser.eager(true);
  moved_ = 0;
  Wait(kWindow);
  if (EqualsIgnoringCase(field(http::field::expect), "100-continue")) {
    static constexpr std::string_view kGoOn = "HTTP/1.1 100 Continue\r\n\r\n";
    stream_->Write(asio::buffer(kGoOn),
                   [self = shared_from_this()](error_code, size_t) {});
  }
  return true;
}

void Connection::RefuseParse(const error_code& error) {
  const auto answer = [&](int status, std::string why) {
    Answer(ErrorResponse(status, {std::move(why)}), /*keep=*/false);
  };
  if (error == http::error::body_limit) {
    answer(413, "the body is larger than " +
                    std::to_string(site_.limits.body_bytes) +
                    " bytes (--max-body)");
  } else if (error == http::error::header_limit) {
    answer(431, "the head is larger than " + std::to_string(kLongestHead) +
                    " bytes");
  } else if (error == boost::system::errc::not_enough_memory) {
    Answer(BusyResponse("bodies of other requests fill the memory"), false);
  } else if (error == http::error::bad_version) {
    answer(505, "HTTP/1.0 and HTTP/1.1 are spoken here");
  } else {
    answer(400, "this is no request that can be read: " + error.message());
  }
}

void Connection::AfterBody() {
  state_ = State::kAnswering;
  timer_.cancel();
  exchange_->request->body = std::move(exchange_->parser.get().body());
  const bool keep = exchange_->parser.keep_alive();
  site_.application.Handle(
      exchange_->request,
      // A worker's answer is waited for, though nothing else is left to do.
      [self = shared_from_this(), keep,
       work = asio::make_work_guard(site_.io)](Response response) {
        asio::post(self->site_.io,
                   [self, keep, response = std::move(response)]() mutable {
                     if (self->state_ != State::kAnswering) return;
                     self->Answer(std::move(response), keep);
                   });
      });
}

void Connection::Answer(Response response, bool keep) {
  keep_ = keep && !site_.stopping;
  state_ = State::kWriting;
  Request& request = *exchange_->request;
  request.body = ByteBuffer();
  exchange_->status = response.status;
  const std::string head = HeadOf(response, request, keep_);
  if (request.method == "HEAD") response.body.clear();
  output_ = std::move(response.body);
  output_.insert(0, head);
  written_ = 0;
  moved_ = 0;
  Wait(kWindow);
  WriteMore();
}

void Connection::WriteMore() {
  stream_->Write(asio::buffer(output_) + written_,
                 [self = shared_from_this()](error_code error, size_t count) {
                   if (self->state_ != State::kWriting) return;
                   self->written_ += count;
                   self->moved_ += count;
                   if (!error && self->written_ < self->output_.size()) {
                     return self->WriteMore();
                   }
                   self->AfterAnswer();
                   if (error) self->Close();
                 });
}

void Connection::AfterAnswer() {
  site_.application.Finished(*exchange_->request, exchange_->status, written_);
  output_ = {};
  if (!keep_) return End();
  if (input_.capacity() > kPiece && input_.size() < kHeadPiece) {
    input_.shrink_to_fit();
  }
  BeginRequest();
  if (site_.stopping && input_.empty() && !stream_->Ready()) return End();
  Wait(site_.limits.idle_seconds);
  Parse();
}

// The client may still send what nobody reads; closed with bytes in it, the
// socket would be reset, and the answer lost.
void Connection::End() {
  if (state_ == State::kEnding || state_ == State::kClosed) return;
  state_ = State::kEnding;
  stream_->EndWriting();
  Wait(kDrainSeconds);
  if (!reading_) input_.clear();
  ReadMore();
}

void Connection::Close() {
  if (state_ == State::kClosed) return;
  state_ = State::kClosed;
  timer_.cancel();
  stream_->Close();
  if (ended_) std::exchange(ended_, nullptr)(*this);
}

void Connection::Wait(int seconds) {
  timer_.expires_after(std::chrono::seconds(seconds));
  timer_.async_wait(
      [self = shared_from_this(), round = ++timer_round_](error_code error) {
        if (error || round != self->timer_round_) return;
        self->OnTime();
      });
}

void Connection::OnTime() {
  const int64_t lasted = runtime::Nanoseconds() - exchange_->request->begun;
  const int64_t most = int64_t{1'000'000'000} * site_.limits.request_seconds;
  const bool slow = moved_ < site_.limits.least_bytes;
  moved_ = 0;
  switch (state_) {
    case State::kHead:
      if (exchange_->request->begun == 0) return End();
      [[fallthrough]];
    case State::kBody:
      if (state_ == State::kBody && !slow && lasted < most) {
        return Wait(kWindow);
      }
      return RefuseSlow();
    case State::kWriting:
      if (!slow) return Wait(kWindow);
      [[fallthrough]];
    default:
      Close();
  }
}

}  // namespace mxc::serve
