// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/corpus.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <filesystem>

#include "tests/support/temporary_folder.h"

namespace mxc::fuzz {
namespace {

namespace fs = std::filesystem;

// As libFuzzer's dictionaries are written.
std::string QuotedWord(const std::string& word) {
  std::string quoted = "\"";
  for (const char c : word) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = byte >= ' ' && byte < 0x7f && c != '"' && c != '\\';
    quoted += plain ? std::string(1, c) : fmt::format("\\x{:02X}", byte);
  }
  return quoted + "\"\n";
}

}  // namespace

void MakeCorpus(const Target& target, const std::string& folder) {
  const fs::path root(folder);
  fs::create_directories(root / "seeds");
  size_t count = 0;
  for (const std::string& seed : target.seeds()) {
    test::WriteText(root / "seeds" / std::to_string(count++), seed);
  }
  std::string words;
  for (const std::string& word : target.words) words += QuotedWord(word);
  test::WriteText(root / "words", words);
  test::WriteText(root / "size", std::to_string(target.most_bytes));
}

std::string FileOf(const std::function<void(const std::string& path)>& write) {
  const test::TemporaryFolder folder("fuzz");
  write(folder.File("file"));
  return test::TextOf(folder.File("file"));
}

MemoryFile::MemoryFile()
    : fd_(memfd_create("mxc-fuzz", MFD_CLOEXEC)),
      path_(fmt::format("/proc/self/fd/{}", fd_)) {
  if (fd_ < 0) Wrong("no file in memory can be made");
}

MemoryFile::~MemoryFile() { close(fd_); }

const std::string& MemoryFile::Hold(Bytes content) {
  const auto size = static_cast<ssize_t>(content.size());
  if (ftruncate(fd_, size) != 0 ||
      pwrite(fd_, content.data(), content.size(), 0) != size) {
    Wrong("the file in memory cannot be written");
  }
  return path_;
}

}  // namespace mxc::fuzz
