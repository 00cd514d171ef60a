// SPDX-License-Identifier: Apache-2.0
// Tensors as ONNX files hold them → host tensors.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>

#include "frontend/onnx/schema.h"
#include "ir/graph/tensor.h"
#include "ir/support/result.h"

namespace mxc::onnx {

// Our type for one of TensorProto.DataType; nullopt where we have none.
std::optional<DType> DTypeOf(int32_t data_type);
// The standard's word: "FLOAT8E4M3FN"; "type 99" where there is none.
std::string DataTypeName(int32_t data_type);
// The number of TensorProto.DataType for our type.
int32_t DataTypeOf(DType dtype);
// The number itself where we hold such elements as another type (int4 as int8),
// else 0.
int32_t NarrowType(int32_t data_type);

// Where a file's tensors find their values.
class TensorFiles {
 public:
  // `owner` keeps the bytes that the messages point into. `folder` is that of
  // the model's file: external data lie there, or below.
  TensorFiles(std::shared_ptr<const void> owner, std::string folder)
      : owner_(std::move(owner)), folder_(std::move(folder)) {}

  // The tensor's values, where they lie if they are stored as we hold them and
  // are aligned. int4, float8 and the like become the nearest type that holds
  // them all (int8, float32). May have no elements. What was read once, from the
  // same message, is given again. Not for threads.
  Result<Tensor> Read(const TensorProto& tensor) const;

 private:
  Result<Tensor> ReadAnew(const TensorProto& tensor) const;
  Result<std::span<const std::byte>> External(
      const TensorProto& tensor, uint64_t size,
      std::shared_ptr<const void>& owner) const;

  std::shared_ptr<const void> owner_;
  std::string folder_;
  struct Mapped {
    std::shared_ptr<const void> owner;
    std::span<const std::byte> bytes;
  };
  mutable std::map<std::string, Mapped> mapped_;  // by location
  mutable std::unordered_map<const TensorProto*, Tensor> read_;
};

}  // namespace mxc::onnx
