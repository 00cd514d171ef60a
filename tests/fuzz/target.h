// SPDX-License-Identifier: Apache-2.0
// A reader under fuzzing. libFuzzer drives it (libfuzzer.cc, one program for
// each line of targets.def), and so does ctest's smoke test, with all of them
// in one program.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/bytes.h"

namespace mxc::fuzz {

using runtime::Bytes;

struct Target {
  // Reads the input, whatever it is, and all that was found in it. Ends the
  // process where something is wrong.
  void (*run)(Bytes input);
  // Small sound files, made by our own writers.
  std::vector<std::string> (*seeds)();
  size_t most_bytes = 4096;  // larger inputs only take longer
  // What stands in such files, for the dictionary.
  std::vector<std::string> words = {};
  // Makes checksums right again where the input still has them, so that what
  // lies behind is reached. Null: the format has none.
  void (*seal)(std::span<std::byte> input) = nullptr;
};

// Reads every byte, so that AddressSanitizer sees whether they are there.
void Touch(Bytes bytes);

// Aborts with the message.
[[noreturn]] void Wrong(const std::string& message);

inline std::string_view TextOf(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}
inline Bytes BytesOf(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

}  // namespace mxc::fuzz
