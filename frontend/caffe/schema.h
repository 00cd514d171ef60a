// SPDX-License-Identifier: Apache-2.0
// Caffe's messages as structs (schema.def).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "frontend/protobuf/message.h"

namespace mxc::caffe {

using protobuf::Message;
using protobuf::MessageType;
using protobuf::Packed;
using protobuf::Text;

// They name no namespace: FillerParameter has a field std.
template <class T>
using Opt = std::optional<T>;
template <class T>
using Many = std::vector<T>;
template <class T>
using One = std::unique_ptr<T>;

// Above all numbers of the wire format.
#define MXC_TEXT(n) ((1 << 29) + (n))

#define CAFFE_ENUM(name) enum class name : int32_t {
#define CAFFE_WORD(word, value) k##word = value,
#define CAFFE_MESSAGE(name) \
  struct name : Message {   \
    static const MessageType& Type();
#define CAFFE_FIELD(number, type, name, ...) type name __VA_ARGS__;
#define CAFFE_END \
  }               \
  ;
#include "frontend/caffe/schema.def"

// What the field `field` of a layer says; its defaults where it is not there.
template <class T>
const T& OrDefault(const One<T>& field) {
  static const T none;
  return field != nullptr ? *field : none;
}

}  // namespace mxc::caffe

// The words of its enumerations.
namespace mxc::protobuf {

#define CAFFE_ENUM(name)           \
  template <>                      \
  struct EnumOf<caffe::name> {     \
    static const EnumType& Type(); \
  };
#define CAFFE_WORD(word, value)
#define CAFFE_MESSAGE(name)
#define CAFFE_FIELD(number, type, name, ...)
#define CAFFE_END
#include "frontend/caffe/schema.def"

}  // namespace mxc::protobuf
