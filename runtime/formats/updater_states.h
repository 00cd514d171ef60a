// SPDX-License-Identifier: Apache-2.0
// An optimizer's state as MXNet saves it, `PREFIX-0001.states`: the pickle of
// {index: state}, or of the pair of that and the optimizer (MXNet 1.9.1
// python/mxnet/optimizer/optimizer.py, Updater.get_states). A state is None, an
// array or a (nested) tuple of them.
//
// Reading interprets the pickle's data instructions alone and calls nothing: an
// object of any class but NDArray is kept as its class's name. Pickles of every
// protocol, those of Python 2 included, are read.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "runtime/base/file.h"
#include "runtime/base/file_writer.h"
#include "runtime/base/status.h"
#include "runtime/formats/array.h"

namespace mxc::runtime {

// An array, a tuple, or, where it has neither, None.
struct StateValue {
  std::optional<Array> array;
  bool is_tuple = false;
  std::vector<StateValue> items;  // of a tuple
};

struct UpdaterStates {
  struct Entry {
    std::variant<int64_t, std::string> key;  // a parameter's index or name
    StateValue value;
  };
  std::vector<Entry> entries;  // in the order of the file
  // "Adam" where the optimizer was saved, too; not written.
  std::string optimizer;
};

StatusOr<UpdaterStates> ParseUpdaterStates(std::span<const std::byte> bytes);
StatusOr<UpdaterStates> ReadUpdaterStates(const std::string& path);

// Protocol 4, which MXNet opens with Python 3.4 and later.
Status WriteUpdaterStates(const std::string& path, const UpdaterStates& states,
                          FileWriter::Sync sync = FileWriter::Sync::kYes);

// The arrays of a state in order, None left out.
std::vector<Array> FlattenState(const StateValue& value);

}  // namespace mxc::runtime
