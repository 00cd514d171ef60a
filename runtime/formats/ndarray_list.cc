// SPDX-License-Identifier: Apache-2.0
#include "runtime/formats/ndarray_list.h"

#include <algorithm>
#include <string_view>

namespace mxc::runtime {
namespace {

constexpr uint64_t kListMagic = 0x112;
constexpr uint32_t kMagicV1 = 0xF993fac8;
constexpr uint32_t kMagicV2 = 0xF993fac9;
constexpr uint32_t kMagicV3 = 0xF993faca;
constexpr int64_t kMaxRank = 32;

enum Storage : int32_t { kDense = 0, kRowSparse = 1, kCsr = 2 };

// A record's meaning before its elements are copied out of the file.
struct Record {
  Storage storage = kDense;
  bool empty = false;  // saved before it had a value
  std::vector<int64_t> shape;
  ElementType type = ElementType::kF32;
  std::span<const std::byte> elements;
};

Status CorruptArrays(std::string message) {
  return {StatusCode::kCorrupt, std::move(message)};
}

// One record. The field that is wrong is named with its place in the file.
class RecordReader {
 public:
  explicit RecordReader(ByteReader& reader) : reader_(reader) {}

  Status Read(Record* record) {
    uint32_t magic = 0;
    MXC_RT_RETURN_IF_ERROR(Field(&magic, "its first word"));
    const bool sized_storage = magic == kMagicV2 || magic == kMagicV3;
    int aux_count = 0;
    if (sized_storage) {
      MXC_RT_RETURN_IF_ERROR(ReadStorage(record, &aux_count));
    }
    std::vector<int64_t> storage_shape;
    if (aux_count > 0) {
      MXC_RT_RETURN_IF_ERROR(Shape(&storage_shape, magic, "storage shape"));
    }
    MXC_RT_RETURN_IF_ERROR(Shape(&record->shape, magic, "shape"));
    record->empty = empty_;
    if (record->empty) return {};
    return ReadElements(record, aux_count, std::move(storage_shape), magic);
  }

 private:
  template <class T>
  Status Field(T* value, const char* what) {
    return reader_.Read(value) ? Status() : Ends(what);
  }

  Status Ends(const std::string& what) const {
    return CorruptArrays("the file ends inside " + what + ", at byte " +
                         std::to_string(reader_.offset() + reader_.left()));
  }

  Status ReadStorage(Record* record, int* aux_count) {
    int32_t storage = 0;
    MXC_RT_RETURN_IF_ERROR(Field(&storage, "its storage type"));
    if (storage < -1 || storage > kCsr) {
      return CorruptArrays("storage type " + std::to_string(storage) +
                           " is unknown (0 dense, 1 row_sparse, 2 csr)");
    }
    record->storage = storage < 0 ? kDense : static_cast<Storage>(storage);
    *aux_count = record->storage;  // row_sparse: indices; csr: indptr, indices
    return {};
  }

  // Before V1 the first word is the rank and dimensions have 32 bits.
  Status Shape(std::vector<int64_t>* shape, uint32_t magic, const char* what) {
    const bool old = magic < kMagicV1 || magic > kMagicV3;
    int32_t rank = static_cast<int32_t>(magic);
    if (!old) MXC_RT_RETURN_IF_ERROR(Field(&rank, what));
    const bool numpy = magic == kMagicV3;
    if (rank < (numpy ? -1 : 0) || rank > kMaxRank) {
      return CorruptArrays("rank " + std::to_string(rank) + " is not possible");
    }
    empty_ = rank < 0 || (rank == 0 && !numpy);
    for (int32_t i = 0; i < rank; ++i) {
      int64_t dim = 0;
      uint32_t short_dim = 0;
      if (!(old ? reader_.Read(&short_dim) : reader_.Read(&dim))) {
        return Ends(what);
      }
      if (old) dim = short_dim;
      if (dim < (numpy ? -1 : 0)) {
        return CorruptArrays("axis " + std::to_string(i) + " has size " +
                             std::to_string(dim));
      }
      empty_ = empty_ || dim < 0;
      shape->push_back(dim);
    }
    return {};
  }

  Status Type(ElementType* type) {
    int32_t flag = 0;
    MXC_RT_RETURN_IF_ERROR(Field(&flag, "its element type"));
    const auto known = ElementTypeFromFlag(flag);
    if (!known) {
      return CorruptArrays("type flag " + std::to_string(flag) + " is unknown");
    }
    *type = *known;
    return {};
  }

