// SPDX-License-Identifier: Apache-2.0
// How a picture is to be turned, as cameras note it in EXIF data: 1, as it is
// stored, to 8.
#pragma once

#include "runtime/data/picture/picture.h"

namespace mxc::data {

// The orientation in EXIF data, which begin with TIFF's header; 1 where they
// say none, or are damaged.
int OrientationOf(runtime::Bytes exif);

// The picture as it is to be looked at.
Picture Turned(Picture picture, int orientation);

}  // namespace mxc::data
