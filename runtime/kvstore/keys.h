// SPDX-License-Identifier: Apache-2.0
// The table of keys, which all nodes of a job have alike, and on which server
// each of them lives.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/kvstore/status.h"

namespace mxc::kvstore {

inline constexpr uint32_t kAnyWorker = UINT32_MAX;

struct KeySpec {
  std::string name;    // "conv0_weight"
  uint64_t bytes = 0;  // of its value
  // It is pushed to: its value is float32, as its gradients are. Other keys
  // only begin with a value and are pulled.
  bool trained = false;
  // Keys of equal numbers live on one server: a parameter and what the
  // optimizer keeps for it.
  uint32_t group = 0;
  // Every server has one; a pull gives that of the key's group.
  bool everywhere = false;
  // Of values on their way: smaller ones come first.
  uint32_t priority = 0;
  // An update of an element depends on other elements, as where it needs a
  // norm: the key is not cut.
  bool indivisible = false;
  // Elements of which an update cannot have a part: where the key is cut and
  // where slices end is a multiple of them. 0: it does not travel in slices.
  uint64_t grain = 1;
  // The workers that alone may give its first value, and get its value.
  uint32_t writer = kAnyWorker, reader = kAnyWorker;
  // Elements of a row, where gradients are of some rows alone (row-sparse);
  // 0: they are of the whole.
  uint64_t width = 0;

  bool sparse() const { return width > 0; }
  uint64_t rows() const { return elements() / width; }  // of a sparse one
  uint64_t elements() const { return bytes / sizeof(float); }
};

using KeyTable = std::vector<KeySpec>;

enum class Placement {
  // The largest groups first, each to the server that has least.
  kBySize,
  // The n-th trained key, from 0, to server 9973·n mod the servers, as MXNet
  // deals keys: where it matters which of them share a server.
  kInTurn,
};

// The server of each key; a function of its arguments alone.
std::vector<uint32_t> Assign(const KeyTable& keys, uint32_t servers,
                             Placement placement);

// Of all there is in it; nodes compare it.
uint64_t Digest(const KeyTable& keys);

}  // namespace mxc::kvstore
