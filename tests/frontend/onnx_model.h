// SPDX-License-Identifier: Apache-2.0
// ONNX models made in memory: messages by their numbers in onnx.proto.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "frontend/frontend.h"
#include "frontend/protobuf/write.h"

namespace mxc::onnx_model {

class Message {
 public:
  Message Int(int field, int64_t value) && {
    writer_.Int(field, value);
    return std::move(*this);
  }
  Message Float(int field, float value) && {
    writer_.Float(field, value);
    return std::move(*this);
  }
  Message Text(int field, const std::string& text) && {
    writer_.Bytes(field, text);
    return std::move(*this);
  }
  Message Sub(int field, const Message& message) && {
    writer_.Message(field, message.writer_);
    return std::move(*this);
  }
  Message All(int field, const std::vector<Message>& messages) && {
    for (const Message& message : messages) {
      *this = std::move(*this).Sub(field, message);
    }
    return std::move(*this);
  }
  const std::string& bytes() const { return writer_.bytes(); }

 private:
  protobuf::WireWriter writer_;
};

enum Type : int { kFloat = 1, kInt64 = 7, kBool = 9 };

inline Message Named(const std::string& name) {
  return Message().Text(1, name);
}
inline Message IntAttr(const std::string& name, int64_t value) {
  return Named(name).Int(3, value).Int(20, 2);
}
inline Message FloatAttr(const std::string& name, float value) {
  return Named(name).Float(2, value).Int(20, 1);
}
inline Message TextAttr(const std::string& name, const std::string& value) {
  return Named(name).Text(4, value).Int(20, 3);
}
inline Message TextsAttr(const std::string& name,
                         const std::vector<std::string>& values) {
  Message message = Named(name);
  for (const auto& value : values) message = std::move(message).Text(9, value);
  return std::move(message).Int(20, 8);
}
inline Message IntsAttr(const std::string& name,
                        const std::vector<int64_t>& values) {
  Message message = Named(name);
  for (const int64_t value : values) message = std::move(message).Int(8, value);
  return std::move(message).Int(20, 7);
}
inline Message TensorAttr(const std::string& name, const Message& tensor) {
  return Named(name).Sub(5, tensor).Int(20, 4);
}
inline Message GraphAttr(const std::string& name, const Message& graph) {
  return Named(name).Sub(6, graph).Int(20, 5);
}

// Its elements are the bytes of `raw`.
template <class T>
Message TensorOf(const std::string& name, Type type,
                 const std::vector<int64_t>& dims, const std::vector<T>& raw) {
  Message message;
  for (const int64_t dim : dims) message = std::move(message).Int(1, dim);
  std::string bytes(raw.size() * sizeof(T), '\0');
  if (!raw.empty()) std::memcpy(bytes.data(), raw.data(), bytes.size());
  return std::move(message).Int(2, type).Text(8, name).Text(9, bytes);
}
inline Message Number(const std::string& name, int64_t value) {
  return TensorOf<int64_t>(name, kInt64, {}, {value});
}
inline Message Truth(const std::string& name, bool value) {
  return TensorOf<char>(name, kBool, {}, {value ? '\1' : '\0'});
}
inline Message Zeros(const std::string& name,
                     const std::vector<int64_t>& dims) {
  int64_t count = 1;
  for (const int64_t dim : dims) count *= dim;
  return TensorOf<float>(name, kFloat, dims,
                         std::vector<float>(static_cast<size_t>(count)));
}

inline Message Node(const std::string& op,
                    const std::vector<std::string>& inputs,
                    const std::vector<std::string>& outputs,
                    const std::vector<Message>& attributes = {}) {
  Message message;
  for (const auto& input : inputs) message = std::move(message).Text(1, input);
  for (const auto& output : outputs) {
    message = std::move(message).Text(2, output);
  }
  return std::move(message).Text(4, op).All(5, attributes);
}

inline Message TensorType(Type type, const std::vector<int64_t>& dims) {
  Message shape;
  for (const int64_t dim : dims) {
    shape = std::move(shape).Sub(1, Message().Int(1, dim));
  }
  return Message().Sub(1, Message().Int(1, type).Sub(2, shape));
}
inline Message Input(const std::string& name, Type type,
                     const std::vector<int64_t>& dims) {
  return Named(name).Sub(2, TensorType(type, dims));
}
inline Message SequenceInput(const std::string& name, Type type,
                             const std::vector<int64_t>& dims) {
  const Message element = Message().Sub(1, TensorType(type, dims));
  return Named(name).Sub(2, Message().Sub(4, element));
}

struct GraphParts {
  std::vector<Message> nodes, inputs;
  std::vector<std::string> outputs;
  std::vector<Message> initializers = {};
  std::vector<Message> functions = {};
};

inline Message GraphOf(const GraphParts& parts) {
  Message message = Message().All(1, parts.nodes).Text(2, "graph");
  message = std::move(message).All(5, parts.initializers);
  message = std::move(message).All(11, parts.inputs);
  for (const auto& output : parts.outputs) {
    message = std::move(message).Sub(12, Named(output));
  }
  return message;
}

inline std::shared_ptr<SourceFile> ModelOf(const GraphParts& parts,
                                           int64_t opset = 21) {
  const Message model = Message()
                            .Int(1, 9)
                            .Sub(7, GraphOf(parts))
                            .Sub(8, Message().Int(2, opset))
                            .Sub(8, Named("com.microsoft").Int(2, 1))
                            .All(25, parts.functions);
  return std::make_shared<SourceFile>(SourceFile{"net.onnx", model.bytes()});
}

inline Result<Model> Build(const GraphParts& parts, BuildOptions options = {},
                           int64_t opset = 21) {
  options.require_supported = true;
  return LoadText(ModelOf(parts, opset), options);
}

// What the model is refused with.
inline std::string RefusalOf(const GraphParts& parts,
                             const BuildOptions& options = {},
                             int64_t opset = 21) {
  const Result<Model> model = Build(parts, options, opset);
  return model.ok() ? "" : model.errors().front().message;
}

}  // namespace mxc::onnx_model
