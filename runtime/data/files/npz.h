// SPDX-License-Identifier: Apache-2.0
// Reads NumPy's .npz: a zip archive of .npy members, stored or deflated (what
// numpy.savez and numpy.savez_compressed write, Zip64 included).
#pragma once

#include <string>
#include <vector>

#include "runtime/data/files/inflate.h"
#include "runtime/formats/npy.h"

namespace mxc::data {

struct NpzMember {
  std::string name;  // without .npy
  runtime::NpyView array;
  std::shared_ptr<const void> owner;  // of its elements
  Arriving arriving = {};
};

// In the order of the archive; stored members stay in `file`.
runtime::StatusOr<std::vector<NpzMember>> ParseNpz(const HeldBytes& file);
runtime::StatusOr<std::vector<NpzMember>> ReadNpz(const std::string& path);

}  // namespace mxc::data
