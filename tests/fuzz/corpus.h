// SPDX-License-Identifier: Apache-2.0
// What fuzzing begins with, made anew each time.
#pragma once

#include <functional>
#include <string>

#include "tests/fuzz/target.h"

namespace mxc::fuzz {

// FOLDER/seeds/0, 1 …, FOLDER/words, libFuzzer's dictionary, and FOLDER/size,
// the length of the largest input to try.
void MakeCorpus(const Target& target, const std::string& folder);

// The bytes of the file that `write` writes to the path that it is given.
std::string FileOf(const std::function<void(const std::string& path)>& write);

// A file in memory, for what reads a path. The same path each time.
class MemoryFile {
 public:
  MemoryFile();
  ~MemoryFile();
  MemoryFile(const MemoryFile&) = delete;

  // Replaces the content; nobody may have the file open.
  const std::string& Hold(Bytes content);

 private:
  int fd_;
  std::string path_;
};

}  // namespace mxc::fuzz
