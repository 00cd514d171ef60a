// SPDX-License-Identifier: Apache-2.0
// What the instructions of a Python pickle build, without calling anything.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "runtime/base/status.h"

namespace mxc::runtime {

// Values refer to each other by index, for a pickle may share them and may even
// have cycles: who walks them must bound the walk.
struct PickleValue {
  enum class Kind {
    kNone,
    kInteger,   // `integer`; True is 1, False is 0
    kFloat,     // its value is not kept
    kString,    // `text`, UTF-8
    kBytes,     // `text`
    kSequence,  // `items`: a tuple, list or set
    kDict,      // `items`: key, value, key, value …
    kClass,     // `text`: "module.name", of a class or a function
    kObject,    // `text`: the class; `items`: its state, if any was given
  };
  Kind kind = Kind::kNone;
  int64_t integer = 0;
  std::string text;
  std::vector<uint32_t> items;
};

struct Pickle {
  std::vector<PickleValue> values;
  uint32_t root = 0;
};

// bytes, bytearray and codecs' encode (which Python 2 writes for bytes) are
// understood; every other call gives an object of the called name. Refuses
// persistent and extension references and instructions of Python 1.
StatusOr<Pickle> ReadPickle(std::span<const std::byte> bytes);

}  // namespace mxc::runtime
