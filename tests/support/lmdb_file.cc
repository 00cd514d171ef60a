// SPDX-License-Identifier: Apache-2.0
#include "tests/support/lmdb_file.h"

#include <cstdio>
#include <cstring>

namespace mxc {
namespace {

constexpr size_t kPage = 4096, kHeader = 16;
constexpr uint16_t kBranch = 1, kLeaf = 2, kOverflow = 4, kMeta = 8;

template <class T>
std::string Raw(T value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

template <class T>
void Put(std::string& bytes, size_t at, T value) {
  std::memcpy(bytes.data() + at, &value, sizeof value);
}

std::string Key(size_t i) {
  char key[16];
  std::snprintf(key, sizeof key, "%08zu", i);
  return key;
}

// A page of a tree that grows from both ends.
class Page {
 public:
  explicit Page(uint16_t kind) : bytes_(kPage, '\0') { Put(bytes_, 10, kind); }

  bool Add(std::string node) {
    if (node.size() % 2 == 1) node += '\0';
    if (lower_ + 2 + node.size() > upper_) return false;
    upper_ -= node.size();
    bytes_.replace(upper_, node.size(), node);
    Put(bytes_, lower_, static_cast<uint16_t>(upper_));
    lower_ += 2;
    return true;
  }
  std::string Finish(uint64_t number) {
    Put(bytes_, 0, number);
    Put(bytes_, 12, static_cast<uint16_t>(lower_));
    Put(bytes_, 14, static_cast<uint16_t>(upper_));
    return bytes_;
  }

 private:
  std::string bytes_;
  size_t lower_ = kHeader, upper_ = kPage;
};

// Of a branch the first key is empty, and low, high and flags are a page.
std::string Node(uint64_t low_high_flags, const std::string& key,
                 const std::string& value) {
  return Raw(low_high_flags).substr(0, 6) +
         Raw(static_cast<uint16_t>(key.size())) + key + value;
}

class LmdbWriter {
 public:
  void Add(size_t i, const std::string& value) {
    constexpr uint64_t kLarge = uint64_t{1} << 32;
    if (value.size() < 1000)
      return AddNode(i, Node(value.size(), Key(i), value));
    std::string pages(kHeader, '\0');
    pages += value;
    pages.resize((pages.size() + kPage - 1) / kPage * kPage);
    const uint64_t number = next();
    Put(pages, 0, number);
    Put(pages, 10, kOverflow);
    Put(pages, 12, static_cast<uint32_t>(pages.size() / kPage));
    pages_ += pages;
    AddNode(i, Node(value.size() | kLarge, Key(i), Raw(number)));
  }

  std::string Finish(size_t entries) {
    FinishLeaf();
    Page root(kBranch);
    for (size_t i = 0; i < leaves_.size(); ++i) {
      root.Add(
          Node(leaves_[i].number, i == 0 ? "" : Key(leaves_[i].first), ""));
    }
    const uint64_t number = next();
    const bool branches = leaves_.size() > 1;
    if (branches) pages_ += root.Finish(number);
    const uint64_t top = branches          ? number
                         : leaves_.empty() ? ~uint64_t{0}
                                           : leaves_[0].number;
    const uint64_t leaves = leaves_.size();
    return Meta(0, 1, 0, 0, ~uint64_t{0}) +
           Meta(1, 2, entries, branches + leaves, top) + pages_;
  }

 private:
  struct Leaf {
    size_t first;
    uint64_t number;
  };

  uint64_t next() const { return 2 + pages_.size() / kPage; }
  void AddNode(size_t i, const std::string& node) {
    if (open_ && leaf_.Add(node)) return;
    FinishLeaf();
    leaf_ = Page(kLeaf);
    leaf_.Add(node);
    first_ = i;
    open_ = true;
  }
  void FinishLeaf() {
    if (!open_) return;
    leaves_.push_back({first_, next()});
    pages_ += leaf_.Finish(next());
    open_ = false;
  }
  std::string Meta(uint64_t number, uint64_t transaction, uint64_t entries,
                   uint64_t pages, uint64_t root) const {
    std::string page(kPage, '\0');
    Put(page, 0, number);
    Put(page, 10, kMeta);
    Put(page, 16, uint32_t{0xbeefc0de});
    Put(page, 20, uint32_t{1});
    Put(page, 32, uint64_t{1} << 24);  // the map's size
    Put(page, 40, static_cast<uint32_t>(kPage));
    Put(page, 44, uint16_t{8});  // keys of the tree of free pages: integers
    Put(page, 80, ~uint64_t{0});
    constexpr size_t kMain = 88;
    Put(page, kMain + 6, static_cast<uint16_t>(pages > 1 ? 2 : pages));
    Put(page, kMain + 8, uint64_t{pages > 1});
    Put(page, kMain + 16, pages > 1 ? pages - 1 : pages);
    Put(page, kMain + 32, entries);
    Put(page, kMain + 40, root);
    Put(page, 136, uint64_t{1 + pages_.size() / kPage});
    Put(page, 144, transaction);
    return page;
  }

  std::string pages_;  // from page 2 on
  Page leaf_{kLeaf};
  bool open_ = false;
  size_t first_ = 0;
  std::vector<Leaf> leaves_;
};

std::string Varint(uint64_t n) {
  std::string bytes;
  for (; n >= 0x80; n >>= 7) bytes += static_cast<char>(n | 0x80);
  return bytes + static_cast<char>(n);
}

std::string NumberField(int number, int64_t value) {
  return Varint(static_cast<uint64_t>(number) << 3) +
         Varint(static_cast<uint64_t>(value));
}

std::string BytesField(int number, const std::string& bytes) {
  return Varint(static_cast<uint64_t>(number) << 3 | 2) + Varint(bytes.size()) +
         bytes;
}

std::string Packed(const std::vector<float>& values) {
  return {reinterpret_cast<const char*>(values.data()),
          values.size() * sizeof(float)};
}

std::string ExtentFields(int channels, int height, int width) {
  return NumberField(1, channels) + NumberField(2, height) +
         NumberField(3, width);
}

}  // namespace

std::string LmdbFile(const std::vector<std::string>& values) {
  LmdbWriter writer;
  for (size_t i = 0; i < values.size(); ++i) writer.Add(i, values[i]);
  return writer.Finish(values.size());
}

std::string DatumMessage(int channels, int height, int width,
                         const std::string& bytes, int label, bool encoded) {
  return ExtentFields(channels, height, width) + BytesField(4, bytes) +
         NumberField(5, label) + (encoded ? NumberField(7, 1) : "");
}

std::string FloatDatumMessage(int channels, int height, int width,
                              const std::vector<float>& values, int label) {
  return ExtentFields(channels, height, width) + NumberField(5, label) +
         BytesField(6, Packed(values));
}

std::string BlobMessage(const std::vector<int>& shape,
                        const std::vector<float>& values) {
  std::string message;
  for (size_t i = 0; i < shape.size(); ++i) {
    message += NumberField(static_cast<int>(i) + 1, shape[i]);
  }
  return message + BytesField(5, Packed(values));
}

}  // namespace mxc
