// SPDX-License-Identifier: Apache-2.0
#include "runtime/kvstore/journal.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

#include "runtime/base/checksum.h"
#include "runtime/base/file.h"
#include "runtime/formats/byte_reader.h"

namespace mxc::kvstore {
namespace {

constexpr uint32_t kRecordMagic = 0x4a4b584d;            // "MXKJ"
constexpr uint32_t kLeft = 1, kLost = 2, kReplaced = 4;  // of a worker

struct RecordHeader {
  uint32_t magic, kind, index, flags;
  uint64_t number, workers, state_bytes, sum;
};

uint64_t SumOf(RecordHeader header, Bytes body) {
  header.sum = 0;
  runtime::RunningChecksum sum;
  sum.Add(std::as_bytes(std::span(&header, 1)));
  sum.Add(body);
  return sum.value();
}

// The next record; false where there is none that is whole.
bool ReadRecord(runtime::ByteReader& reader, JournalRecord& record) {
  RecordHeader header;
  Bytes applied, state;
  if (!reader.Read(&header) || header.magic != kRecordMagic) return false;
  const auto applied_bytes =
      runtime::Multiply(header.workers, sizeof(uint64_t));
  if (!applied_bytes || !reader.Take(*applied_bytes, &applied) ||
      !reader.Take(header.state_bytes, &state)) {
    return false;
  }
  // The two lie side by side.
  const Bytes body(applied.data(), applied.size() + state.size());
  if (SumOf(header, body) != header.sum) return false;
  record.kind = static_cast<JournalRecord::Kind>(header.kind);
  record.index = header.index;
  record.number = header.number;
  record.left = (header.flags & kLeft) != 0;
  record.lost = (header.flags & kLost) != 0;
  record.replaced = (header.flags & kReplaced) != 0;
  record.applied.resize(header.workers);
  CopyBytes(applied, std::as_writable_bytes(std::span(record.applied)));
  record.state = state;
  return true;
}

// "PATH.7" of all there are, the newest first.
std::vector<uint64_t> GenerationsOf(const std::string& path) {
  namespace fs = std::filesystem;
  std::vector<uint64_t> found;
  const fs::path full(path);
  const std::string stem = full.filename().string() + ".";
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(
           full.has_parent_path() ? full.parent_path() : ".", error)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(stem)) continue;
    char* end = nullptr;
    const uint64_t number = std::strtoull(name.c_str() + stem.size(), &end, 10);
    if (*end == '\0') found.push_back(number);
  }
  std::ranges::sort(found, std::greater());
  return found;
}

}  // namespace

std::vector<std::byte> EncodeRecord(const JournalRecord& record) {
  RecordHeader header = {kRecordMagic,
                         static_cast<uint32_t>(record.kind),
                         record.index,
                         (record.left ? kLeft : 0) | (record.lost ? kLost : 0) |
                             (record.replaced ? kReplaced : 0),
                         record.number,
                         record.applied.size(),
                         record.state.size(),
                         0};
  const Bytes applied = std::as_bytes(std::span(record.applied));
  std::vector<std::byte> bytes;
  bytes.reserve(sizeof header + applied.size() + record.state.size());
  bytes.resize(sizeof header);
  bytes.insert(bytes.end(), applied.begin(), applied.end());
  bytes.insert(bytes.end(), record.state.begin(), record.state.end());
  header.sum = SumOf(header, Bytes(bytes).subspan(sizeof header));
  std::memcpy(bytes.data(), &header, sizeof header);
  return bytes;
}

std::optional<JournalRecord> DecodeRecord(Bytes bytes) {
  runtime::ByteReader reader(bytes);
  JournalRecord record;
  if (!ReadRecord(reader, record) || reader.left() != 0) return std::nullopt;
  return record;
}

StatusOr<bool> ReadJournal(
    Bytes bytes, const std::function<Status(const JournalRecord&)>& restore) {
  bool marked = false;
  runtime::ByteReader scan(bytes), reader(bytes);
  JournalRecord record;
  while (!marked && ReadRecord(scan, record)) {
    marked = record.kind == JournalRecord::Kind::kMark;
  }
  while (marked && ReadRecord(reader, record)) {
    if (record.kind == JournalRecord::Kind::kMark) continue;
    MXC_RT_RETURN_IF_ERROR(restore(record));
  }
  return marked;
}

std::string Journal::File(uint64_t generation) const {
  return path_ + "." + std::to_string(generation);
}

StatusOr<Journal> Journal::Open(
    const std::string& path,
    const std::function<Status(const JournalRecord&)>& restore) {
  Journal journal(path);
  journal.older_ = GenerationsOf(path);
  if (journal.older_.empty()) return journal;
  journal.generation_ = journal.older_.front();
  for (const uint64_t generation : journal.older_) {
    const auto file = runtime::MappedFile::Open(journal.File(generation));
    if (!file.ok()) return file.status();
    const StatusOr<bool> read = ReadJournal(file->bytes(), restore);
    if (!read.ok()) {
      return Fail(read.status().code(), "%s: %s",
                  journal.File(generation).c_str(),
                  read.status().message().c_str());
    }
    if (*read) break;
  }
  return journal;
}

Status Journal::Begin() {
  if (file_) older_.push_back(generation_);
  auto file = runtime::LogFile::Create(File(++generation_));
  if (!file.ok()) return file.status();
  file_ = std::move(*file);
  written_ = 0;
  return {};
}

Status Journal::Mark() {
  MXC_RT_RETURN_IF_ERROR(Append({}));
  marked_ = written_;
  for (const uint64_t generation : std::exchange(older_, {})) {
    std::error_code ignored;
    std::filesystem::remove(File(generation), ignored);
  }
  return {};
}

Status Journal::Append(const JournalRecord& record) {
  return AppendEncoded(EncodeRecord(record));
}

Status Journal::AppendEncoded(Bytes record) {
  written_ += record.size();
  return file_->Append(record);
}

void Journal::Remove() {
  older_.push_back(generation_);
  for (const uint64_t generation : std::exchange(older_, {})) {
    std::error_code ignored;
    std::filesystem::remove(File(generation), ignored);
  }
}

}  // namespace mxc::kvstore
