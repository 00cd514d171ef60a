// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/part_file.h"

#include <span>
#include <utility>

#include "runtime/base/file_writer.h"
#include "runtime/formats/npy.h"
#include "tools/run/failure.h"

namespace mxc::serve {
namespace {

runtime::NamelessFile FileOf(const Part& part) {
  auto file = run::Take(runtime::NamelessFile::Create());
  runtime::FileWriter out(file.path());
  if (part.array) {
    const std::string header = run::Take(runtime::NpyHeader(*part.array));
    out.Append(std::as_bytes(std::span(header)));
    out.Append(part.array->bytes());
  } else {
    out.Append(std::as_bytes(std::span(part.content)));
  }
  run::Require(out.Commit(runtime::FileWriter::Sync::kNo));
  return file;
}

void Replace(std::string& text, const std::string& from,
             const std::string& to) {
  for (size_t at; (at = text.find(from)) != std::string::npos;) {
    text.replace(at, from.size(), to);
  }
}

}  // namespace

PartFiles::PartFiles(const std::vector<Part>& parts) : parts_(parts) {
  for (const Part& part : parts) files_.push_back(FileOf(part));
}

std::vector<std::string> PartFiles::paths() const {
  std::vector<std::string> paths;
  for (const runtime::NamelessFile& file : files_) {
    paths.push_back(file.path());
  }
  return paths;
}

std::vector<run::InputFile> PartFiles::inputs() const {
  std::vector<run::InputFile> inputs;
  for (size_t k = 0; k < parts_.size(); ++k) {
    inputs.push_back({parts_[k].input, files_[k].path()});
  }
  return inputs;
}

void PartFiles::Try(const std::function<void()>& action) const {
  try {
    action();
  } catch (const run::Failure& failure) {
    std::vector<std::string> messages = failure.messages();
    for (std::string& message : messages) {
      for (size_t k = 0; k < parts_.size(); ++k) {
        const std::string name = NameOf(parts_[k]);
        Replace(message, "'" + files_[k].path() + "'", name);
        Replace(message, files_[k].path(), name);
      }
    }
    throw run::Failure(std::move(messages));
  }
}

}  // namespace mxc::serve
