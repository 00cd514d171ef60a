// SPDX-License-Identifier: Apache-2.0
#include "runtime/remote/upload.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "runtime/base/start_thread.h"

namespace mxc::remote {
namespace {

using runtime::Status;
using runtime::StatusCode;
using runtime::StatusOr;

constexpr size_t kMostSenders = 4;

// The parts of one object, dealt to threads.
class Parts {
 public:
  Parts(const Location& location, const Source& source, uint64_t part_bytes,
        const std::function<Question(size_t part)>& question)
      : location_(location),
        source_(source),
        part_bytes_(part_bytes),
        question_(question),
        tags_((source.bytes + part_bytes - 1) / part_bytes) {}

  size_t count() const { return tags_.size(); }
  // On each of several threads.
  void Work();
  StatusOr<std::vector<std::string>> Tags();

 private:
  Status Send(Session& session, size_t part);
  void Stop(Status status);

  const Location& location_;
  const Source& source_;
  const uint64_t part_bytes_;
  const std::function<Question(size_t part)>& question_;
  std::vector<std::string> tags_;  // each written by one thread
  std::atomic<size_t> next_ = 0;
  std::atomic<bool> over_ = false;
  std::mutex mutex_;
  Status status_;  // the first failure
};

Status Parts::Send(Session& session, size_t part) {
  Question question = question_(part);
  const uint64_t offset = part * part_bytes_;
  question.method = "PUT";
  question.sent = {source_.file, offset,
                   std::min(part_bytes_, source_.bytes - offset)};
  question.unwanted = &over_;
  Answer answer = session.AskPatiently(location_, question);
  if (over_) return {};
  if (!answer.whole()) return Refusal(location_, answer, "write");
  tags_[part] = std::move(answer.etag);
  return {};
}

void Parts::Stop(Status status) {
  const std::lock_guard lock(mutex_);
  if (status_.ok()) status_ = std::move(status);
  over_ = true;
}

void Parts::Work() {
  const auto session = Session::Open();
  if (!session.ok()) return Stop(session.status());
  for (size_t part; !over_ && (part = next_++) < count();) {
    Status status = Send(**session, part);
    if (!status.ok()) return Stop(std::move(status));
  }
}

StatusOr<std::vector<std::string>> Parts::Tags() {
  MXC_RT_RETURN_IF_ERROR(status_);
  return std::move(tags_);
}

}  // namespace

uint64_t PartBytes(uint64_t bytes, uint64_t most_parts) {
  return std::max(kPartBytes, (bytes + most_parts - 1) / most_parts);
}

Status PutWhole(const Location& location, const Source& source,
                Question question) {
  MXC_RT_ASSIGN(const auto session, Session::Open());
  question.method = "PUT";
  question.sent = {source.file, 0, source.bytes};
  const Answer answer = session->AskPatiently(location, question);
  return answer.whole() ? Status() : Refusal(location, answer, "write");
}

StatusOr<std::vector<std::string>> PutParts(
    const Location& location, const Source& source, uint64_t part_bytes,
    const std::function<Question(size_t part)>& question) {
  Parts parts(location, source, part_bytes, question);
  std::vector<std::thread> threads;
  try {
    while (threads.size() < std::min(kMostSenders, parts.count())) {
      threads.push_back(
          runtime::StartThread("writes an object", [&parts] { parts.Work(); }));
    }
  } catch (const std::system_error& failure) {
    if (threads.empty()) return Status(StatusCode::kIo, failure.what());
  }
  for (std::thread& thread : threads) thread.join();
  return parts.Tags();
}

}  // namespace mxc::remote
