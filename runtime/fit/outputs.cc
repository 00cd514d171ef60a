// SPDX-License-Identifier: Apache-2.0
#include "runtime/fit/outputs.h"

#include <climits>

#include "runtime/base/destination.h"
#include "runtime/train/checkpoint_files.h"

namespace mxc::fit {
namespace {

// Leaves room for "-worker-12-step-12345678.params" and for the name that a
// file has while it is written.
constexpr size_t kLongestPrefix = NAME_MAX - 64;

std::string NameOf(const std::string& prefix) {
  return prefix.substr(prefix.rfind('/') + 1);
}

}  // namespace

std::vector<std::string> UnwritableOf(const TrainOutputs& outputs) {
  std::vector<std::string> sentences;
  const auto require = [&](const char* option, const Status& status) {
    if (!status.ok()) {
      sentences.push_back(std::string(option) + ": " + status.message());
    }
  };
  if (outputs.save.ends_with('/')) {
    sentences.push_back("--save: '" + outputs.save +
                        "' names a folder; expected what the files' names "
                        "begin with, as in '" +
                        outputs.save + "net'");
  } else if (NameOf(outputs.save).size() > kLongestPrefix) {
    sentences.push_back("--save: '" + outputs.save +
                        "' is too long: a name has at most 255 bytes, and the "
                        "number of the epoch and more follow");
  } else if (!outputs.save.empty()) {
    require("--save",
            runtime::RequireFolder(train::FolderOf(outputs.save).string()));
  }
  if (!outputs.log_folder.empty()) {
    require("--log-dir", runtime::RequireFolder(outputs.log_folder));
  }
  require("--trace",
          runtime::RequireWritable(outputs.trace, outputs.reads, ".json"));
  return sentences;
}

std::vector<std::string> UnwritableOf(const Request& request,
                                      const std::string& path) {
  std::vector<std::string> read = data::FilesOfSource(request.samples.data);
  read.insert(read.end(), {path, request.params, request.states});
  return UnwritableOf(
      {request.trainer.save, request.trainer.log_folder, request.trace, read});
}

}  // namespace mxc::fit
