// SPDX-License-Identifier: Apache-2.0
#include "tools/driver/kept_preprocessing.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "runtime/data/preprocessing.h"
#include "tools/driver/unplaced_error.h"

namespace mxc {
namespace {

const Buffer* FirstDataInput(const Plan& plan) {
  const Program& program = plan.programs.front();
  for (const int b : program.BuffersOf(BufferKind::kInput)) {
    const Buffer& buffer = program.buffers[b];
    if (std::ranges::count(plan.data_inputs, buffer.name) > 0) return &buffer;
  }
  return nullptr;
}

// Of a batch of pictures that are stretched to its size; nothing where its shape
// is of none.
std::optional<data::Preprocessing> Stretched(const Shape& batch) {
  if (batch.rank() != 4) return std::nullopt;
  const auto colours = [](int64_t n) { return n == 1 || n == 3; };
  const bool first = colours(batch[1]);
  if (!first && !colours(batch[3])) return std::nullopt;
  data::Preprocessing pictures;
  pictures.data_shape = {batch.dims().begin() + 1, batch.dims().end()};
  pictures.fit = "stretch";
  pictures.order = batch[first ? 1 : 3] == 1 ? "grey" : "rgb";
  pictures.layout = first ? "NCHW" : "NHWC";
  return pictures;
}

}  // namespace

Result<std::string> KeptPreprocessing(const Plan& plan,
                                      const std::string& said) {
  if (said.empty()) return plan.preprocessing;
  auto known = data::ParsePreprocessing(plan.preprocessing);
  if (!known.ok()) return UnplacedError(known.status().message());
  if (known->fit.empty()) {
    const Buffer* input = FirstDataInput(plan);
    const auto pictures =
        input == nullptr ? std::nullopt : Stretched(input->type.shape);
    if (!pictures) {
      return UnplacedError(
          input == nullptr
              ? std::string("the network has no input for pictures")
              : fmt::format("input '{}' {} takes no pictures, of which --mean, "
                            "--std, --scale, --order and --resize tell",
                            input->name, ToString(input->type)));
    }
    *known = *pictures;
  }
  const auto changed =
      data::ParsePreprocessing(data::PreprocessingText(*known) + " " + said);
  if (!changed.ok()) return UnplacedError(changed.status().message());
  return data::PreprocessingText(*changed);
}

}  // namespace mxc