  Status Elements(ElementType type, std::span<const int64_t> shape,
                  std::span<const std::byte>* elements) {
    const auto size = ArrayBytes(type, shape);
    if (!size || !reader_.Take(static_cast<size_t>(*size), elements)) {
      return CorruptArrays("the file ends inside its elements: " +
                           (size ? std::to_string(*size) : "too many") +
                           " bytes announced, " +
                           std::to_string(reader_.left()) + " left");
    }
    return {};
  }

  Status ReadElements(Record* record, int aux_count,
                      std::vector<int64_t> storage_shape, uint32_t magic) {
    int32_t device_type = 0, device_id = 0;
    MXC_RT_RETURN_IF_ERROR(Field(&device_type, "its context"));
    MXC_RT_RETURN_IF_ERROR(Field(&device_id, "its context"));
    MXC_RT_RETURN_IF_ERROR(Type(&record->type));
    if (aux_count == 0) {
      return Elements(record->type, record->shape, &record->elements);
    }
    ElementType aux_types[2];
    std::vector<int64_t> aux_shapes[2];
    for (int i = 0; i < aux_count; ++i) {
      MXC_RT_RETURN_IF_ERROR(Type(&aux_types[i]));
      MXC_RT_RETURN_IF_ERROR(Shape(&aux_shapes[i], magic, "an index shape"));
    }
    MXC_RT_RETURN_IF_ERROR(
        Elements(record->type, storage_shape, &record->elements));
    for (int i = 0; i < aux_count; ++i) {
      std::span<const std::byte> skipped;
      MXC_RT_RETURN_IF_ERROR(Elements(aux_types[i], aux_shapes[i], &skipped));
    }
    return {};
  }

  ByteReader& reader_;
  bool empty_ = false;
};

StatusOr<Array> Copy(const Record& record) {
  auto array = Array::Allocate(record.type, record.shape);
  if (array.ok() && !record.elements.empty()) {
    std::memcpy(array->storage.get(), record.elements.data(),
                record.elements.size());
  }
  return array;
}

// Why a well-formed record has no dense value; empty when it has one.
std::string Refusal(const Record& record) {
  if (record.empty) return "has no value: it was saved uninitialised";
  if (record.storage == kRowSparse) return "is stored as row_sparse";
  if (record.storage == kCsr) return "is stored as csr";
  return "";
}

// Returns whether every character is one of UTF-8's, if not always the
// shortest.
bool IsUtf8(std::string_view text) {
  size_t missing = 0;  // bytes of a character that has begun
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool continues = (byte & 0xc0) == 0x80;
    if (continues != (missing > 0)) return false;
    if (continues) {
      --missing;
    } else if (byte >= 0xc2) {
      if (byte > 0xf4) return false;
      missing = byte < 0xe0 ? 1 : byte < 0xf0 ? 2 : 3;
    } else if (byte >= 0x80) {
      return false;
    }
  }
  return missing == 0;
}

Status ReadNames(ByteReader& reader, size_t arrays,
                 std::vector<std::string>* names) {
  uint64_t count = 0;
  if (!reader.Read(&count))
    return CorruptArrays("the file ends before the names");
  if (count != 0 && count != arrays) {
    return CorruptArrays(std::to_string(arrays) + " arrays, but " +
                         std::to_string(count) + " names");
  }
  for (uint64_t i = 0; i < count; ++i) {
    uint64_t length = 0;
    std::span<const std::byte> text;
    if (!reader.Read(&length) || !reader.Take(length, &text)) {
      return CorruptArrays("the file ends inside name " + std::to_string(i) +
                           " of " + std::to_string(count));
    }
    names->emplace_back(reinterpret_cast<const char*>(text.data()),
                        text.size());
    if (!IsUtf8(names->back())) {
      return CorruptArrays("name " + std::to_string(i) + " is no UTF-8");
    }
  }
  names->resize(arrays);
  return {};
}

Status ReadListHeader(ByteReader& reader, uint64_t* count) {
  uint64_t magic = 0, reserved = 0;
  if (!reader.Read(&magic) || magic != kListMagic) {
    return CorruptArrays(
        "no parameter file: .params begins with the number 0x112, .npz with "
        "'PK'");
  }
  if (!reader.Read(&reserved) || !reader.Read(count)) {
    return CorruptArrays("the file ends inside the header");
  }
  return {};
}

Status Refuse(std::span<const Record> records,
              std::span<const std::string> names) {
  constexpr int kShown = 8;
  std::string message;
  int refused = 0;
  for (size_t i = 0; i < records.size(); ++i) {
    const std::string why = Refusal(records[i]);
    if (why.empty() || ++refused > kShown) continue;
    message += (message.empty() ? "" : "; ") +
               (names[i].empty() ? "array " + std::to_string(i)
                                 : "array '" + names[i] + "'") +
               " " + why;
  }
  if (refused == 0) return {};
  if (refused > kShown) {
    message += "; and " + std::to_string(refused - kShown) + " more";
  }
  return {StatusCode::kUnsupported, message + " (dense arrays are read)"};
}

}  // namespace

