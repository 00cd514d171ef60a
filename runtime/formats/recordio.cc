// SPDX-License-Identifier: Apache-2.0
#include "runtime/formats/recordio.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "runtime/formats/byte_reader.h"

namespace mxc::runtime {
namespace {

constexpr uint32_t kRecordMagic = 0xced7230a;
constexpr uint64_t kHeaderBytes = 8;
constexpr uint32_t kLengthBits = 29;
constexpr uint32_t kMostLength = (1u << kLengthBits) - 1;
constexpr size_t kImageHeaderBytes = 24;

enum PartFlag : uint32_t { kWhole = 0, kFirst = 1, kMiddle = 2, kLast = 3 };

uint32_t Word(Bytes file, uint64_t offset) {
  uint32_t word;
  std::memcpy(&word, file.data() + offset, sizeof word);
  return word;
}

struct Part {
  uint32_t flag = 0;
  Bytes payload;
  uint64_t end = 0;  // with the padding
};

// Nothing where no part begins at `offset`, or it is cut short.
std::optional<Part> PartAt(Bytes file, uint64_t offset) {
  if (!Within(offset, kHeaderBytes, file.size())) return std::nullopt;
  if (Word(file, offset) != kRecordMagic) return std::nullopt;
  const uint32_t word = Word(file, offset + 4);
  const uint64_t length = word & kMostLength;
  const uint64_t padded = (length + 3) / 4 * 4;
  const uint64_t begin = offset + kHeaderBytes;
  const auto payload = Slice(file, begin, length);
  if (!payload || !Within(begin, padded, file.size())) return std::nullopt;
  return Part{word >> kLengthBits, *payload, begin + padded};
}

bool BeginsRecord(const Part& part) {
  return part.flag == kWhole || part.flag == kFirst;
}

// The next place at or after `offset` where a record may begin.
uint64_t NextHeader(Bytes file, uint64_t offset) {
  for (; Within(offset, kHeaderBytes, file.size()); offset += 4) {
    if (Word(file, offset) != kRecordMagic) continue;
    const uint32_t flag = Word(file, offset + 4) >> kLengthBits;
    if (flag == kWhole || flag == kFirst) return offset;
  }
  return file.size();
}

}  // namespace

std::optional<uint64_t> EndOfRecord(Bytes file, uint64_t offset) {
  std::optional<Part> part = PartAt(file, offset);
  if (!part || !BeginsRecord(*part)) return std::nullopt;
  bool last = part->flag == kWhole;
  while (!last) {
    part = PartAt(file, part->end);
    if (!part || (part->flag != kMiddle && part->flag != kLast)) {
      return std::nullopt;
    }
    last = part->flag == kLast;
  }
  // A wrong length leads elsewhere.
  const bool leads_on =
      part->end == file.size() || (Within(part->end, 4, file.size()) &&
                                   Word(file, part->end) == kRecordMagic);
  if (!leads_on) return std::nullopt;
  return part->end;
}

RecordIndex IndexRecords(Bytes file) {
  RecordIndex index;
  uint64_t offset = 0;
  while (offset < file.size()) {
    if (const auto end = EndOfRecord(file, offset)) {
      index.offsets.push_back(offset);
      offset = *end;
      continue;
    }
    const uint64_t next = NextHeader(file, offset + 4);
    if (!index.damage.empty() && index.damage.back().end == offset) {
      index.damage.back().end = next;
    } else {
      index.damage.push_back({offset, next});
    }
    offset = next;
  }
  return index;
}

StatusOr<Bytes> ReadRecord(Bytes file, uint64_t offset,
                           std::vector<std::byte>* joined) {
  if (!EndOfRecord(file, offset)) {
    return Fail(StatusCode::kCorrupt, "no record begins at byte %llu",
                static_cast<unsigned long long>(offset));
  }
  std::optional<Part> part = PartAt(file, offset);
  if (part->flag == kWhole) return part->payload;
  joined->assign(part->payload.begin(), part->payload.end());
  const auto magic = std::as_bytes(std::span(&kRecordMagic, 1));
  while (part->flag != kLast) {
    part = PartAt(file, part->end);
    joined->insert(joined->end(), magic.begin(), magic.end());
    joined->insert(joined->end(), part->payload.begin(), part->payload.end());
  }
  return Bytes(*joined);
}

StatusOr<uint64_t> RecordWriter::Append(Bytes payload) {
  if (payload.size() > kMostLength) {
    return Fail(StatusCode::kInvalidArgument,
                "recordio: a record of %zu bytes exceeds %u", payload.size(),
                kMostLength);
  }
  const uint64_t begin = offset_;
  uint64_t part = 0;  // where the part begins
  for (uint64_t at = 0; Within(at, 4, payload.size()); at += 4) {
    if (Word(payload, at) != kRecordMagic) continue;
    AppendPart(part == 0 ? kFirst : kMiddle, payload.subspan(part, at - part));
    part = at + 4;
  }
  AppendPart(part == 0 ? kWhole : kLast, payload.subspan(part));
  return begin;
}

void RecordWriter::AppendPart(uint32_t flag, Bytes payload) {
  const auto length = static_cast<uint32_t>(payload.size());
  file_.AppendScalar(kRecordMagic);
  file_.AppendScalar(flag << kLengthBits | length);
  file_.Append(payload);
  const std::string padding((4 - length % 4) % 4, '\0');
  file_.Append(padding);
  offset_ += kHeaderBytes + length + padding.size();
}

StatusOr<ImageRecord> ParseImageRecord(Bytes payload) {
  ByteReader reader(payload);
  uint32_t count = 0;
  float label = 0;
  ImageRecord record;
  if (!reader.Read(&count) || !reader.Read(&label) ||
      !reader.Read(&record.id) || !reader.Read(&record.second_id)) {
    return Fail(StatusCode::kCorrupt,
                "%zu bytes are too few for a record's header of %zu",
                payload.size(), kImageHeaderBytes);
  }
  Bytes labels;
  if (!reader.Take(size_t{count} * sizeof(float), &labels)) {
    return Fail(StatusCode::kCorrupt, "%u labels announced, %zu bytes there",
                count, reader.left());
  }
  record.labels.assign(1, label);
  if (count > 0) {
    record.labels.resize(count);
    std::memcpy(record.labels.data(), labels.data(), labels.size());
  }
  record.content = payload.subspan(reader.offset());
  return record;
}

std::vector<std::byte> PackImageRecord(const ImageRecord& record) {
  const bool in_header = record.labels.size() == 1;
  const auto count =
      in_header ? 0u : static_cast<uint32_t>(record.labels.size());
  const float label = in_header ? record.labels[0] : 0;
  const Bytes parts[] = {std::as_bytes(std::span(&count, 1)),
                         std::as_bytes(std::span(&label, 1)),
                         std::as_bytes(std::span(&record.id, 1)),
                         std::as_bytes(std::span(&record.second_id, 1)),
                         std::as_bytes(std::span(record.labels))
                             .first(size_t{count} * sizeof(float)),
                         record.content};
  size_t size = 0;
  for (const Bytes part : parts) size += part.size();
  std::vector<std::byte> payload(size);
  std::byte* to = payload.data();
  for (const Bytes part : parts) to = std::copy(part.begin(), part.end(), to);
  return payload;
}

}  // namespace mxc::runtime
