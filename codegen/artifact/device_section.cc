// SPDX-License-Identifier: Apache-2.0
#include "codegen/artifact/device_section.h"

#include <cstring>

#include "ir/program/memory.h"

namespace mxc {

std::string DeviceSection(std::span<const DeviceForm> forms) {
  const mxc_device_code header = {MXC_ABI_VERSION,
                                  static_cast<uint32_t>(forms.size())};
  std::string bytes(sizeof header + forms.size() * sizeof(mxc_device_image),
                    '\0');
  std::memcpy(bytes.data(), &header, sizeof header);
  for (size_t i = 0; i < forms.size(); ++i) {
    bytes.resize(AlignedBytes(static_cast<int64_t>(bytes.size())));
    const mxc_device_image row = {static_cast<uint32_t>(forms[i].kind),
                                  forms[i].version, bytes.size(),
                                  forms[i].bytes.size()};
    std::memcpy(bytes.data() + sizeof header + i * sizeof row, &row,
                sizeof row);
    bytes += forms[i].bytes;
  }
  return bytes;
}

}  // namespace mxc
