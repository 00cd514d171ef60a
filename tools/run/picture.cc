// SPDX-License-Identifier: Apache-2.0
#include "tools/run/picture.h"

#include "tools/run/failure.h"

namespace mxc::run {

Picture DecodePicture(runtime::Bytes bytes, int channels,
                      const std::string& name, data::Orientation turned) {
  if (!IsPicture(bytes)) {
    throw Failure(name + ": neither .npy nor JPEG nor PNG");
  }
  Picture picture;
  const runtime::Status status =
      data::DecodePicture(bytes, channels, &picture, turned);
  if (!status.ok()) throw Failure(name + ": " + status.message());
  return picture;
}

}  // namespace mxc::run
