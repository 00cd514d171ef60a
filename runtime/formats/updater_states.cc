// SPDX-License-Identifier: Apache-2.0
#include "runtime/formats/updater_states.h"

#include <limits>
#include <string_view>
#include <utility>

#include "runtime/formats/byte_reader.h"
#include "runtime/formats/ndarray_list.h"
#include "runtime/formats/pickle.h"

namespace mxc::runtime {
namespace {

using Kind = PickleValue::Kind;

// MXNet's tuples are two deep: (optimizer's states, master weight).
constexpr int kDeepest = 8;

Status CorruptStates(const char* what) {
  return Fail(StatusCode::kCorrupt, "not an optimizer's states: %s", what);
}

class Converter {
 public:
  // Shared values are copied, so the work is bounded by the size of the pickle
  // rather than by the number of paths through it.
  Converter(const Pickle& pickle, size_t bytes)
      : pickle_(pickle), budget_(2 * bytes), bytes_left_(2 * bytes) {}

  StatusOr<UpdaterStates> Convert() {
    UpdaterStates states;
    const PickleValue* root = &pickle_.values[pickle_.root];
    if (root->kind == Kind::kSequence && root->items.size() == 2 &&
        Item(*root, 1).kind == Kind::kObject) {
      const std::string& name = Item(*root, 1).text;
      states.optimizer = name.substr(name.rfind('.') + 1);
      root = &Item(*root, 0);
    }
    if (root->kind != Kind::kDict) {
      return CorruptStates("expected a dict of states");
    }
    for (size_t i = 0; i < root->items.size(); i += 2) {
      UpdaterStates::Entry entry;
      const PickleValue& key = Item(*root, i);
      if (key.kind == Kind::kInteger) {
        entry.key = key.integer;
      } else if (key.kind == Kind::kString && Afford(key.text.size())) {
        entry.key = key.text;
      } else {
        return CorruptStates("a key is neither an index nor a name");
      }
      MXC_RT_RETURN_IF_ERROR(
          ConvertState(Item(*root, i + 1), kDeepest, &entry.value));
      states.entries.push_back(std::move(entry));
    }
    return states;
  }

 private:
  const PickleValue& Item(const PickleValue& value, size_t index) const {
    return pickle_.values[value.items[index]];
  }

  bool Afford(size_t bytes) {
    if (bytes > bytes_left_) return false;
    bytes_left_ -= bytes;
    return true;
  }

  Status ConvertState(const PickleValue& value, int depth, StateValue* state) {
    if (depth == 0 || budget_ == 0) return CorruptStates("too deeply nested");
    --budget_;
    switch (value.kind) {
      case Kind::kNone:
        return {};
      case Kind::kObject:
        return ConvertArray(value, state);
      case Kind::kSequence:
        state->is_tuple = true;
        for (size_t i = 0; i < value.items.size(); ++i) {
          MXC_RT_RETURN_IF_ERROR(ConvertState(Item(value, i), depth - 1,
                                              &state->items.emplace_back()));
        }
        return {};
      // Numbers that an optimizer keeps beside its arrays.
      case Kind::kInteger:
      case Kind::kFloat:
        return {};
      default:
        return CorruptStates("a state is neither an array nor a tuple of them");
    }
  }

  Status ConvertArray(const PickleValue& value, StateValue* state) {
    if (!value.text.starts_with("mxnet.") ||
        !(value.text.ends_with(".NDArray") ||
          value.text.ends_with(".ndarray"))) {
      return Fail(StatusCode::kUnsupported,
                  "a state is an object of class '%.200s', not an NDArray",
                  value.text.c_str());
    }
    const PickleValue* handle = nullptr;
    if (value.items.size() == 1) {
      const PickleValue& fields = Item(value, 0);
      for (size_t i = 0; fields.kind == Kind::kDict && i < fields.items.size();
           i += 2) {
        if (Item(fields, i).text == "handle") handle = &Item(fields, i + 1);
      }
    }
    if (handle == nullptr) return CorruptStates("an array has no bytes");
    if (handle->kind == Kind::kNone) return {};
    if (handle->kind != Kind::kBytes || !Afford(handle->text.size())) {
      return CorruptStates("an array has no bytes");
    }
    ByteReader reader(std::as_bytes(std::span(handle->text)));
    StatusOr<Array> array = ReadNdarrayRecord(reader);
    if (!array.ok()) return array.status();
    if (reader.left() != 0) return CorruptStates("bytes after an array");
    state->array = std::move(*array);
    return {};
  }

  const Pickle& pickle_;
  size_t budget_, bytes_left_;
};

// The pickle's instructions by their letters in Python's pickletools.
class Writer {
 public:
  explicit Writer(const std::string& path) : file_(path) {}

  Status Write(const UpdaterStates& states, FileWriter::Sync sync) {
    Emit("\x80\x04}(");  // PROTO 4, EMPTY_DICT, MARK
    for (const UpdaterStates::Entry& entry : states.entries) {
      WriteKey(entry.key);
      WriteState(entry.value);
    }
    Emit("u.");  // SETITEMS, STOP
    return file_.Commit(sync);
  }

 private:
  void Emit(std::string_view instructions) {
    file_.Append(std::string(instructions));
  }

  void WriteKey(const std::variant<int64_t, std::string>& key) {
    if (const auto* name = std::get_if<std::string>(&key)) {
      Emit("X");
      file_.AppendScalar(static_cast<uint32_t>(name->size()));
      file_.Append(*name);
      return;
    }
    Emit("\x8a\x08");  // LONG1 of 8 bytes
    file_.AppendScalar(std::get<int64_t>(key));
  }

  void WriteState(const StateValue& state) {
    if (state.array) return WriteArray(*state.array);
    if (!state.is_tuple) return Emit("N");
    Emit("(");
    for (const StateValue& item : state.items) WriteState(item);
    Emit("t");
  }

  // NDArray(None), then __setstate__({'handle': bytearray(record)})
  void WriteArray(const Array& array) {
    Emit("cmxnet.ndarray.ndarray\nNDArray\nN\x85R}X");
    file_.AppendScalar(uint32_t{6});
    Emit("handlecbuiltins\nbytearray\n\x8e");
    file_.AppendScalar(NdarrayRecordBytes(array));
    WriteNdarrayRecord(file_, array);
    Emit("\x85Rsb");
  }

  FileWriter file_;
};

void Flatten(const StateValue& value, std::vector<Array>& arrays) {
  if (value.array) arrays.push_back(*value.array);
  for (const StateValue& item : value.items) Flatten(item, arrays);
}

}  // namespace

StatusOr<UpdaterStates> ParseUpdaterStates(std::span<const std::byte> bytes) {
  const StatusOr<Pickle> pickle = ReadPickle(bytes);
  if (!pickle.ok()) return pickle.status();
  return Converter(*pickle, bytes.size()).Convert();
}

StatusOr<UpdaterStates> ReadUpdaterStates(const std::string& path) {
  const auto file = MappedFile::Open(path);
  if (!file.ok()) return file.status();
  auto states = ParseUpdaterStates(file->bytes());
  if (states.ok()) return states;
  return Status(states.status().code(),
                path + ": " + states.status().message());
}

Status WriteUpdaterStates(const std::string& path, const UpdaterStates& states,
                          FileWriter::Sync sync) {
  return Writer(path).Write(states, sync);
}

std::vector<Array> FlattenState(const StateValue& value) {
  std::vector<Array> arrays;
  Flatten(value, arrays);
  return arrays;
}

}  // namespace mxc::runtime
