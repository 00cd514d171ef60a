// SPDX-License-Identifier: Apache-2.0
#include "runtime/python/source/pictures.h"

#include "runtime/python/source/gil.h"

namespace mxc::python {
namespace {

data::PictureTransform Make(const std::string& line) {
  const auto trained = Take(data::ParsePreprocessing(line));
  if (trained.fit != "crop") {
    throw nb::value_error(
        "nothing says how the network takes pictures: give arrays");
  }
  data::PictureOptions options;
  options.data_shape = trained.data_shape;
  options.Take(trained);
  return Take(data::PictureTransform::Make(options, "the model"));
}

}  // namespace

Pictures::Pictures(const std::string& preprocessing)
    : transform_(Make(preprocessing)) {}

nb::object Pictures::Load(nb::bytes picture) const {
  const data::Field field = transform_.field("data");
  runtime::Array sample =
      Take(runtime::Array::Allocate(field.type, field.shape));
  const runtime::Bytes bytes(static_cast<const std::byte*>(picture.data()),
                             picture.size());
  runtime::Status status;
  {
    const GilReleased released;
    data::Picture decoded;
    status = transform_.Decode(bytes, &decoded);
    if (status.ok()) {
      status = transform_.Apply(std::move(decoded), data::Draws(0),
                                sample.bytes().data());
    }
  }
  Check(status);
  return NumpyOf(sample);
}

}  // namespace mxc::python
