// SPDX-License-Identifier: Apache-2.0
#include "runtime/executor/model.h"

#include <cstring>
#include <utility>

#include "runtime/executor/preparation.h"

namespace mxc::runtime {
namespace {

std::string Text(Bytes bytes) {
  return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

Status Located(const Status& status, const std::string& path) {
  if (status.ok() || status.message().find(path) != std::string::npos) {
    return status;
  }
  return Fail(status.code(), "%s: %s", path.c_str(), status.message().c_str());
}

}  // namespace

StatusOr<std::shared_ptr<const Model>> Model::Open(const std::string& path,
                                                   const OpenOptions& options) {
  StatusOr<Container> container = Container::Open(path, options.approve);
  if (!container.ok()) return Located(container.status(), path);
  auto model = Load(std::move(*container), path, options);
  if (!model.ok()) return Located(model.status(), path);
  return model;
}

StatusOr<std::shared_ptr<const Model>> Model::OpenMemory(
    Bytes file, const std::string& name, const OpenOptions& options) {
  StatusOr<Container> container = Container::Copy(file, name, options.approve);
  if (!container.ok()) return Located(container.status(), name);
  auto model = Load(std::move(*container), name, options);
  if (!model.ok()) return Located(model.status(), name);
  return model;
}

StatusOr<std::shared_ptr<const Model>> Model::Load(Container container,
                                                   const std::string& path,
                                                   const OpenOptions& options) {
  auto model = std::make_shared<Model>();
  model->path_ = path;
  model->container_ = std::move(container);
  model->weights_ = options.weights.empty()
                        ? model->container_.section(MXC_SECTION_WEIGHTS)
                        : options.weights;
  StatusOr<Tables> tables = Tables::Parse(
      model->container_.section(MXC_SECTION_TABLES), model->weights_.size());
  if (!tables.ok()) return tables.status();
  model->tables_ = std::move(*tables);
  StatusOr<Code> code = Code::Load(model->container_, model->tables_);
  if (!code.ok()) return code.status();
  model->code_ = std::move(*code);
  MXC_RT_RETURN_IF_ERROR(model->FindFunctions());
  model->manifest_ = Text(model->container_.section(MXC_SECTION_MANIFEST));
  if (options.check_weights) {
    MXC_RT_RETURN_IF_ERROR(model->VerifyWeights());
  }
  MXC_RT_RETURN_IF_ERROR(model->PlaceWeights(options.placement));
  StatusOr<Region> prepared = PrepareWeights(*model);
  if (!prepared.ok()) return prepared.status();
  model->prepared_ = std::move(*prepared);
  return std::shared_ptr<const Model>(std::move(model));
}

Status Model::FindFunctions() {
  for (const mxc_import& import : tables_.imports()) {
    auto found = FindFunction(tables_.Text(import.name), import.version);
    if (!found.ok()) return found.status();
    functions_.push_back(*found);
  }
  return {};
}

Status Model::PlaceWeights(WeightPlacement placement) {
  if (placement == WeightPlacement::kMap || weights_.empty() ||
      container_.file() == nullptr) {
    return {};
  }
  StatusOr<Region> copy = Region::Allocate(weights_.size(), "the weights");
  if (!copy.ok()) return copy.status();
  std::memcpy(copy->data(), weights_.data(), weights_.size());
  copied_weights_ = std::move(*copy);
  weights_ = Bytes(copied_weights_.data(), copied_weights_.size());
  return {};
}

void Model::ForgetWeights(uint64_t offset, uint64_t bytes) const {
  // What was copied, or is the compiler's own, is in no file.
  container_.Forget(weights_.subspan(offset, bytes));
}

StatusOr<std::string> Model::SymbolJson() const {
  const Status status = container_.CheckSection(MXC_SECTION_SYMBOL);
  if (!status.ok()) return Located(status, path_);
  return Text(container_.section(MXC_SECTION_SYMBOL));
}

Status Model::VerifyWeights() const {
  return Located(container_.CheckSection(MXC_SECTION_WEIGHTS), path_);
}

}  // namespace mxc::runtime
