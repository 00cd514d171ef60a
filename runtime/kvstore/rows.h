// SPDX-License-Identifier: Apache-2.0
// Some rows of a matrix: of the gradient of a key that is row-sparse, as an
// Embedding's is, or of its value. On their way they are
//
//   offset   bytes
//        0       8  n, how many there are
//        8      8n  their numbers, ascending, each once
//   8 + 8n    4·w·n  their elements, w a row; in a question for rows none
//
// all little-endian.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/kvstore/status.h"

namespace mxc::kvstore {

struct Rows {
  std::span<const uint64_t> numbers;
  std::span<const float> elements;  // of a row after the other; or none
};

struct OwnRows {
  std::vector<uint64_t> numbers;
  std::vector<float> elements;

  operator Rows() const { return {numbers, elements}; }
};

// Of rows in any order, whose numbers may be equal: each once and ascending,
// their elements added in the order in which they came, summand by summand.
OwnRows Merge(std::span<const Rows> summands, uint64_t width);
// The same of numbers alone.
std::vector<uint64_t> Merge(std::span<const std::span<const uint64_t>> numbers);

// Of rows that are merged, those from `begin` up to `end`.
Rows Between(const Rows& rows, uint64_t begin, uint64_t end, uint64_t width);
// Writes rows to where they belong in `table`.
void Replace(const Rows& rows, uint64_t width, std::span<float> table);
// Copies elements of `from`, which are merged, to `to`, in the order of
// `numbers`; all of them are in `from`.
void Scatter(const Rows& from, std::span<const uint64_t> numbers,
             uint64_t width, std::span<float> to);

// `begin`: what the receiver calls row 0.
std::vector<std::byte> EncodeRows(const Rows& rows, uint64_t begin = 0);
// Of so many rows on their way; `width` 0: of a question.
uint64_t BytesOfRows(uint64_t count, uint64_t width);
// Returns whether so many bytes can be rows, of a key that has `most`; `width`
// 0: of a question.
bool MayBeRows(uint64_t bytes, uint64_t width, uint64_t most);
// Aliases the body, whose memory is aligned to 8. An error: it is no such rows.
StatusOr<Rows> DecodeRows(Bytes body, uint64_t width, uint64_t most);

}  // namespace mxc::kvstore
