// SPDX-License-Identifier: Apache-2.0
#include "runtime/formats/npy.h"

#include "tests/fuzz/arrays.h"
#include "tests/fuzz/target.h"

namespace mxc::fuzz {
namespace {

void RunNpy(Bytes input) {
  const auto view = runtime::ViewNpy(input);
  if (view.ok()) Touch(view->elements);
  const auto array = runtime::ParseNpy(input);
  if (array.ok() != view.ok()) Wrong("a view and a copy disagree");
  if (!array.ok()) return;
  Touch(array->bytes());
  if (array->shape != view->shape) Wrong("a view and a copy differ");
}

}  // namespace

extern const Target npy;
const Target npy = {
    .run = RunNpy,
    .seeds = SmallNpyFiles,
    .most_bytes = 256,
    .words = {"\x93NUMPY", "'descr': ", "'fortran_order': ", "'shape': ",
              "'<f4'", "'|u1'", "'>f8'", "False", "True", "(2, 3)", "(),"}};

}  // namespace mxc::fuzz
