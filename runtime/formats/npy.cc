// SPDX-License-Identifier: Apache-2.0
#include "runtime/formats/npy.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <string_view>

#include "runtime/base/file.h"
#include "runtime/base/file_writer.h"
#include "runtime/formats/byte_reader.h"

namespace mxc::runtime {
namespace {

constexpr std::string_view kNpyMagic("\x93NUMPY", 6);
constexpr size_t kMaxHeader = 1 << 16;
constexpr size_t kNumpyMaxRank = 32;  // NumPy's own limit

struct DescrRow {
  std::string_view descr;
  ElementType type;
};

constexpr std::array<DescrRow, 12> kDescrs = {{
    {"<f4", ElementType::kF32},
    {"<f8", ElementType::kF64},
    {"<f2", ElementType::kF16},
    {"|u1", ElementType::kU8},
    {"<i4", ElementType::kI32},
    {"|i1", ElementType::kI8},
    {"<i8", ElementType::kI64},
    {"|b1", ElementType::kBool},
    {"<i2", ElementType::kI16},
    {"<u2", ElementType::kU16},
    {"<u4", ElementType::kU32},
    {"<u8", ElementType::kU64},
}};

Status CorruptNpy(std::string message) {
  return {StatusCode::kCorrupt, "npy: " + std::move(message)};
}

struct Header {
  std::string descr;
  bool fortran_order = false;
  std::vector<int64_t> shape;
};

// The header is a Python dictionary of literals; this reads just that.
class HeaderParser {
 public:
  explicit HeaderParser(std::string_view text) : rest_(text) {}

  Status Parse(Header* header) {
    bool descr = false, order = false, shape = false;
    if (!Eat('{')) return Bad("a dictionary");
    while (!Eat('}')) {
      std::string key;
      if (!String(&key) || !Eat(':')) return Bad("a key");
      bool understood = false;
      if (key == "descr") {
        understood = descr = String(&header->descr);
        if (!understood) {
          return {StatusCode::kUnsupported,
                  "npy: records with fields are not supported"};
        }
      } else if (key == "fortran_order") {
        understood = order = Bool(&header->fortran_order);
      } else if (key == "shape") {
        understood = shape = Shape(&header->shape);
      }
      if (!understood) return Bad("a value of '" + key + "'");
      if (!Eat(',') && !Peek('}')) return Bad("',' or '}'");
    }
    if (!descr || !order || !shape) {
      return CorruptNpy("the header lacks descr, fortran_order or shape");
    }
    return {};
  }

