// SPDX-License-Identifier: Apache-2.0
// What a search has found so far, as a file: one JSON object a line, each on the
// disk before anything follows from it. A search that was killed reads it and
// goes on as if it had not been.
//
//   {"mxc_tune":1,"seed":"7","space":"lr=log(0.0001,1)",…}
//   {"trial":0,"parameters":{"lr":"0.0123"}}
//   {"trial":0,"epoch":1,"value":0.31,"loss":0.52,"seconds":1.2,
//    "metrics":{"accuracy":0.9},"validation":{"loss":0.31,"accuracy":0.93}}
//   {"trial":3,"over":"failed: the loss of step 12 is not finite: …"}
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/base/file_lock.h"
#include "runtime/base/log_file.h"
#include "runtime/train/progress.h"
#include "runtime/tune/status.h"

namespace mxc::tune {

using Texts = std::vector<std::pair<std::string, std::string>>;

struct EpochResult {
  double value = 0;  // of the objective; NaN where it was no number
  double loss = 0, seconds = 0;
  train::MetricValues metrics, validation;  // the latter with its "loss"
};

struct TrialRecord {
  Texts parameters;                       // by name, in the space's order
  std::map<int64_t, EpochResult> epochs;  // by number, from 1
  // Why it makes no more epochs than those: "failed: …", "stopped early"; empty:
  // it may.
  std::string over;
  bool failed() const { return over.starts_with("failed"); }

  // What it is worth after so many epochs: the best of their values, and the
  // first epoch that has it; 0: none has a number.
  std::pair<double, int64_t> Best(int64_t epochs, bool less_is_better) const;
};

// Trials may be written by several threads. A line is in the file when the call
// returns, for whoever is killed then; a crash of the system takes at most those
// of the last second, or of the last half minute where no more were added, as
// Linux has it: what is lost is trained again.
class Record {
 public:
  ~Record();
  Record(const Record&) = delete;

  // A new file, which must not be there, or with `resume` also one that has the
  // same head. What a kill has left of a last line is cut off. Nobody else may
  // write to it meanwhile.
  static StatusOr<std::unique_ptr<Record>> Open(const std::string& path,
                                                const Texts& head, bool resume);

  // By number; of a trial that is trained, what is known of it by now.
  std::vector<TrialRecord> trials() const;
  TrialRecord trial(int64_t number) const;

  // What is there already is not written again.
  Status Begin(int64_t trial, const Texts& parameters);
  Status Add(int64_t trial, int64_t epoch, const EpochResult& result);
  Status End(int64_t trial, const std::string& why);

 private:
  Record(std::string path, runtime::FileLock lock, runtime::LogFile log)
      : path_(std::move(path)), lock_(std::move(lock)), log_(std::move(log)) {}

  Status Read(const std::string& text, const Texts& head);
  Status Take(const std::string& line);
  TrialRecord& At(int64_t trial);
  Status Append(const std::string& line);

  const std::string path_;
  const runtime::FileLock lock_;
  mutable std::mutex mutex_;
  runtime::LogFile log_;
  int64_t synced_ = 0;  // when
  std::vector<TrialRecord> trials_;
};

}  // namespace mxc::tune
