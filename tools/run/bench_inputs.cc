// SPDX-License-Identifier: Apache-2.0
#include "tools/run/bench_inputs.h"

#include <algorithm>
#include <cstring>

#include "runtime/artifact/manifest.h"
#include "runtime/formats/convert.h"
#include "tools/run/failure.h"

namespace mxc::run {
namespace {

// Numbers from -1 to 1.
class Noise {
 public:
  float Next() { return static_cast<float>(Bits()) * 0x1p-23f - 1; }
  uint32_t Below(uint32_t count) {
    return static_cast<uint32_t>(uint64_t{Bits()} * count >> 24);
  }

 private:
  uint32_t Bits() {
    state_ = state_ * 1664525 + 1013904223;
    return state_ >> 8;
  }
  uint32_t state_ = 1;
};

uint64_t Elements(const mxc_tensor& tensor) {
  return tensor.bytes / mxc_dtype_size(tensor.dtype);
}

void FillFloats(std::span<std::byte> memory, const mxc_tensor& tensor,
                auto next) {
  std::vector<float> values(Elements(tensor));
  for (float& value : values) value = next();
  runtime::ConvertElements(runtime::ElementType::kF32,
                           std::as_bytes(std::span(values)), TypeOf(tensor),
                           memory);
}

// A label for each row of the network's output: one of its classes.
void FillWithLabels(std::span<std::byte> memory, const mxc_tensor& label,
                    const mxc_tensor& output) {
  const uint64_t labels = std::max<uint64_t>(Elements(label), 1);
  const auto classes = static_cast<uint32_t>(Elements(output) / labels);
  Noise noise;
  FillFloats(memory, label, [&] {
    return classes > 1 ? static_cast<float>(noise.Below(classes))
                       : noise.Next();
  });
}

}  // namespace

void DeclareBenchInputs(CLI::App& app, BenchInputs& inputs) {
  app.add_option_function<std::vector<std::string>>(
         "--input",
         [&inputs](const std::vector<std::string>& texts) {
           for (const std::string& text : texts) {
             inputs.feed.files.push_back(ParseInput(text));
           }
         },
         "FILE for the first input or NAME=FILE; the others are zero, "
         "labels are made up (default: noise)")
      ->type_size(1)
      ->allow_extra_args(false);
  DeclarePictures(app, inputs.feed.pictures);
  app.add_option("--lr", inputs.learning_rate,
                 "learning rate of a training step")
      ->capture_default_str();
}

void FillForBench(api::Executor& executor, const Session& session,
                  const BenchInputs& options) {
  const auto inputs = session.Inputs();
  const auto outputs = session.model.outputs(session.entry);
  const auto given = FillInputs(executor, session.model.Lengths(session.entry),
                                inputs, options.feed);
  for (size_t k = 0; k < inputs.size(); ++k) {
    if (given[k]) continue;
    const auto mapped = executor.MapInput(inputs[k].name);
    const std::span memory = mapped.span();
    if (inputs[k].use == MXC_USE_RATE) {
      std::memcpy(memory.data(), &options.learning_rate, sizeof(double));
    } else if (!IsFloat(TypeOf(inputs[k])) || !inputs[k].read) {
      continue;
    } else if (inputs[k].use == MXC_USE_LABEL && !outputs.empty()) {
      FillWithLabels(memory, inputs[k], outputs.front());
    } else if (options.feed.files.empty()) {
      FillFloats(memory, inputs[k],
                 [noise = Noise()]() mutable { return noise.Next(); });
    }
  }
}

bool IsTraining(const Session& session) {
  return session.model.entry(session.entry).purpose == MXC_PURPOSE_TRAIN;
}

}  // namespace mxc::run
