// SPDX-License-Identifier: Apache-2.0
#include "tools/run/launch/order.h"

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "tools/run/failure.h"

namespace mxc::run {
namespace {

constexpr std::string_view kSignal = "signal ";

// The texts, each behind the other and a zero, as hexadecimal digits: they may
// hold any bytes, ends of lines among them.
std::string Pack(const std::vector<std::string>& texts) {
  std::string packed;
  for (const std::string& text : texts) {
    for (const char byte : text + '\0') {
      char digits[3];
      std::snprintf(digits, sizeof digits, "%02x",
                    static_cast<unsigned char>(byte));
      packed += digits;
    }
  }
  return packed;
}

std::vector<std::string> Unpack(const std::string& packed) {
  std::vector<std::string> texts;
  std::string text;
  for (size_t i = 0; i + 1 < packed.size(); i += 2) {
    const char digits[] = {packed[i], packed[i + 1], '\0'};
    const long byte = std::strtol(digits, nullptr, 16);
    if (byte != 0) {
      text += static_cast<char>(byte);
    } else {
      texts.push_back(std::move(text));
      text.clear();
    }
  }
  return texts;
}

}  // namespace

// An empty text stands behind the environment.
std::string Encode(const Order& order) {
  std::vector<std::string> texts = {order.folder, order.key};
  for (const auto& [name, value] : order.environment) {
    texts.push_back(name + "=" + value);
  }
  texts.emplace_back();
  texts.insert(texts.end(), order.command.begin(), order.command.end());
  return Pack(texts) + "\n";
}

Order DecodeOrder(const std::string& line) {
  const std::vector<std::string> texts = Unpack(line);
  Order order;
  size_t next = 2;
  for (; next < texts.size() && !texts[next].empty(); ++next) {
    const size_t equals = texts[next].find('=');
    order.environment[texts[next].substr(0, equals)] =
        equals == std::string::npos ? "" : texts[next].substr(equals + 1);
  }
  for (++next; next < texts.size(); ++next) {
    order.command.push_back(texts[next]);
  }
  if (order.command.empty()) {
    throw Failure("what to run is not as mxc launch says it");
  }
  order.folder = texts[0];
  order.key = texts[1];
  return order;
}

std::string EncodeSignal(int signal) {
  return std::string(kSignal) + std::to_string(signal) + "\n";
}

std::optional<int> DecodeSignal(const std::string& line) {
  if (!line.starts_with(kSignal)) return std::nullopt;
  const int signal = std::atoi(line.c_str() + kSignal.size());
  constexpr int kMost = 64;
  if (signal < 1 || signal > kMost) return std::nullopt;
  return signal;
}

}  // namespace mxc::run
