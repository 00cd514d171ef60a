// SPDX-License-Identifier: Apache-2.0
#include "tools/run/train_outputs.h"

#include "runtime/base/destination.h"
#include "runtime/train/checkpoint_files.h"

namespace mxc::run {

std::vector<std::string> UnwritableOf(const TrainOutputs& outputs) {
  std::vector<std::string> sentences;
  const auto require = [&](const char* option, const runtime::Status& status) {
    if (!status.ok()) {
      sentences.push_back(std::string(option) + ": " + status.message());
    }
  };
  if (outputs.save.ends_with('/')) {
    sentences.push_back("--save: '" + outputs.save +
                        "' names a folder; expected what the files' names "
                        "begin with, as in '" +
                        outputs.save + "net'");
  } else if (!outputs.save.empty()) {
    require("--save",
            runtime::RequireFolder(train::FolderOf(outputs.save).string()));
  }
  if (!outputs.log_folder.empty()) {
    require("--log-dir", runtime::RequireFolder(outputs.log_folder));
  }
  if (!outputs.trace.empty()) {
    require("--trace", runtime::RequireDestination(outputs.trace));
  }
  return sentences;
}

}  // namespace mxc::run
