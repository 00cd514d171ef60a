// SPDX-License-Identifier: Apache-2.0
// Pictures as files hold them: t[(N,) H, W, C].
#pragma once

#include <functional>
#include <string>

#include "ir/ops/op.h"

namespace mxc {

// Output 0 has input 0's type, but that many rows and columns.
//   C1  data has rank 3 or 4
void ImageTypes(TypeInference& t, int64_t rows, int64_t columns);
// False while the shape is not known; reports a violation of C1.
bool RequireImage(TypeInference& t);

// output[…, y, x, c] = data[…, y', x', c], where `from` maps y and x.
void MoveCells(Definition& def,
               const std::function<void(Expr& y, Expr& x)>& from);

// Pictures mirrored along that axis, counted from the end. `name` lacks _image_.
//   C1  data has rank 3 or 4
Operator ImageFlipOperator(const std::string& name, std::string doc,
                           int axis_from_end);

}  // namespace mxc
