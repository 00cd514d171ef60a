// SPDX-License-Identifier: Apache-2.0
#include "tools/run/trace_file.h"

#include "runtime/base/file_writer.h"
#include "tools/run/failure.h"

namespace mxc::run {

void WriteTraceFile(const std::string& path, const std::string& events) {
  runtime::FileWriter file(path);
  // No displayTimeUnit: Perfetto of 2020 takes times for nanoseconds where it is
  // "ns".
  file.Append("{\"traceEvents\":[\n" + events + "\n]}\n");
  Require(file.Commit());
}

}  // namespace mxc::run
