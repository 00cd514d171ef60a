// SPDX-License-Identifier: Apache-2.0
#include "runtime/train/event_log.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <vector>

#include "runtime/base/file.h"
#include "runtime/formats/byte_reader.h"
#include "runtime/train/protobuf.h"

namespace mxc::train {
namespace {

namespace fs = std::filesystem;

using runtime::ByteReader;
using runtime::Bytes;

constexpr std::string_view kFilePrefix = "events.out.tfevents.";

// Field numbers of the protocol buffers, and the types of their encoding.
constexpr int kWallTime = 1, kStep = 2, kFileVersion = 3, kGraph = 4;
constexpr int kSummary = 5;
constexpr int kValue = 1;  // of Summary
// Of Summary.Value, SummaryMetadata and its PluginData.
constexpr int kTag = 1, kSimpleValue = 2, kHistogram = 5;
constexpr int kTensor = 8, kMetadata = 9;
constexpr int kPluginData = 1, kDataClass = 4;
constexpr int kPluginName = 1, kContent = 2;
constexpr uint64_t kClassTensor = 2;
// A TensorProto of floats with one axis and no elements: the value of what
// says all in its metadata.
constexpr std::string_view kNoElements("\x08\x01\x12\x02\x12\x00", 6);

constexpr std::array<uint32_t, 256> MakeCrcTable() {
  std::array<uint32_t, 256> table{};
  for (uint32_t i = 0; i < table.size(); ++i) {
    uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit) {
      crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78u : 0);
    }
    table[i] = crc;
  }
  return table;
}

uint32_t Masked(Bytes bytes) {
  const uint32_t crc = Crc32c(bytes);
  return (crc >> 15 | crc << 17) + 0xa282ead8u;
}

std::string NewEvent() {
  std::string event;
  PutFixed(event, kWallTime, WallTime());
  return event;
}

// Walks the fields of a message. What one has no use for is stepped over.
class FieldReader {
 public:
  explicit FieldReader(Bytes bytes) : reader_(bytes) {}

  bool Next() {
    uint64_t key = 0, size = 0;
    if (reader_.left() == 0 || !ReadVarint(&key)) return false;
    field_ = static_cast<int64_t>(key >> 3);
    switch (key & 7) {
      case kVarint:
        return ReadVarint(&number_);
      case kFixed64:
        return reader_.Take(8, &bytes_);
      case kFixed32:
        return reader_.Take(4, &bytes_);
      case kCounted:
        return ReadVarint(&size) && reader_.Take(size, &bytes_);
      default:
        return false;
    }
  }

  int64_t field() const { return field_; }
  uint64_t number() const { return number_; }
  Bytes bytes() const { return bytes_; }

 private:
  bool ReadVarint(uint64_t* value) {
    *value = 0;
    uint8_t byte = 0x80;
    for (int shift = 0; shift < 64 && (byte & 0x80) != 0; shift += 7) {
      if (!reader_.Read(&byte)) return false;
      *value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    }
    return (byte & 0x80) == 0;
  }

  ByteReader reader_;
  int64_t field_ = 0;
  uint64_t number_ = 0;
  Bytes bytes_;
};

// `at` is the point's step and time.
void ParseValue(Bytes bytes, Point at, SeriesMap& series) {
  std::string tag;
  float value = 0;
  bool has_value = false;
  for (FieldReader reader(bytes); reader.Next();) {
    if (reader.field() == kTag) {
      tag.assign(reinterpret_cast<const char*>(reader.bytes().data()),
                 reader.bytes().size());
    } else if (reader.field() == kSimpleValue) {
      has_value = ByteReader(reader.bytes()).Read(&value);
    }
  }
  at.value = static_cast<double>(value);
  if (has_value) series[tag].push_back(at);
}

void ParseEvent(Bytes bytes, SeriesMap& series) {
  Point at{0, 0};
  for (FieldReader reader(bytes); reader.Next();) {
    if (reader.field() == kStep) {
      at.step = static_cast<int64_t>(reader.number());
    } else if (reader.field() == kWallTime) {
      (void)ByteReader(reader.bytes()).Read(&at.time);
    }
  }
  for (FieldReader event(bytes); event.Next();) {
    if (event.field() != kSummary) continue;
    for (FieldReader summary(event.bytes()); summary.Next();) {
      if (summary.field() == kValue) ParseValue(summary.bytes(), at, series);
    }
  }
}

}  // namespace