 private:
  Status Bad(const std::string& expected) {
    return CorruptNpy("the header is damaged: expected " + expected);
  }
  bool Peek(char c) {
    while (!rest_.empty() && (rest_[0] == ' ' || rest_[0] == '\n')) {
      rest_.remove_prefix(1);
    }
    return !rest_.empty() && rest_[0] == c;
  }
  bool Eat(char c) {
    if (!Peek(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  bool String(std::string* out) {
    const char quote = Peek('"') ? '"' : '\'';
    if (!Eat(quote)) return false;
    const size_t end = rest_.find(quote);
    if (end == std::string_view::npos) return false;
    *out = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    return true;
  }
  bool Bool(bool* out) {
    Peek(' ');
    for (const bool value : {false, true}) {
      const std::string_view word = value ? "True" : "False";
      if (rest_.starts_with(word)) {
        *out = value;
        rest_.remove_prefix(word.size());
        return true;
      }
    }
    return false;
  }
  bool Shape(std::vector<int64_t>* out) {
    if (!Eat('(')) return false;
    while (!Eat(')')) {
      int64_t dim = 0;
      if (out->size() == kNumpyMaxRank || !Integer(&dim)) return false;
      out->push_back(dim);
      if (!Eat(',') && !Peek(')')) return false;
    }
    return true;
  }
  bool Integer(int64_t* out) {
    Peek(' ');
    const char* end = rest_.data() + rest_.size();
    const auto [stop, error] = std::from_chars(rest_.data(), end, *out);
    if (error != std::errc() || *out < 0) return false;
    rest_.remove_prefix(static_cast<size_t>(stop - rest_.data()));
    if (!rest_.empty() && rest_[0] == 'L') rest_.remove_prefix(1);  // Python 2
    return true;
  }

  std::string_view rest_;
};

StatusOr<std::string_view> ReadHeaderText(ByteReader& reader) {
  std::span<const std::byte> magic, text;
  uint8_t major = 0, minor = 0;
  if (!reader.Take(kNpyMagic.size(), &magic) ||
      std::string_view(reinterpret_cast<const char*>(magic.data()),
                       magic.size()) != kNpyMagic) {
    return CorruptNpy("not a .npy file: it does not start with \\x93NUMPY");
  }
  if (!reader.Read(&major) || !reader.Read(&minor)) {
    return CorruptNpy("the file ends inside the header");
  }
  if (major < 1 || major > 3) {
    return Status(StatusCode::kUnsupported,
                  "npy: version " + std::to_string(major) +
                      " is unknown; 1, 2 and 3 are read");
  }
  uint32_t length = 0;
  uint16_t short_length = 0;
  const bool has_length =
      major == 1 ? reader.Read(&short_length) : reader.Read(&length);
  if (major == 1) length = short_length;
  if (length > kMaxHeader) return CorruptNpy("the header is too long");
  if (!has_length || !reader.Take(length, &text)) {
    return CorruptNpy("the file ends inside the header");
  }
  return std::string_view(reinterpret_cast<const char*>(text.data()),
                          text.size());
}

// Little-endian, whatever the order of bytes is.
StatusOr<ElementType> TypeOf(std::string descr) {
  const bool ordered =
      descr.size() == 3 &&
      std::string_view("=<>").find(descr[0]) != std::string_view::npos;
  if (ordered && descr[2] == '1') {
    descr[0] = '|';  // the order of one byte means nothing
  } else if (ordered) {
    descr[0] = '<';
  } else if (descr == "?") {
    descr = "|b1";
  }
  for (const DescrRow& row : kDescrs) {
    if (row.descr == descr) return row.type;
  }
  return Status(
      StatusCode::kUnsupported,
      "npy: element type '" + descr + "' is not supported; real numbers are");
}

void ReverseBytes(size_t width, std::span<std::byte> elements) {
  for (size_t at = 0; at < elements.size(); at += width) {
    std::ranges::reverse(elements.subspan(at, width));
  }
}

// From column by column, the first axis fastest, to row by row.
template <size_t kWidth>
void ToRows(const std::vector<int64_t>& shape, const std::byte* from,
            std::byte* to) {
  std::vector<size_t> strides(shape.size(), kWidth);
  for (size_t axis = 1; axis < shape.size(); ++axis) {
    strides[axis] = strides[axis - 1] * static_cast<size_t>(shape[axis - 1]);
  }
  std::vector<int64_t> place(shape.size(), 0);
  for (size_t axis = shape.size(); axis > 0; to += kWidth) {
    std::memcpy(to, from, kWidth);
    for (axis = shape.size(); axis > 0; --axis) {
      from += strides[axis - 1];
      if (++place[axis - 1] < shape[axis - 1]) break;
      from -= strides[axis - 1] * static_cast<size_t>(shape[axis - 1]);
      place[axis - 1] = 0;
    }
  }
}

void ToRows(size_t width, const std::vector<int64_t>& shape,
            const std::byte* from, std::byte* to) {
  switch (width) {
    case 1:
      return ToRows<1>(shape, from, to);
    case 2:
      return ToRows<2>(shape, from, to);
    case 4:
      return ToRows<4>(shape, from, to);
    default:
      return ToRows<8>(shape, from, to);
  }
}

// Little-endian and row by row.
Status Arrange(const Header& header, NpyView* view) {
  const auto width = static_cast<size_t>(ElementBytes(view->type));
  const bool reversed = header.descr.starts_with('>') && width > 1;
  const bool by_columns = header.fortran_order && header.shape.size() > 1;
  if (view->elements.empty() || !(reversed || by_columns)) return {};
  auto array = Array::Allocate(view->type, view->shape);
  if (!array.ok()) return array.status();
  const std::span<std::byte> bytes = array->bytes();
  if (by_columns) {
    ToRows(width, view->shape, view->elements.data(), bytes.data());
  } else {
    std::ranges::copy(view->elements, bytes.begin());
  }
  if (reversed) ReverseBytes(width, bytes);
  view->elements = bytes;
  view->copy = array->storage;
  return {};
}

}  // namespace

StatusOr<NpyView> ViewNpy(std::span<const std::byte> bytes) {
  ByteReader reader(bytes);
  const auto text = ReadHeaderText(reader);
  if (!text.ok()) return text.status();
  Header header;
  MXC_RT_RETURN_IF_ERROR(HeaderParser(*text).Parse(&header));
  const auto type = TypeOf(header.descr);
  if (!type.ok()) return type.status();
  const auto size = ArrayBytes(*type, header.shape);
  std::span<const std::byte> elements;
  if (!size || !reader.Take(static_cast<size_t>(*size), &elements)) {
    return CorruptNpy("the file ends inside the array: " +
                      (size ? std::to_string(*size) : "too many") +
                      " bytes announced, " + std::to_string(reader.left()) +
                      " there");
  }
  // numpy.save into an open file appends one array to the other.
  if (reader.left() > 0) {
    return CorruptNpy(std::to_string(reader.left()) +
                      " bytes lie behind the array, which nobody would read");
  }
  NpyView view{*type, header.shape, elements, nullptr};
  MXC_RT_RETURN_IF_ERROR(Arrange(header, &view));
  return view;
}

StatusOr<Array> ParseNpy(std::span<const std::byte> bytes) {
  auto view = ViewNpy(bytes);
  if (!view.ok()) return view.status();
  if (view->copy) return Array{view->type, view->shape, view->copy};
  auto array = Array::Allocate(view->type, std::move(view->shape));
  if (!array.ok()) return array.status();
  if (!view->elements.empty()) {
    std::memcpy(array->storage.get(), view->elements.data(),
                view->elements.size());
  }
  return array;
}

StatusOr<Array> ReadNpy(const std::string& path) {
  const auto file = MappedFile::Open(path);
  if (!file.ok()) return file.status();
  auto array = ParseNpy(file->bytes());
  if (array.ok()) return array;
  return Status(array.status().code(), path + ": " + array.status().message());
}

StatusOr<std::string> NpyHeader(const Array& array) {
  std::string descr;
  for (const DescrRow& row : kDescrs) {
    if (row.type == array.type) descr = row.descr;
  }
  if (descr.empty()) {
    return Status(StatusCode::kUnsupported,
                  "npy: NumPy has no " + std::string(ElementName(array.type)));
  }
  std::string text =
      "{'descr': '" + descr + "', 'fortran_order': False, 'shape': (";
  for (size_t i = 0; i < array.shape.size(); ++i) {
    text += (i > 0 ? ", " : "") + std::to_string(array.shape[i]);
  }
  text += array.shape.size() == 1 ? ",), }" : "), }";
  const size_t prefix = kNpyMagic.size() + 2 + sizeof(uint16_t);
  text.append(63 - (prefix + text.size()) % 64, ' ');
  text += '\n';
  const auto length = static_cast<uint16_t>(text.size());
  std::string header(kNpyMagic);
  header += {'\x01', '\x00', static_cast<char>(length & 0xff),
             static_cast<char>(length >> 8)};
  return header + text;
}

Status WriteNpy(const std::string& path, const Array& array) {
  const auto header = NpyHeader(array);
  if (!header.ok()) return header.status();
  FileWriter file(path);
  file.Append(*header);
  file.Append(array.bytes());
  return file.Commit();
}

}  // namespace mxc::runtime
