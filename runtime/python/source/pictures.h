// SPDX-License-Identifier: Apache-2.0
// Pictures as a network that was trained on pictures takes them.
#pragma once

#include <string>

#include "runtime/data/picture/transform.h"
#include "runtime/python/source/named_arrays.h"

namespace mxc::python {

class Pictures {
 public:
  // As runtime/data/preprocessing.h writes it.
  explicit Pictures(const std::string& preprocessing);

  // A JPEG or PNG as a sample: channels, height, width.
  nb::object Load(nb::bytes picture) const;

 private:
  data::PictureTransform transform_;
};

}  // namespace mxc::python
