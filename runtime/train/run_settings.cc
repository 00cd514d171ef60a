// SPDX-License-Identifier: Apache-2.0
#include "runtime/train/run_settings.h"

#include <charconv>
#include <cmath>

#include "runtime/train/protobuf.h"

namespace mxc::train {
namespace {

// Field numbers of HParamsPluginData, SessionStartInfo, SessionEndInfo, of an
// entry of a map, and of google.protobuf.Value.
constexpr int kStartInfo = 3, kEndInfo = 4;
constexpr int kSessionSettings = 1, kSessionStartTime = 5;
constexpr int kSessionStatus = 1, kSessionEndTime = 2;
constexpr int kEntryKey = 1, kEntryValue = 2;
constexpr int kValueNumber = 2, kValueText = 3;
constexpr uint64_t kStatusSuccess = 1, kStatusFailure = 2;

std::string ValueMessage(const std::string& text) {
  std::string message;
  double number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error == std::errc() && stop == end && std::isfinite(number)) {
    PutFixed(message, kValueNumber, number);
  } else {
    PutCounted(message, kValueText, text);
  }
  return message;
}

}  // namespace

std::string SessionStartMessage(const RunSettings& settings, double time) {
  std::string start, message;
  for (const auto& [name, text] : settings) {
    std::string entry;
    PutCounted(entry, kEntryKey, name);
    PutCounted(entry, kEntryValue, ValueMessage(text));
    PutCounted(start, kSessionSettings, entry);
  }
  PutFixed(start, kSessionStartTime, time);
  PutCounted(message, kStartInfo, start);
  return message;
}

std::string SessionEndMessage(bool failed, double time) {
  std::string end, message;
  PutKey(end, kSessionStatus, kVarint);
  PutVarint(end, failed ? kStatusFailure : kStatusSuccess);
  PutFixed(end, kSessionEndTime, time);
  PutCounted(message, kEndInfo, end);
  return message;
}

}  // namespace mxc::train