double WallTime() {
  return std::chrono::duration<double>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

uint32_t Crc32c(Bytes bytes) {
  static constexpr std::array<uint32_t, 256> kTable = MakeCrcTable();
  uint32_t crc = ~0u;
  for (const std::byte b : bytes) {
    crc = crc >> 8 ^ kTable[(crc ^ static_cast<uint32_t>(b)) & 0xff];
  }
  return ~crc;
}

StatusOr<EventLog> EventLog::Create(const std::string& folder) {
  char host[256] = "localhost";
  gethostname(host, sizeof host - 1);
  StatusOr<runtime::LogFile> file = runtime::LogFile::Create(Format(
      "%s/%s%.6f.%s.%d", folder.c_str(), std::string(kFilePrefix).c_str(),
      WallTime(), host, static_cast<int>(getpid())));
  if (!file.ok()) return file.status();
  EventLog log(std::move(*file));
  std::string event = NewEvent();
  PutCounted(event, kFileVersion, "brain.Event:2");
  log.WriteRecord(event);
  return log;
}

void EventLog::Write(int64_t step, std::span<const Scalar> scalars) {
  std::string summary;
  for (const auto& [tag, value] : scalars) {
    std::string entry;
    PutCounted(entry, kTag, tag);
    PutFixed(entry, kSimpleValue, static_cast<float>(value));
    PutCounted(summary, kValue, entry);
  }
  WriteSummary(step, summary);
}

void EventLog::WriteHistogram(int64_t step, std::string_view tag,
                              const Histogram& histogram) {
  std::string entry, summary;
  PutCounted(entry, kTag, tag);
  PutCounted(entry, kHistogram, HistogramMessage(histogram));
  PutCounted(summary, kValue, entry);
  WriteSummary(step, summary);
}

void EventLog::WritePlugin(std::string_view tag, std::string_view plugin,
                           std::string_view content) {
  std::string data, metadata, entry, summary;
  PutCounted(data, kPluginName, plugin);
  PutCounted(data, kContent, content);
  PutCounted(metadata, kPluginData, data);
  PutKey(metadata, kDataClass, kVarint);
  PutVarint(metadata, kClassTensor);
  PutCounted(entry, kTag, tag);
  PutCounted(entry, kTensor, kNoElements);
  PutCounted(entry, kMetadata, metadata);
  PutCounted(summary, kValue, entry);
  WriteSummary(0, summary);
}

void EventLog::WriteGraph(const std::vector<NetworkNode>& nodes) {
  std::string event = NewEvent();
  PutCounted(event, kGraph, GraphMessage(nodes));
  WriteRecord(event);
}

void EventLog::WriteSummary(int64_t step, const std::string& summary) {
  std::string event = NewEvent();
  PutKey(event, kStep, kVarint);
  PutVarint(event, static_cast<uint64_t>(step));
  PutCounted(event, kSummary, summary);
  WriteRecord(event);
}

void EventLog::WriteRecord(const std::string& event) {
  const uint64_t size = event.size();
  const Bytes size_bytes = std::as_bytes(std::span(&size, 1));
  const uint32_t size_crc = Masked(size_bytes);
  const uint32_t event_crc = Masked(std::as_bytes(std::span(event)));
  std::string record;
  record.append(reinterpret_cast<const char*>(&size), sizeof size);
  record.append(reinterpret_cast<const char*>(&size_crc), sizeof size_crc);
  record += event;
  record.append(reinterpret_cast<const char*>(&event_crc), sizeof event_crc);
  const Status written = file_.Append(std::as_bytes(std::span(record)));
  if (status_.ok()) status_ = written;
}

void ParseEvents(Bytes bytes, SeriesMap& series) {
  ByteReader reader(bytes);
  uint64_t size = 0;
  uint32_t size_crc = 0, event_crc = 0;
  Bytes event;
  while (reader.Read(&size) && reader.Read(&size_crc) &&
         size_crc == Masked(std::as_bytes(std::span(&size, 1))) &&
         reader.Take(size, &event) && reader.Read(&event_crc) &&
         event_crc == Masked(event)) {
    ParseEvent(event, series);
  }
}

SeriesMap ReadEvents(const std::string& folder, int64_t last_step) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end;
       it.increment(error)) {
    if (it->path().filename().string().starts_with(kFilePrefix)) {
      files.push_back(it->path());
    }
  }
  std::ranges::sort(files);
  SeriesMap all;
  for (const fs::path& path : files) {
    const auto file = runtime::MappedFile::Open(path.string());
    if (!file.ok()) continue;
    SeriesMap series;
    ParseEvents(file->bytes(), series);
    for (auto& [tag, points] : series) {
      std::vector<Point>& whole = all[tag];
      while (!whole.empty() && whole.back().step >= points.front().step) {
        whole.pop_back();
      }
      whole.insert(whole.end(), points.begin(), points.end());
    }
  }
  for (auto& [tag, points] : all) {
    std::erase_if(points, [&](const Point& p) { return p.step > last_step; });
  }
  return all;
}

}  // namespace mxc::train