StatusOr<std::vector<NamedArray>> ParseNdarrayList(
    std::span<const std::byte> bytes) {
  ByteReader reader(bytes);
  uint64_t count = 0;
  MXC_RT_RETURN_IF_ERROR(ReadListHeader(reader, &count));
  std::vector<Record> records;
  for (uint64_t i = 0; i < count; ++i) {
    const size_t start = reader.offset();
    Record record;
    if (const Status s = RecordReader(reader).Read(&record); !s.ok()) {
      return Status(s.code(), "array " + std::to_string(i) + " of " +
                                  std::to_string(count) + " (from byte " +
                                  std::to_string(start) + "): " + s.message());
    }
    records.push_back(std::move(record));
  }
  std::vector<std::string> names;
  MXC_RT_RETURN_IF_ERROR(ReadNames(reader, records.size(), &names));
  MXC_RT_RETURN_IF_ERROR(Refuse(records, names));
  std::vector<NamedArray> arrays;
  for (size_t i = 0; i < records.size(); ++i) {
    auto array = Copy(records[i]);
    if (!array.ok()) return array.status();
    arrays.push_back({std::move(names[i]), std::move(*array)});
  }
  return arrays;
}

StatusOr<std::vector<NamedArray>> ReadNdarrayList(const std::string& path) {
  const auto file = MappedFile::Open(path);
  if (!file.ok()) return file.status();
  auto arrays = ParseNdarrayList(file->bytes());
  if (arrays.ok()) return arrays;
  return Status(arrays.status().code(),
                path + ": " + arrays.status().message());
}

StatusOr<Array> ReadNdarrayRecord(ByteReader& reader) {
  Record record;
  MXC_RT_RETURN_IF_ERROR(RecordReader(reader).Read(&record));
  if (const std::string why = Refusal(record); !why.empty()) {
    return Status(StatusCode::kUnsupported, "the array " + why);
  }
  return Copy(record);
}

void WriteNdarrayRecord(FileWriter& file, const Array& array) {
  // V2 has no scalars: rank 0 means that there is no value.
  const bool scalar = array.shape.empty();
  file.AppendScalar(scalar ? kMagicV3 : kMagicV2);
  file.AppendScalar(static_cast<int32_t>(kDense));
  file.AppendScalar(static_cast<int32_t>(array.shape.size()));
  for (const int64_t dim : array.shape) file.AppendScalar(dim);
  file.AppendScalar(int32_t{1});  // on the CPU
  file.AppendScalar(int32_t{0});
  file.AppendScalar(static_cast<int32_t>(array.type));
  if (array.in_file != nullptr) {
    file.Append(*array.in_file);
  } else {
    file.Append(array.bytes());
  }
}

uint64_t NdarrayRecordBytes(const Array& array) {
  constexpr uint64_t kFixed = 6 * sizeof(uint32_t);
  const uint64_t elements =
      array.in_file != nullptr ? array.in_file->bytes : array.bytes().size();
  return kFixed + array.shape.size() * sizeof(int64_t) + elements;
}

void AppendNdarrayList(FileWriter& file, std::span<const NamedArray> arrays) {
  const bool named = std::ranges::any_of(
      arrays, [](const NamedArray& a) { return !a.name.empty(); });
  file.AppendScalar(kListMagic);
  file.AppendScalar(uint64_t{0});
  file.AppendScalar(static_cast<uint64_t>(arrays.size()));
  for (const NamedArray& a : arrays) WriteNdarrayRecord(file, a.array);
  file.AppendScalar(static_cast<uint64_t>(named ? arrays.size() : 0));
  for (const NamedArray& a : arrays) {
    if (!named) break;
    file.AppendScalar(static_cast<uint64_t>(a.name.size()));
    file.Append(a.name);
  }
}

Status WriteNdarrayList(const std::string& path,
                        std::span<const NamedArray> arrays) {
  FileWriter file(path);
  AppendNdarrayList(file, arrays);
  return file.Commit();
}

}  // namespace mxc::runtime
