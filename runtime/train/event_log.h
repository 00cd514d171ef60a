// SPDX-License-Identifier: Apache-2.0
// TensorBoard's event files: records (length, checksum, bytes, checksum; the
// checksums are masked CRC-32C) of protocol buffers tensorflow.Event with
// scalars and histograms in tensorflow.Summary, or a graph. Formats:
// tensorflow/core/lib/io/record_writer and
// tensorflow/core/{util/event,framework/summary}.proto, which have not changed
// since 2015.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/base/bytes.h"
#include "runtime/base/log_file.h"
#include "runtime/train/histogram.h"
#include "runtime/train/network_drawing.h"
#include "runtime/train/series.h"
#include "runtime/train/status.h"

namespace mxc::train {

using Scalar = std::pair<std::string_view, double>;  // tag, value

// Of the clock on the wall, in seconds since 1970.
double WallTime();

class EventLog {
 public:
  // Makes the folder if need be, and a new file in it.
  static StatusOr<EventLog> Create(const std::string& folder);

  // One event; it is in the file when the call returns. Errors of the disk are
  // kept: the log is no reason to stop training.
  void Write(int64_t step, std::span<const Scalar> scalars);
  void WriteHistogram(int64_t step, std::string_view tag,
                      const Histogram& histogram);
  // What a plugin of TensorBoard reads beside a tag.
  void WritePlugin(std::string_view tag, std::string_view plugin,
                   std::string_view content);
  void WriteGraph(const std::vector<NetworkNode>& nodes);
  Status status() const { return status_; }

 private:
  explicit EventLog(runtime::LogFile file) : file_(std::move(file)) {}
  void WriteSummary(int64_t step, const std::string& summary);
  void WriteRecord(const std::string& event);

  runtime::LogFile file_;
  Status status_;
};

// Adds the scalars of an event file to `series`, up to the first record that is
// damaged or not written to its end.
void ParseEvents(runtime::Bytes bytes, SeriesMap& series);

// All event files of a folder, in the order of their names (which begin with
// their times): a later file replaces what an earlier one has at and after the
// later one's first step. Steps after `last_step` are left out.
SeriesMap ReadEvents(const std::string& folder, int64_t last_step);

// CRC-32C (Castagnoli) of `bytes`.
uint32_t Crc32c(runtime::Bytes bytes);

}  // namespace mxc::train
