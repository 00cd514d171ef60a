// SPDX-License-Identifier: Apache-2.0
#include "runtime/python/source/samples.h"

#include <nanobind/stl/vector.h>

#include <optional>

#include "runtime/python/source/gil.h"

namespace mxc::python {
namespace {

nb::list ListOf(const std::vector<data::NamedArray>& arrays) {
  nb::list list;
  for (const data::NamedArray& named : arrays)
    list.append(NumpyOf(named.array));
  return list;
}

}  // namespace

Samples::Samples(const std::string& spec, const SampleOptions& options) {
  data::IteratorOptions open;
  open.batch_size = options.batch;
  open.seed = options.seed;
  open.shuffle = options.shuffle;
  open.held_out = options.held_out;
  open.last_batch = data::LastBatch::kPad;
  open.settings = options.settings;
  open.offered = options.offered;
  if (!options.shape.empty()) {
    open.takes = {{"data", data::ElementType::kF32, options.shape}};
  }
  if (options.label_classes >= 0) open.label_classes = options.label_classes;
  std::optional<data::StatusOr<std::unique_ptr<data::Iterator>>> opened;
  {
    const GilReleased released;
    opened.emplace(data::Open(spec, open));
  }
  samples_ = Take(std::move(*opened));
}

nb::object Samples::Next() {
  data::Batch batch;
  std::optional<data::StatusOr<bool>> more;
  {
    const GilReleased released;
    more.emplace(samples_->Next(batch));
  }
  if (!Take(std::move(*more))) return nb::none();
  return nb::make_tuple(ListOf(batch.data), ListOf(batch.labels), batch.index,
                        batch.pad);
}

}  // namespace mxc::python
