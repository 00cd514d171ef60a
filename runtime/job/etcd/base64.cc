// SPDX-License-Identifier: Apache-2.0
#include "runtime/job/etcd/base64.h"

#include <cstdint>

namespace mxc::job {
namespace {

constexpr std::string_view kDigits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

}  // namespace

std::string EncodeBase64(std::string_view bytes) {
  std::string text;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const std::string_view some = bytes.substr(i, 3);
    uint32_t bits = 0;
    for (size_t k = 0; k < 3; ++k) {
      bits = bits << 8 | (k < some.size() ? uint8_t(some[k]) : 0u);
    }
    for (size_t k = 0; k < 4; ++k) {
      const uint32_t digit = bits >> (18 - 6 * k) & 63;
      text += k <= some.size() ? kDigits[digit] : '=';
    }
  }
  return text;
}

std::optional<std::string> DecodeBase64(std::string_view text) {
  std::string bytes;
  uint32_t bits = 0;
  int count = 0;
  size_t end = text.size();
  while (end > 0 && text.size() - end < 2 && text[end - 1] == '=') --end;
  for (const char c : text.substr(0, end)) {
    const size_t digit = kDigits.find(c);
    if (digit == std::string_view::npos) return std::nullopt;
    bits = bits << 6 | static_cast<uint32_t>(digit);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes += static_cast<char>(bits >> count & 255);
  }
  if (EncodeBase64(bytes) != text) return std::nullopt;
  return bytes;
}

}  // namespace mxc::job
