// SPDX-License-Identifier: Apache-2.0
// Keeps bytes in a temporary file that no crash leaves behind.
#pragma once

#include <string>

#include "runtime/base/file.h"
#include "runtime/base/status.h"

namespace mxc::runtime {

// A file for this process that has no name and goes with its last descriptor,
// whatever ends the process. It lies in the folder for temporary files, or in
// memory where that has no such files or is mounted noexec.
class NamelessFile {
 public:
  static StatusOr<NamelessFile> Create();
  // In memory: for what is small.
  static StatusOr<NamelessFile> CreateInMemory();

  // Opens the file anew; what is written to it goes to its end.
  std::string path() const;
  // For a stream of another process.
  int descriptor() const { return file_.get(); }
  Descriptor Release() { return std::move(file_); }
  // The program that this one becomes by exec has the file, too.
  Status KeepAtExec();

 private:
  explicit NamelessFile(Descriptor file) : file_(std::move(file)) {}
  static StatusOr<NamelessFile> Over(Descriptor file);

  Descriptor file_;
};

}  // namespace mxc::runtime
