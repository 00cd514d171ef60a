// SPDX-License-Identifier: Apache-2.0
#include "runtime/train/step/artifact_step.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>

#include "runtime/device/device.h"
#include "runtime/formats/convert.h"
#include "runtime/train/floats.h"
#include "runtime/train/step/artifact_facts.h"
#include "runtime/train/step/network_nodes.h"

namespace mxc::train {
namespace {

using runtime::Fail;
using runtime::Format;
using runtime::Status;
using runtime::StatusCode;
using runtime::StatusOr;

template <class Row>
data::Field ToField(std::string name, const Row& row) {
  return {std::move(name), static_cast<runtime::ElementType>(row.dtype),
          std::vector<int64_t>(row.dims, row.dims + row.rank)};
}

// Labels of samples are as often written (N, 1) as (N): axes of one element make
// no difference.
bool HoldsSamplesOf(const std::vector<int64_t>& given,
                    const std::vector<int64_t>& wanted) {
  if (given == wanted) return true;
  if (given.empty() || wanted.empty() || given[0] != wanted[0]) return false;
  const auto without_ones = [](const std::vector<int64_t>& shape) {
    std::vector<int64_t> rest(shape.begin() + 1, shape.end());
    std::erase(rest, 1);
    return rest;
  };
  return without_ones(given) == without_ones(wanted);
}

std::string DescribeField(const data::Field& field) {
  std::string text =
      field.name + " " + std::string(runtime::ElementName(field.type)) + " (";
  for (size_t i = 0; i < field.shape.size(); ++i) {
    text += (i > 0 ? ", " : "") + std::to_string(field.shape[i]);
  }
  return text + ")";
}

}  // namespace

bool RunsOnHost(const runtime::Model& model) {
  const runtime::Tables& tables = model.tables();
  const char* device = tables.Text(tables.header().device);
  if (*device == '\0') return true;
  const auto found = runtime::FindDevice(device);
  return found.ok() && (*found)->IsHost();
}

ArtifactStep::ArtifactStep(std::shared_ptr<const runtime::Model> model,
                           const BindOptions& options)
    : model_(std::move(model)),
      extent_(options.extent),
      filled_(options.filled),
      facts_(TrainFactsOf({model_})) {}

StatusOr<std::unique_ptr<ArtifactStep>> ArtifactStep::Open(
    const std::string& path, int threads, const runtime::OpenOptions& options,
    Extent extent, const std::string& device) {
  auto model = runtime::Model::Open(path, options);
  if (!model.ok()) return model.status();
  return Bound(
      std::move(*model),
      {.path = path, .device = device, .threads = threads, .extent = extent});
}

StatusOr<std::unique_ptr<ArtifactStep>> ArtifactStep::Bound(
    std::shared_ptr<const runtime::Model> model, const BindOptions& options) {
  std::unique_ptr<ArtifactStep> step(
      new ArtifactStep(std::move(model), options));
  BindOptions bound = options;
  if (options.facts) step->facts_ = *options.facts;
  if (bound.threads == 0) bound.threads = runtime::AvailableThreads();
  Status status = step->Bind(bound);
  if (status.ok()) status = step->ReadLabelNames();
  if (status.ok()) return step;
  if (options.path.empty()) return status;
  return Fail(status.code(), "%s: %s", options.path.c_str(),
              status.message().c_str());
}

Status ArtifactStep::Bind(const BindOptions& options) {
  const auto entries = model_->tables().entries();
  for (size_t row = 0; row < entries.size(); ++row) {
    MXC_RT_RETURN_IF_ERROR(BindEntry(row, options));
  }
  if (const auto infer = EntryForInference()) {
    facts_.reports_loss = false;
    MXC_RT_RETURN_IF_ERROR(BindEntry(*infer, options));
  }
  if (first_ == nullptr) {
    return Fail(StatusCode::kNotFound,
                extent_ == Extent::kGradients
                    ? "has no entry 'grad', which --accumulate and training "
                      "by several processes need; compile it with --entry "
                      "grad,update,score"
                    : "has neither an entry 'train' nor 'score'; compile it "
                      "with --entry train,score");
  }
  ListStates();
  return {};
}

std::optional<size_t> ArtifactStep::EntryForInference() const {
  if (extent_ != Extent::kScoring || !score_.empty()) return std::nullopt;
  const auto entries = model_->tables().entries();
  const auto batch = [&](size_t row) {
    const auto inputs = model_->tables().Inputs(entries[row]);
    if (inputs.empty()) return int64_t{0};
    const mxc_buffer& input = model_->tables().Buffers(entries[row])[inputs[0]];
    return input.rank > 0 ? input.dims[0] : 0;
  };
  std::optional<size_t> best;
  for (size_t row = 0; row < entries.size(); ++row) {
    if (entries[row].kind != MXC_ENTRY_INFER) continue;
    if (!best || batch(row) > batch(*best)) best = row;
  }
  return best;
}

// Those of the tables, which all entries share, and what training carries: of
// the longest sequences, for those of several lengths carry nothing.
void ArtifactStep::ListStates() {
  const auto states = model_->tables().states();
  if (!RunsOnHost(*model_)) twins_.resize(states.size());
  for (size_t row = 0; row < states.size(); ++row) {
    states_.push_back(
        ToField(model_->tables().Text(states[row].name), states[row]));
    memory_.push_back(first_->State(row));
    if (twins_.empty()) continue;
    twins_[row].values.resize(states[row].bytes);
    memory_[row] = twins_[row].values;
  }
  if (train_.empty()) return;
  Entry& entry = train_.rbegin()->second;
  const auto inputs = model_->tables().Inputs(entry.executor->entry());
  for (const Carry& carry : entry.carries) {
    const mxc_buffer& buffer = entry.executor->buffers()[inputs[carry.input]];
    states_.push_back(ToField(Name(buffer), buffer));
    memory_.emplace_back(entry.executor->InputStorage(carry.input),
                         buffer.bytes);
  }
}

std::span<std::byte> ArtifactStep::State(size_t index) {
  if (index < twins_.size()) {
    Twin& twin = twins_[index];
    if (!twin.current) first_->ReadState(index, twin.values.data());
    twin.current = twin.given = true;
  }
  return memory_[index];
}

void ArtifactStep::Filled(size_t index) {
  if (filled_ && index < model_->tables().states().size()) {
    filled_(index, memory_[index]);
  }
}

void ArtifactStep::FilledOwn(size_t index) {
  if (filled_ && index < model_->tables().states().size()) filled_(index, {});
}

// Before a run, after which the device's are others.
void ArtifactStep::WriteGivenStates() {
  for (size_t row = 0; row < twins_.size(); ++row) {
    if (twins_[row].given) first_->WriteState(row, twins_[row].values.data());
    twins_[row].current = twins_[row].given = false;
  }
}

Status ArtifactStep::LendStates() {
  WriteGivenStates();
  return {};
}

Status ArtifactStep::ReadLabelNames() {
  auto names = LabelNamesOf(*model_);
  if (!names.ok()) return names.status();
  facts_.label_names = std::move(*names);
  return {};
}

Status ArtifactStep::BindEntry(size_t row, const BindOptions& options) {
  const mxc_entry& entry_row = model_->tables().entries()[row];
  const bool trains =
      entry_row.kind ==
      (extent_ == Extent::kGradients ? MXC_ENTRY_GRAD : MXC_ENTRY_TRAIN);
  const bool scores =
      entry_row.kind == MXC_ENTRY_SCORE || (!facts_.reports_loss && !trains);
  if (!trains && !scores) return {};
  runtime::Executor::Options bound;
  bound.threads = options.threads;
  bound.share = first_ != nullptr ? first_ : options.share;
  bound.filled = options.filled;
  if (!options.device.empty()) bound.device = options.device.c_str();
  auto executor = runtime::Executor::Bind(model_, row, bound);
  if (!executor.ok()) return executor.status();
  Entry& entry = (trains ? train_ : score_)[entry_row.length];
  entry.executor = std::move(*executor);
  if (first_ == nullptr) first_ = entry.executor.get();
  return Connect(entry);
}

// Which input and which output is what.
Status ArtifactStep::Connect(Entry& entry) const {
  const runtime::Executor& executor = *entry.executor;
  const runtime::Tables& tables = model_->tables();
  const auto inputs = tables.Inputs(executor.entry());
  const auto outputs = tables.Outputs(executor.entry());
  // Those of a role, by their index.
  const auto list = [&](auto tensors, mxc_tensor_role role) {
    std::map<uint32_t, size_t> found;
    for (size_t k = 0; k < tensors.size(); ++k) {
      const mxc_buffer& buffer = executor.buffers()[tensors[k]];
      if (buffer.role == role) found.emplace(buffer.index, k);
    }
    std::vector<size_t> places;
    for (const auto& [index, k] : found) places.push_back(k);
    return places;
  };
  entry.data = list(inputs, MXC_TENSOR_DATA);
  entry.labels = list(inputs, MXC_TENSOR_LABEL);
  const auto rate = list(inputs, MXC_TENSOR_RATE);
  if (!rate.empty()) entry.learning_rate = static_cast<int>(rate.front());
  const auto loss = list(outputs, MXC_TENSOR_LOSS);
  if (!loss.empty()) entry.loss = static_cast<int>(loss.front());
  const auto carries = tables.Carries(executor.entry());
  for (size_t i = 0; i < carries.size(); i += 2) {
    entry.carries.push_back(
        {static_cast<size_t>(std::ranges::find(inputs, carries[i + 1]) -
                             inputs.begin()),
         static_cast<size_t>(std::ranges::find(outputs, carries[i]) -
                             outputs.begin())});
  }
  if (entry.loss >= 0 || !facts_.reports_loss) return {};
  return Fail(StatusCode::kUnsupported, "its entries report no loss");
}

std::string ArtifactStep::Name(const mxc_buffer& buffer) const {
  return model_->tables().Text(buffer.name);
}

data::Field ArtifactStep::FieldOf(const Entry& entry, size_t input) const {
  const auto inputs = model_->tables().Inputs(entry.executor->entry());
  const mxc_buffer& buffer = entry.executor->buffers()[inputs[input]];
  return ToField(Name(buffer), buffer);
}

StatusOr<std::string> ArtifactStep::symbol() const {
  return model_->SymbolJson();
}

std::vector<NetworkNode> ArtifactStep::network() const {
  const auto json = symbol();
  return json.ok() ? NodesOfSymbol(*json) : std::vector<NetworkNode>();
}

StatusOr<ArtifactStep::Entry*> ArtifactStep::Find(Entries& entries,
                                                  const char* name,
                                                  int64_t length) const {
  const auto any = entries.find(0);
  if (any != entries.end()) return &any->second;
  if (length == 0 && !entries.empty()) return &entries.rbegin()->second;
  const auto found = entries.find(length);
  if (found != entries.end()) return &found->second;
  std::string lengths;
  for (const auto& [known, entry] : entries) {
    lengths += (lengths.empty() ? "" : ", ") + std::to_string(known);
  }
  if (lengths.empty()) {
    return Fail(StatusCode::kNotFound, "the artifact has no entry '%s'", name);
  }
  return Fail(StatusCode::kNotFound,
              "the artifact has no entry '%s' for length %lld; it has %s", name,
              static_cast<long long>(length), lengths.c_str());
}

StatusOr<data::Provides> ArtifactStep::needs(int64_t length) const {
  auto& entries = const_cast<Entries&>(train_.empty() ? score_ : train_);
  const auto entry = Find(entries, "train", length);
  if (!entry.ok()) return entry.status();
  data::Provides needs;
  for (const size_t k : (*entry)->data) {
    needs.data.push_back(FieldOf(**entry, k));
  }
  for (const size_t k : (*entry)->labels) {
    needs.labels.push_back(FieldOf(**entry, k));
  }
  return needs;
}

StatusOr<float> ArtifactStep::Train(const data::Batch& batch, int64_t length,
                                    double learning_rate) {
  const auto entry = Find(train_, "train", length);
  if (!entry.ok()) return entry.status();
  if ((*entry)->learning_rate >= 0) {
    std::memcpy((*entry)->executor->InputStorage(
                    static_cast<size_t>((*entry)->learning_rate)),
                &learning_rate, sizeof learning_rate);
  }
  return Run(**entry, batch);
}

StatusOr<float> ArtifactStep::Score(const data::Batch& batch, int64_t length) {
  const auto entry = Find(score_, "score", length);
  if (!entry.ok()) return entry.status();
  return Run(**entry, batch);
}

// The inputs are read where the batch holds them, if they are of its types.
Status ArtifactStep::Feed(Entry& entry, const std::vector<size_t>& inputs,
                          const std::vector<runtime::NamedArray>& arrays,
                          const char* what) const {
  const runtime::Tables& tables = model_->tables();
  const mxc_entry& row = entry.executor->entry();
  size_t count = inputs.size();  // without those at the end that nothing reads
  while (count > arrays.size() &&
         !tables.IsRead(row, tables.Inputs(row)[inputs[count - 1]])) {
    --count;
  }
  if (count > arrays.size()) {
    return Fail(StatusCode::kInvalidArgument,
                "%s inputs of the network: %zu, %s arrays of the data: %zu%s",
                what, count, what, arrays.size(),
                std::string_view(what) == "label"
                    ? "; an option of the source may say where they are "
                      "(--data-opt help)"
                    : "");
  }
  for (size_t k = 0; k < count; ++k) {
    const data::Field wanted = FieldOf(entry, inputs[k]);
    const runtime::Array& array = arrays[k].array;
    const data::Field given = {arrays[k].name, array.type, array.shape};
    if (!HoldsSamplesOf(array.shape, wanted.shape)) {
      return Fail(StatusCode::kInvalidArgument,
                  "the network wants %s, the data give %s",
                  DescribeField(wanted).c_str(), DescribeField(given).c_str());
    }
    if (array.type == wanted.type) {
      entry.executor->BindInput(inputs[k], array.bytes().data());
    } else {
      const int64_t bytes = *runtime::ArrayBytes(wanted.type, wanted.shape);
      runtime::ConvertElements(array.type, array.bytes(), wanted.type,
                               {entry.executor->InputStorage(inputs[k]),
                                static_cast<size_t>(bytes)});
    }
  }
  return {};
}

StatusOr<float> ArtifactStep::Run(Entry& entry, const data::Batch& batch) {
  runtime::Executor& executor = *entry.executor;
  MXC_RT_RETURN_IF_ERROR(Feed(entry, entry.data, batch.data, "data"));
  if (facts_.reports_loss) {
    MXC_RT_RETURN_IF_ERROR(Feed(entry, entry.labels, batch.labels, "label"));
  }
  if (!batch.continues) ClearCarries(entry);
  WriteGivenStates();
  MXC_RT_RETURN_IF_ERROR(executor.Run());
  last_ = &entry;
  if (entry.loss < 0) return 0.0f;
  float loss = 0;
  std::memcpy(&loss, executor.OutputStorage(static_cast<size_t>(entry.loss)),
              sizeof loss);
  // A run that went wrong stays as it was, for ExplainLoss.
  if (std::isfinite(loss)) KeepCarries(entry);
  return loss;
}

void ArtifactStep::ClearCarries(Entry& entry) const {
  const auto inputs = model_->tables().Inputs(entry.executor->entry());
  for (const Carry& carry : entry.carries) {
    std::memset(entry.executor->InputStorage(carry.input), 0,
                entry.executor->buffers()[inputs[carry.input]].bytes);
  }
}

void ArtifactStep::KeepCarries(Entry& entry) const {
  const auto inputs = model_->tables().Inputs(entry.executor->entry());
  for (const Carry& carry : entry.carries) {
    std::memcpy(entry.executor->InputStorage(carry.input),
                entry.executor->OutputStorage(carry.output),
                entry.executor->buffers()[inputs[carry.input]].bytes);
  }
}

void ArtifactStep::Join(runtime::HostMember* member) {
  for (Entries* entries : {&train_, &score_}) {
    for (auto& [length, entry] : *entries) entry.executor->Join(member);
  }
}

std::vector<runtime::Executor*> ArtifactStep::trainers() const {
  std::vector<runtime::Executor*> trainers;
  for (const auto& [length, entry] : train_) {
    trainers.push_back(entry.executor.get());
  }
  return trainers;
}

std::vector<runtime::Executor*> ArtifactStep::scorers() const {
  std::vector<runtime::Executor*> scorers;
  for (const auto& [length, entry] : score_) {
    scorers.push_back(entry.executor.get());
  }
  return scorers;
}

}  // namespace mxc::train
