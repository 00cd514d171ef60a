// SPDX-License-Identifier: Apache-2.0
// Files that somebody cuts while samples are read from them.
#include <filesystem>

#include "runtime/data/files/watched_file.h"
#include "tests/data/sorted_sources.h"
#include "tests/support/shared.h"

namespace mxc::data {
namespace {

// To nothing: the next read of the mapping raises SIGBUS. By a byte: it reads
// zeros, as whole pages stay.
TEST_CASE("watched files: one that is cut ends the epoch with its name") {
  for (const bool all : {true, false}) {
    const TestFolder folder;
    for (const auto& [spec, settings, file] : WriteSources(folder)) {
      if (file.empty()) continue;
      CAPTURE(spec);
      for (const int threads : {0, 2}) {
        IteratorOptions options = Options(1, settings);
        options.threads = threads;
        options.prefetch = 2;
        const auto iterator = MustOpen(spec, options);
        Batch batch;
        REQUIRE(*iterator->Next(batch));
        const std::string content = ReadText(file);
        std::filesystem::resize_file(file, all ? 0 : content.size() - 1);
        Status status;
        for (int i = 0; i < 5 && status.ok(); ++i) {
          status = iterator->Next(batch).status();
        }
        CHECK(status.code() == StatusCode::kIo);
        CHECK(
            Says(status.message(), "'" + file + "' was cut while it was read"));
        folder.Write(std::filesystem::relative(file, folder.path()), content);
      }
    }
  }
}

TEST_CASE("watched files: who closes one is not asked about it again") {
  const TestFolder folder;
  const std::string path = folder.Write("a", std::string(10000, 'x'));
  {
    const auto file = WatchedFile::Open(path);
    REQUIRE(file.ok());
    std::filesystem::resize_file(path, 5000);
    CHECK(file->bytes()[9999] == std::byte{0});
    CHECK(file->bytes()[4999] == std::byte{'x'});
    CHECK(Says(CheckFiles().message(), "of its 10000 bytes 5000 are left"));
  }
  CHECK(CheckFiles().ok());
}

}  // namespace
}  // namespace mxc::data
