// SPDX-License-Identifier: Apache-2.0
// What a server must not forget: who takes part, and of each key its value, what
// the optimizer keeps for it, and which push of each worker it holds. An update
// is written before any worker hears of it, so a server that is killed and
// started again goes on as if nothing had happened; or its backup does, which
// has the same records (pair.h).
//
// A journal's files are PATH.0, PATH.1 …: each begins with all that is known, then a
// mark, then what changes. One that has no mark is left from a death and does
// not count; a last record that is cut does not either. Writes reach the
// system's memory, not the disk: they outlive the process, not the machine.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/base/log_file.h"
#include "runtime/kvstore/status.h"

namespace mxc::kvstore {

struct JournalRecord {
  // kRows: of a sparse key that is known, what an update has changed. kPair: of
  // a server that is one of two, its birth (arbiter.h).
  enum class Kind : uint32_t {
    kKey = 1,
    kWorker = 2,
    kMark = 3,
    kRows = 4,
    kPair = 5
  };
  Kind kind = Kind::kMark;
  uint32_t index = 0;   // the key, or the worker's rank
  uint64_t number = 0;  // how often it was updated, or the incarnation
  bool left = false;    // the worker has finished
  bool lost = false;    // it was given up
  // Of each worker the last push; of a worker's record the round after which
  // it takes part.
  std::vector<uint64_t> applied;
  Bytes state;            // of a key; as the shelf has it, or the store
  bool replaced = false;  // another process was the worker before
};

std::vector<std::byte> EncodeRecord(const JournalRecord& record);
// One record and nothing behind it; none where it is damaged. Its state lies in
// the bytes.
std::optional<JournalRecord> DecodeRecord(Bytes bytes);

// Where records go.
class Records {
 public:
  virtual ~Records() = default;
  virtual Status Append(const JournalRecord& record) = 0;
};

class Journal final : public Records {
 public:
  // Hands out what the newest whole file holds, in order; an error ends it.
  static StatusOr<Journal> Open(
      const std::string& path,
      const std::function<Status(const JournalRecord&)>& restore);

  // All that is known goes into a file of its own: Append all of it, then
  // Mark, which removes the older ones.
  Status Begin();
  Status Mark();
  Status Append(const JournalRecord& record) override;
  Status AppendEncoded(Bytes record);
  // No file is left.
  void Remove();
  // Much of the file is out of date: Begin again.
  bool grown() const { return written_ > 2 * marked_ + kSlack; }

 private:
  static constexpr uint64_t kSlack = uint64_t{64} << 20;

  explicit Journal(std::string path) : path_(std::move(path)) {}
  std::string File(uint64_t generation) const;

  std::string path_;
  uint64_t generation_ = 0;  // of the newest file
  std::vector<uint64_t> older_;
  std::optional<runtime::LogFile> file_;
  uint64_t written_ = 0, marked_ = 0;  // bytes: in all, up to the mark
};

// The records of a file, for tests and fuzzing: stops at what is cut or
// damaged. Whether there was a mark.
StatusOr<bool> ReadJournal(
    Bytes bytes, const std::function<Status(const JournalRecord&)>& restore);

}  // namespace mxc::kvstore
