// SPDX-License-Identifier: Apache-2.0
// LMDB's file, `data.mdb`: a tree of pages. liblmdb trusts what stands in its
// pages, so that a damaged file ends the program; here every number is held to
// the file's bounds.
//
//   file   meta · meta · page…, each of one size, which both metas say
//   page   u64 number · u16 · u16 kind · u16 lower · u16 upper, or u32 pages ·
//          u16 offsets up to `lower` · nodes
//   meta   page · u32 0xbeefc0de · u32 1 · u64 · u64 · 2 × tree · u64 last page ·
//          u64 transaction; the later one counts
//   tree   u32 page size · u16 flags · u16 depth · 3 × u64 · u64 entries ·
//          u64 root
//   node   u16 low · u16 high · u16 flags · u16 key size · key · value, whose size
//          low and high are; of a branch low, high and flags are its page; of a
//          large value (flag 1) its first page's number stands there
//   Source: lmdb.h, mdb.c of OpenLDAP's LMDB 0.9.
#pragma once

#include <string_view>
#include <vector>

#include "runtime/base/bytes.h"
#include "runtime/base/status.h"

namespace mxc::runtime {

struct LmdbEntry {
  std::string_view key;
  Bytes value;
};

// Those of the unnamed database in the order of their keys, which lie in `file`.
// Refuses sorted duplicates and databases in databases.
StatusOr<std::vector<LmdbEntry>> ReadLmdb(Bytes file);

}  // namespace mxc::runtime
