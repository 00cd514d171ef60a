// SPDX-License-Identifier: Apache-2.0
#include "runtime/formats/lmdb.h"

#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>

namespace mxc::runtime {
namespace {

constexpr uint32_t kLmdbMagic = 0xbeefc0de, kLmdbVersion = 1;
constexpr size_t kPageHeader = 16;
// Of the meta page.
constexpr size_t kMagicAt = 16, kVersionAt = 20, kTreesAt = 40;
constexpr size_t kTreeBytes = 48,
                 kTransactionAt = kTreesAt + 2 * kTreeBytes + 8;
constexpr uint16_t kBranch = 1, kLeaf = 2, kOverflow = 4, kLeaf2 = 0x20;
constexpr uint16_t kLarge = 1;  // of a node; 2 and 4: what is not read here
constexpr uint16_t kSortsDuplicates = 4;
constexpr uint64_t kNoPage = ~uint64_t{0};
constexpr int kMostDepth = 64;

// Callers know that it lies within.
template <class T>
T ValueAt(Bytes bytes, size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

Status BadLmdb(const std::string& what) {
  return {StatusCode::kCorrupt, "a damaged LMDB: " + what};
}

struct LmdbMeta {
  uint64_t transaction = 0, root = kNoPage, entries = 0;
  uint32_t page = 0;  // bytes
  uint16_t flags = 0;
};

std::optional<LmdbMeta> MetaAt(Bytes file, size_t offset) {
  if (offset > file.size() || file.size() - offset < kTransactionAt + 8) {
    return std::nullopt;
  }
  const Bytes page = file.subspan(offset);
  if (ValueAt<uint32_t>(page, kMagicAt) != kLmdbMagic ||
      ValueAt<uint32_t>(page, kVersionAt) != kLmdbVersion) {
    return std::nullopt;
  }
  const size_t main = kTreesAt + kTreeBytes;
  return LmdbMeta{.transaction = ValueAt<uint64_t>(page, kTransactionAt),
                  .root = ValueAt<uint64_t>(page, main + 40),
                  .entries = ValueAt<uint64_t>(page, main + 32),
                  .page = ValueAt<uint32_t>(page, kTreesAt),
                  .flags = ValueAt<uint16_t>(page, main + 4)};
}

StatusOr<LmdbMeta> NewestMeta(Bytes file) {
  std::optional<LmdbMeta> meta = MetaAt(file, 0);
  if (!meta) {
    return Status(StatusCode::kCorrupt,
                  "no LMDB of version 1: it does not begin with a meta page");
  }
  if (!std::has_single_bit(meta->page) || meta->page < 512 ||
      meta->page > 65536) {
    return BadLmdb("pages of " + std::to_string(meta->page) + " bytes");
  }
  if (file.size() / meta->page < 2) return BadLmdb("it ends early");
  const std::optional<LmdbMeta> other = MetaAt(file, meta->page);
  if (other && other->page == meta->page &&
      other->transaction > meta->transaction) {
    meta = other;
  }
  return *meta;
}

class LmdbTree {
 public:
  LmdbTree(Bytes file, const LmdbMeta& meta)
      : file_(file),
        page_(meta.page),
        left_(file.size() / meta.page),
        most_(meta.entries) {}

  Status Walk(uint64_t number, int depth) {
    const std::optional<Bytes> found = PageAt(number);
    if (!found) return BadLmdb(Named(number) + " lies behind its end");
    // No page is met twice in a tree.
    if (left_-- == 0 || depth > kMostDepth) {
      return BadLmdb("its pages go in circles");
    }
    const Bytes page = *found;
    const auto kind = ValueAt<uint16_t>(page, 10);
    const size_t lower = ValueAt<uint16_t>(page, 12);
    if ((kind & (kBranch | kLeaf)) == 0 || (kind & kLeaf2) != 0 ||
        lower < kPageHeader || lower > page_) {
      return BadLmdb(Named(number) + " is no page of a tree");
    }
    for (size_t at = kPageHeader; at + 2 <= lower; at += 2) {
      const size_t offset = ValueAt<uint16_t>(page, at);
      const bool sound = (kind & kBranch) != 0 ? AddBranch(page, offset, depth)
                                               : AddLeaf(page, offset);
      if (!status_.ok()) return status_;
      if (!sound) return BadLmdb(Named(number) + " has a node out of bounds");
    }
    return {};
  }

  std::vector<LmdbEntry>& entries() { return entries_; }

 private:
  static constexpr size_t kNode = 8;

  static std::string Named(uint64_t number) {
    return "page " + std::to_string(number);
  }

  // A page of a tree, or the first one of a large value.
  std::optional<Bytes> PageAt(uint64_t number) const {
    if (number >= file_.size() / page_) return std::nullopt;
    return file_.subspan(static_cast<size_t>(number) * page_, page_);
  }

  bool AddBranch(Bytes page, size_t offset, int depth) {
    if (offset < kPageHeader || offset + kNode > page_) return false;
    const uint64_t child = ValueAt<uint16_t>(page, offset) |
                           uint64_t{ValueAt<uint16_t>(page, offset + 2)} << 16 |
                           uint64_t{ValueAt<uint16_t>(page, offset + 4)} << 32;
    status_ = Walk(child, depth + 1);
    return status_.ok();
  }

  bool AddLeaf(Bytes page, size_t offset) {
    if (offset < kPageHeader || offset + kNode > page_) return false;
    const size_t size = ValueAt<uint16_t>(page, offset) |
                        size_t{ValueAt<uint16_t>(page, offset + 2)} << 16;
    const auto flags = ValueAt<uint16_t>(page, offset + 4);
    const size_t key = ValueAt<uint16_t>(page, offset + 6);
    const size_t value = offset + kNode + key;
    if (value > page_) return false;
    if ((flags & ~kLarge) != 0) {
      status_ = {StatusCode::kUnsupported,
                 "an LMDB with databases or duplicates in it"};
      return false;
    }
    LmdbEntry entry;
    entry.key = {reinterpret_cast<const char*>(page.data()) + offset + kNode,
                 key};
    if (flags == 0) {
      if (size > page_ - value) return false;
      entry.value = page.subspan(value, size);
    } else {
      if (page_ - value < sizeof(uint64_t)) return false;
      if (!TakeLarge(ValueAt<uint64_t>(page, value), size, entry.value))
        return false;
    }
    if (entries_.size() == most_) {
      status_ = BadLmdb("more than the " + std::to_string(most_) +
                        " entries that it announces");
      return false;
    }
    entries_.push_back(entry);
    return true;
  }

  bool TakeLarge(uint64_t number, size_t size, Bytes& value) const {
    const std::optional<Bytes> first = PageAt(number);
    if (!first || (ValueAt<uint16_t>(*first, 10) & kOverflow) == 0)
      return false;
    const Bytes rest =
        file_.subspan(static_cast<size_t>(number) * page_ + kPageHeader);
    if (size > rest.size()) return false;
    value = rest.first(size);
    return true;
  }

  const Bytes file_;
  const size_t page_;
  size_t left_;          // pages that may still be met
  const uint64_t most_;  // entries
  std::vector<LmdbEntry> entries_;
  Status status_;
};

}  // namespace

StatusOr<std::vector<LmdbEntry>> ReadLmdb(Bytes file) {
  const auto meta = NewestMeta(file);
  if (!meta.ok()) return meta.status();
  if ((meta->flags & kSortsDuplicates) != 0) {
    return Status(StatusCode::kUnsupported, "an LMDB with duplicates in it");
  }
  LmdbTree tree(file, *meta);
  if (meta->root != kNoPage) {
    if (const Status status = tree.Walk(meta->root, 0); !status.ok()) {
      return status;
    }
  }
  if (tree.entries().size() != meta->entries) {
    return BadLmdb(std::to_string(meta->entries) + " entries announced, " +
                   std::to_string(tree.entries().size()) + " there");
  }
  return std::move(tree.entries());
}

}  // namespace mxc::runtime
