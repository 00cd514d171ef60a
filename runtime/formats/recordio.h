// SPDX-License-Identifier: Apache-2.0
// MXNet's RecordIO (`.rec`): records back to back, each of one or several
// parts.
//
//   part:  u32 0xced7230a · u32 flag << 29 | length · payload · zeros to 4
//   bytes flag:  0 a whole record · 1 first · 2 middle · 3 last part
//
// A record is cut wherever the magic number stands in its payload at a multiple
// of four bytes; the number itself is left out, and put back between the parts.
// So no payload in the file holds it there, and a reader finds its way back
// behind damage by looking for it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/base/bytes.h"
#include "runtime/base/file_writer.h"
#include "runtime/base/status.h"

namespace mxc::runtime {

// Bytes that are part of no record.
struct DamagedBytes {
  uint64_t begin = 0, end = 0;
};

struct RecordIndex {
  std::vector<uint64_t> offsets;  // of the first part of every whole record
  std::vector<DamagedBytes> damage;
};

// Looks at the parts' headers alone. What is cut short, or does not lead to
// another header or to the end, is damage; reading goes on at the next header
// that can begin a record.
RecordIndex IndexRecords(Bytes file);

// Behind the record that begins at `offset`; nothing where it is damaged.
std::optional<uint64_t> EndOfRecord(Bytes file, uint64_t offset);

// The payload of the record that begins at `offset`: in the file where it has
// one part, else in `joined`, which must live as long as the payload is used.
StatusOr<Bytes> ReadRecord(Bytes file, uint64_t offset,
                           std::vector<std::byte>* joined);

// Writes a file of records, replaced as a whole by Commit (base/file.h).
class RecordWriter {
 public:
  explicit RecordWriter(std::string path) : file_(std::move(path)) {}

  // The offset of the record, for an .idx file. Refuses 2^29 bytes and more.
  StatusOr<uint64_t> Append(Bytes payload);
  Status Commit() { return file_.Commit(); }

 private:
  void AppendPart(uint32_t flag, Bytes payload);

  FileWriter file_;
  uint64_t offset_ = 0;
};

// What MXNet puts before the picture in a record: u32 number of labels · f32
// label · u64 id · u64 second id · that many f32 labels, where they are not 0.
struct ImageRecord {
  std::vector<float> labels;
  uint64_t id = 0, second_id = 0;
  Bytes content;  // within the payload
};

StatusOr<ImageRecord> ParseImageRecord(Bytes payload);
// One label stands in the header, as MXNet writes it; several behind it.
std::vector<std::byte> PackImageRecord(const ImageRecord& record);

}  // namespace mxc::runtime
