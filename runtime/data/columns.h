// SPDX-License-Identifier: Apache-2.0
// A source whose samples are the rows of arrays, as f32 whatever they are stored
// as.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runtime/data/files/npz.h"
#include "runtime/data/source.h"

namespace mxc::data {

struct Column {
  Field field;  // of a sample, f32
  NpzMember stored;
  size_t elements = 0;  // of a sample

  Column(std::string name, NpzMember member);
};

struct Columns {
  std::vector<Column> data, labels;
};

// That the first axis of an array can count samples.
Status CheckArray(const NpzMember& member);

// Refuses arrays of other lengths than the first one of the data. The data are
// multiplied by `scale`; `noun` is what messages call one of them: "record".
StatusOr<std::unique_ptr<Source>> SourceOf(Columns columns, double scale,
                                           const char* noun);

}  // namespace mxc::data
