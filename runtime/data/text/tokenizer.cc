// SPDX-License-Identifier: Apache-2.0
#include "runtime/data/text/tokenizer.h"

#include <filesystem>

#include "runtime/base/visible.h"

namespace mxc::data {

namespace fs = std::filesystem;
using runtime::Fail;
using runtime::StatusCode;
using runtime::StatusOr;

StatusOr<std::shared_ptr<const Tokenizer>> Tokenizer::Open(
    const std::string& path) {
  std::error_code ignored;
  fs::path file = path;
  if (fs::is_directory(file, ignored)) {
    const fs::path words = file / "vocab.txt";
    file = fs::exists(words, ignored) ? words : file / "vocab.json";
  }
  if (file.extension() == ".json") {
    return OpenBytePairs(file, file.parent_path() / "merges.txt");
  }
  if (file.extension() == ".txt") return OpenWordPiece(file);
  return Fail(StatusCode::kInvalidArgument,
              "%s is no vocabulary: expected vocab.txt, vocab.json beside "
              "merges.txt, or a folder with them",
              runtime::Visible(path).c_str());
}

}  // namespace mxc::data
