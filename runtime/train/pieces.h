// SPDX-License-Identifier: Apache-2.0
// A checkpoint's arrays in pieces: each process of a job has written what it has,
// into a file of its own, and an index says what lies where. Any number of
// processes reads them, each what it needs.
//
//   PREFIX-NNNN.piece-K.safetensors   of process K: pieces, by the arrays' names
//   PREFIX-NNNN.pieces.json           the index:
//   {"format": "mxc-pieces 1",
//    "files": [{"name": "net-0001.piece-0.safetensors", "xxh3": "…"}, …],
//    "arrays": [{"name": "arg:fc1_weight", "dtype": "F32", "shape": [64, 784],
//                "pieces": [{"file": 0, "at": 1024, "begin": 0, "count": 25088},
//                           …]}, …]}
//
// A piece is `count` elements of the array from `begin` on, in row-major order, from
// byte `at` of its file on. Parameters have "arg:" before their names, what an
// optimizer keeps has none.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/file.h"
#include "runtime/base/file_writer.h"
#include "runtime/formats/array.h"
#include "runtime/train/status.h"

namespace mxc::train {

inline constexpr const char* kPieces = "pieces.json";  // behind PREFIX-NNNN.

struct ArrayPiece {
  uint32_t file = 0;
  uint64_t at = 0, begin = 0, count = 0;
};

struct PiecedArray {
  std::string name;
  runtime::ElementType type = runtime::ElementType::kF32;
  std::vector<int64_t> shape;
  std::vector<ArrayPiece> pieces;  // in the order of elements, without a gap
};

struct PieceIndex {
  struct File {
    std::string name;  // beside the index
    uint64_t checksum = 0;
  };
  std::vector<File> files;
  std::vector<PiecedArray> arrays;
};

// "piece-3.safetensors", behind PREFIX-NNNN.
std::string PieceExtension(uint32_t process);

Status WritePieceIndex(const std::string& path, const PieceIndex& index,
                       runtime::FileWriter::Sync sync);
StatusOr<PieceIndex> ParsePieceIndex(std::string_view text);
StatusOr<PieceIndex> ReadPieceIndex(const std::string& path);
// Compares the files of the index at `path` with their checksums.
Status CheckPieces(const std::string& path);

// The files of an index, mapped.
class OpenPieces {
 public:
  static StatusOr<OpenPieces> Open(const std::string& path);

  const std::vector<PiecedArray>& arrays() const { return index_.arrays; }
  // The bytes of one of the arrays from `begin` on.
  void Copy(const PiecedArray& array, uint64_t begin,
            std::span<std::byte> to) const;

 private:
  explicit OpenPieces(PieceIndex index) : index_(std::move(index)) {}

  PieceIndex index_;
  std::vector<runtime::MappedFile> files_;
};

// The parameters that an index names, whole, and those of the set's .params beside.
StatusOr<std::vector<runtime::NamedArray>> ReadPiecedParameters(
    const std::string& path);

}  // namespace mxc::train
