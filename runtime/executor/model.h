// SPDX-License-Identifier: Apache-2.0
// An opened artifact: checked, its code loaded, its weights in memory. Constant
// after Open, so any number of threads and executors may share it.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/artifact/code.h"
#include "runtime/artifact/container.h"
#include "runtime/artifact/tables.h"
#include "runtime/base/memory.h"
#include "runtime/base/status.h"
#include "runtime/library/registry.h"

namespace mxc::runtime {

enum class WeightPlacement {
  kMap,   // the file's pages: no copy, shared between processes
  kCopy,  // huge pages of this process: faster where weights are streamed
};

struct OpenOptions {
  WeightPlacement placement = WeightPlacement::kMap;
  // Refuse weights that have changed since they were written; reads them all.
  bool check_weights = false;
  // Sees the file before anything in it is believed; its refusal is Open's.
  Approval approve = {};
  // Used in place of the section WEIGHTS, by the compiler that just made them.
  // They must outlive the model.
  Bytes weights = {};
};

class Model {
 public:
  // Every message begins with the path.
  static StatusOr<std::shared_ptr<const Model>> Open(
      const std::string& path, const OpenOptions& options);
  // The same for a file's bytes in memory, of which it keeps a copy; `name` is
  // what messages begin with.
  static StatusOr<std::shared_ptr<const Model>> OpenMemory(
      Bytes file, const std::string& name, const OpenOptions& options);

  const Tables& tables() const { return tables_; }
  const Code& code() const { return code_; }
  // For the device that the tables name; empty where that is the host.
  Bytes device_code() const { return container_.section(MXC_SECTION_DEVICE); }
  // By row of the tables' imports.
  std::span<const Function> functions() const { return functions_; }
  // Aligned to a page.
  Bytes weights() const { return weights_; }
  // Weights that this model transformed when it was opened, aligned to a page;
  // empty where the file has them all.
  Bytes prepared() const { return {prepared_.data(), prepared_.size()}; }
  // The caller will not read this part of the weights soon: mapped memory goes
  // back to the system.
  void ForgetWeights(uint64_t offset, uint64_t bytes) const;
  uint64_t code_bytes() const {
    return container_.section(MXC_SECTION_CODE).size();
  }
  uint64_t file_bytes() const { return container_.trailer().file_size; }

  const std::string& manifest() const { return manifest_; }
  // Reads the section and checks it.
  StatusOr<std::string> SymbolJson() const;
  Status VerifyWeights() const;

 private:
  static StatusOr<std::shared_ptr<const Model>> Load(
      Container container, const std::string& path, const OpenOptions& options);
  Status FindFunctions();
  Status PlaceWeights(WeightPlacement placement);

  std::string path_;
  Container container_;
  Tables tables_;
  Code code_;
  std::vector<Function> functions_;
  std::string manifest_;
  Region copied_weights_, prepared_;
  Bytes weights_;
};

}  // namespace mxc::runtime
