// SPDX-License-Identifier: Apache-2.0
#include "tools/run/sample_batches.h"

#include <algorithm>
#include <cstring>

#include "tools/run/failure.h"
#include "tools/run/input_file.h"
#include "tools/run/picture.h"

namespace mxc::run {
namespace {

int64_t BatchOf(const mxc_tensor& input) {
  return input.rank > 0 ? input.dims[0] : 0;
}

// Returns whether the array holds samples of the input.
bool HoldsSamples(const runtime::Array& array, const mxc_tensor& input) {
  const auto shape = api::Shape(input);
  return array.shape.size() == shape.size() && array.shape[0] > 0 &&
         std::equal(shape.begin() + 1, shape.end(), array.shape.begin() + 1);
}

}  // namespace

std::optional<SampleBatches> SampleBatches::Of(const api::Model& model,
                                               size_t entry, const Feed& feed) {
  const std::vector<NetworkInput> inputs = InputsOf(model, entry);
  const auto read = [](const NetworkInput& input) { return input.read; };
  const auto input = std::ranges::find_if(inputs, read);
  if (std::ranges::count_if(inputs, read) != 1 || BatchOf(*input) < 1 ||
      feed.files.empty()) {
    return std::nullopt;
  }
  for (const InputFile& file : feed.files) {
    if (!file.name.empty() && file.name != input->name) return std::nullopt;
  }
  SampleBatches batches(*input, feed);
  const auto first = Take(OpenInput(feed.files[0].file));
  if (IsPicture(first.bytes())) {
    for (const InputFile& file : feed.files) {
      batches.pictures_.push_back(file.file);
    }
    batches.samples_ = std::ssize(batches.pictures_);
  } else {
    if (feed.files.size() > 1) return std::nullopt;
    auto array = ReadInputArray(feed.files[0].file);
    if (!array.ok() || !HoldsSamples(*array, *input)) return std::nullopt;
    batches.samples_ = array->shape[0];
    batches.array_ = std::move(*array);
  }
  if (batches.samples_ == BatchOf(*input)) return std::nullopt;
  return batches;
}

// What is missing from the last batch is its last sample again.
void SampleBatches::Fill(std::span<std::byte> memory, int64_t first) const {
  const int64_t batch = BatchOf(input_);
  if (!pictures_.empty()) {
    std::vector<std::string> files;
    for (int64_t k = first; k < first + batch; ++k) {
      files.push_back(
          pictures_[static_cast<size_t>(std::min(k, samples_ - 1))]);
    }
    FillInput(input_, memory, files, feed_->pictures);
    return;
  }
  const auto bytes = array_->bytes();
  const size_t from = bytes.size() / static_cast<size_t>(samples_);
  const size_t to = memory.size() / static_cast<size_t>(batch);
  for (int64_t k = 0; k < batch; ++k) {
    const auto sample = static_cast<size_t>(std::min(first + k, samples_ - 1));
    FillWithElements(input_, memory.subspan(static_cast<size_t>(k) * to, to),
                     feed_->pictures, array_->type,
                     bytes.subspan(sample * from, from));
  }
}

std::vector<OutputValues> SampleBatches::Run(
    api::Executor& executor, std::span<const mxc_tensor> outputs) const {
  const int64_t batch = BatchOf(input_);
  std::vector<OutputValues> values;
  for (const mxc_tensor& output : outputs) {
    const auto shape = api::Shape(output);
    const bool counts = output.use == MXC_USE_COUNT;
    if (shape.empty() || shape[0] != batch || counts) {
      throw Failure("the artifact computes " + std::to_string(batch) +
                    " samples at once, " + std::to_string(samples_) +
                    " are given, and output '" + std::string(output.name) +
                    "' " + Describe(output) + " cannot be told apart by them");
    }
    std::vector<int64_t> whole(shape.begin(), shape.end());
    whole[0] = samples_;
    values.push_back({output.name, Take(runtime::Array::Allocate(
                                       TypeOf(output), std::move(whole)))});
  }
  if (array_ && !HoldsPixels(array_->type, input_, feed_->pictures)) {
    NoteConversion(feed_->files[0].file, array_->type, input_, feed_->pictures);
  }
  for (int64_t first = 0; first < samples_; first += batch) {
    Fill(executor.MapInput(input_.name).span(), first);
    executor.Run();
    const int64_t count = std::min(batch, samples_ - first);
    for (size_t k = 0; k < outputs.size(); ++k) {
      const auto result = executor.Output(k);
      const size_t row = result.size() / static_cast<size_t>(batch);
      std::memcpy(
          values[k].array.bytes().data() + static_cast<size_t>(first) * row,
          result.data(), static_cast<size_t>(count) * row);
    }
  }
  return values;
}

}  // namespace mxc::run
