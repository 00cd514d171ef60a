// SPDX-License-Identifier: Apache-2.0
#include "frontend/caffe/schema.h"

#include <utility>

namespace mxc {
namespace {

protobuf::EnumType WordsOf(const char* name,
                           std::vector<std::pair<const char*, int>> words) {
  return {name, std::move(words)};
}

}  // namespace

#define CAFFE_ENUM(name)                                            \
  const protobuf::EnumType& protobuf::EnumOf<caffe::name>::Type() { \
    static const protobuf::EnumType type = WordsOf(#name, {
#define CAFFE_WORD(word, value) {#word, value},
#define CAFFE_MESSAGE(name)                          \
  const protobuf::MessageType& caffe::name::Type() { \
    using M = caffe::name;                           \
    static const protobuf::MessageType type = protobuf::TypeOf(#name, {
#define CAFFE_FIELD(number, type, name, ...) \
  protobuf::FieldOf<&M::name>(number, #name),
#define CAFFE_END \
  });             \
  return type;    \
  }
#include "frontend/caffe/schema.def"

}  // namespace mxc
