// SPDX-License-Identifier: Apache-2.0
#include "runtime/device/images.h"

#include <cstring>

namespace mxc::runtime {
namespace {

Status Damaged(const char* what) {
  return Fail(StatusCode::kCorrupt, "damaged: its code for the device %s",
              what);
}

// Texts and names end with a zero byte.
bool HasEnd(const DeviceImage& image) {
  const bool text =
      image.kind == MXC_IMAGE_NAMES || image.kind == MXC_IMAGE_PTX;
  return !text || (!image.bytes.empty() && image.bytes.back() == std::byte{0});
}

}  // namespace

StatusOr<std::vector<DeviceImage>> ReadDeviceCode(Bytes section) {
  mxc_device_code header;
  if (section.size() < sizeof header) return Damaged("is missing");
  std::memcpy(&header, section.data(), sizeof header);
  if (header.abi_version != MXC_ABI_VERSION) {
    return Damaged("is of another version");
  }
  const uint64_t room = section.size() - sizeof header;
  if (header.image_count == 0 ||
      header.image_count > room / sizeof(mxc_device_image)) {
    return Damaged("is missing");
  }
  std::vector<DeviceImage> images;
  for (uint64_t i = 0; i < header.image_count; ++i) {
    mxc_device_image row;
    std::memcpy(&row, section.data() + sizeof header + i * sizeof row,
                sizeof row);
    const auto bytes = Slice(section, row.offset, row.size);
    if (!bytes || row.kind >= MXC_IMAGE_KIND_COUNT) {
      return Damaged("leaves its section or is of an unknown kind");
    }
    images.push_back(
        {static_cast<mxc_image_kind>(row.kind), row.version, *bytes});
    if (!HasEnd(images.back())) return Damaged("has no end");
  }
  return images;
}

}  // namespace mxc::runtime
