// SPDX-License-Identifier: Apache-2.0
// MXNet's NDArray list: `.params` and `.nd` files (MXNet 1.9.1
// src/ndarray/ndarray.cc). Records of every generation are read: those of
// MXNet ≤ 0.10, V1 (0.11), V2 (0.12 to 1.9) and V3 (NumPy shapes); V2 is
// written.
//
//   u64 0x112 · u64 0 · u64 n · n records · u64 m (0 or n) · m × (u64, bytes)
#pragma once

#include <span>
#include <string>
#include <vector>

#include "runtime/base/file_writer.h"
#include "runtime/base/status.h"
#include "runtime/formats/array.h"
#include "runtime/formats/byte_reader.h"

namespace mxc::runtime {

// The arrays in the order of the file; the names are empty where the file has
// none. Sparse arrays and arrays without a value are refused, all at once.
StatusOr<std::vector<NamedArray>> ParseNdarrayList(
    std::span<const std::byte> bytes);
StatusOr<std::vector<NamedArray>> ReadNdarrayList(const std::string& path);

// Unnamed when every name is empty.
Status WriteNdarrayList(const std::string& path,
                        std::span<const NamedArray> arrays);

// The same as part of a larger file.
void AppendNdarrayList(FileWriter& file, std::span<const NamedArray> arrays);

// One record without the list around it, as `.states` files hold it.
StatusOr<Array> ReadNdarrayRecord(ByteReader& reader);
void WriteNdarrayRecord(FileWriter& file, const Array& array);
uint64_t NdarrayRecordBytes(const Array& array);

}  // namespace mxc::runtime
