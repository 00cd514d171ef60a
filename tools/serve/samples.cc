// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/samples.h"

#include <algorithm>
#include <mutex>
#include <string>

#include "runtime/formats/convert.h"
#include "runtime/formats/npy.h"
#include "tools/run/failure.h"
#include "tools/run/feed.h"
#include "tools/run/picture.h"
#include "tools/serve/part_file.h"
#include "tools/serve/picture_size.h"

namespace mxc::serve {
namespace {

runtime::Bytes BytesOf(const Part& part) {
  return std::as_bytes(std::span(part.content));
}

bool HoldsSamples(const std::vector<int64_t>& shape,
                  const run::NetworkInput& input) {
  const auto wanted = api::Shape(input);
  return !shape.empty() && shape[0] > 0 && shape.size() == wanted.size() &&
         std::equal(shape.begin() + 1, shape.end(), wanted.begin() + 1);
}

// Large pictures are unpacked one after the other, by all workers.
std::unique_lock<std::mutex> Turn(const Question& question) {
  constexpr uint64_t kLarge = 1 << 20;
  static std::mutex mutex;
  for (const Part& part : question.parts) {
    if (StatedPixels(part.content).value_or(0) > kLarge) {
      return std::unique_lock(mutex);
    }
  }
  return {};
}

// One picture for each part.
Samples Decode(const Question& question, const run::NetworkInput& input,
               const run::PictureOptions& pictures) {
  const auto turn = Turn(question);
  PartFiles files(question.parts);
  mxc_tensor frame = input;
  const auto one = api::Shape(input);
  std::vector<int64_t> shape(one.begin(), one.end());
  shape[0] = std::ssize(question.parts);
  frame.dims = shape.data();
  frame.bytes =
      input.bytes / static_cast<size_t>(input.dims[0]) * question.parts.size();
  runtime::Array array =
      run::Take(runtime::Array::Allocate(run::TypeOf(input), shape));
  files.Try(
      [&] { run::FillInput(frame, array.bytes(), files.paths(), pictures); });
  return {array.type, array.shape, array.bytes(), array.storage};
}

}  // namespace

void Samples::Copy(int64_t k, runtime::ElementType to,
                   std::span<std::byte> memory) const {
  const size_t row = elements.size() / static_cast<size_t>(count());
  runtime::ConvertElements(
      type, elements.subspan(static_cast<size_t>(k) * row, row), to, memory);
}

std::optional<Samples> Samples::Of(const Question& question,
                                   const run::NetworkInput& input,
                                   const run::PictureOptions& pictures) {
  if (question.parts.empty()) return std::nullopt;
  for (const Part& part : question.parts) {
    if (!part.input.empty() && part.input != input.name) return std::nullopt;
  }
  const Part& first = question.parts.front();
  if (!first.array && run::IsPicture(BytesOf(first)) && input.rank == 4) {
    return Decode(question, input, pictures);
  }
  if (question.parts.size() > 1) return std::nullopt;
  Samples samples;
  if (first.array) {
    samples = {first.array->type, first.array->shape, first.array->bytes(),
               first.array->storage};
  } else {
    const auto view = runtime::ViewNpy(BytesOf(first));
    if (!view.ok()) return std::nullopt;
    samples = {view->type, view->shape, view->elements, nullptr};
  }
  if (!HoldsSamples(samples.shape, input)) return std::nullopt;
  if (!run::HoldsPixels(samples.type, input, pictures)) return samples;
  runtime::Array array =
      run::Take(runtime::Array::Allocate(run::TypeOf(input), samples.shape));
  run::FillWithPixels(input, pictures, samples.elements, array.bytes());
  return Samples{array.type, array.shape, array.bytes(), array.storage};
}

}  // namespace mxc::serve
