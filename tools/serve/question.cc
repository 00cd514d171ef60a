// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/question.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "runtime/formats/convert.h"
#include "tools/run/answer.h"
#include "tools/run/failure.h"
#include "tools/serve/json_tensors.h"
#include "tools/serve/multipart.h"
#include "tools/serve/picture_size.h"

namespace mxc::serve {
namespace {

int TopOf(const Request& request) {
  int top = 0;
  for (const auto& [key, text] : request.query) {
    const auto [end, error] =
        std::from_chars(text.data(), text.data() + text.size(), top);
    if (error != std::errc() || end != text.data() + text.size() || top < 1) {
      throw run::Failure("top: '" + text +
                         "' is not a whole number of at least 1");
    }
  }
  return top;
}

// A picture that unpacks to much more than its file would let who sends it take
// the machine's memory: photos have a byte for some pixels.
void RequirePixels(const Part& part) {
  constexpr uint64_t kOfAny = 1 << 20, kOfByte = 32;
  const uint64_t most = kOfAny + kOfByte * part.content.size();
  const auto pixels = StatedPixels(part.content);
  if (!pixels || *pixels <= most) return;
  throw run::Failure(NameOf(part) + ": a picture of " +
                     std::to_string(*pixels) + " pixels in " +
                     std::to_string(part.content.size()) + " bytes; at most " +
                     std::to_string(most) + " are unpacked from as many");
}

// Those that are asked for, in their order.
std::vector<const run::OutputValues*> AskedFor(const Question& question,
                                               const Answer& answer) {
  std::vector<const run::OutputValues*> outputs;
  for (const std::string& name : question.outputs) {
    const auto found =
        std::ranges::find(answer.outputs, name, &run::OutputValues::name);
    if (found != answer.outputs.end()) {
      outputs.push_back(&*found);
      continue;
    }
    std::string list;
    for (const run::OutputValues& output : answer.outputs) {
      list += (list.empty() ? "'" : ", '") + output.name + "'";
    }
    throw run::Failure("no output '" + name + "'; the outputs are " + list);
  }
  if (!question.outputs.empty()) return outputs;
  for (const run::OutputValues& output : answer.outputs) {
    outputs.push_back(&output);
  }
  return outputs;
}

template <class T>
std::vector<T> As(runtime::ElementType type, const runtime::Array& array) {
  const auto bytes = array.bytes();
  std::vector<T> values(bytes.size() /
                        static_cast<size_t>(runtime::ElementBytes(array.type)));
  runtime::ConvertElements(array.type, bytes, type,
                           std::as_writable_bytes(std::span(values)));
  return values;
}

// As numbers of JSON that lose nothing: whole ones of integers.
Json ValuesJson(const runtime::Array& array) {
  using runtime::ElementType;
  if (array.type == ElementType::kF64) {
    return As<double>(ElementType::kF64, array);
  }
  if (runtime::IsFloat(array.type)) return run::Floats(array);
  if (array.type == ElementType::kU64) {
    return As<uint64_t>(ElementType::kU64, array);
  }
  const auto whole = As<int64_t>(ElementType::kI64, array);
  if (array.type != ElementType::kBool) return whole;
  return std::vector<bool>(whole.begin(), whole.end());
}

// KServe's JSON has no halves.
std::string KserveJsonType(runtime::ElementType type) {
  const bool half = runtime::IsFloat(type) && runtime::ElementBytes(type) == 2;
  return half ? "FP32" : KserveType(type);
}

Json KserveJson(const Question& question, const Answer& answer,
                const std::string& network) {
  Json outputs = Json::array();
  for (const run::OutputValues* output : AskedFor(question, answer)) {
    const auto& [name, array] = *output;
    outputs.push_back({{"name", name},
                       {"shape", array.shape},
                       {"datatype", KserveJsonType(array.type)},
                       {"data", ValuesJson(array)}});
  }
  Json json = {{"model_name", network}, {"model_version", "1"}};
  if (!question.id.empty()) json["id"] = question.id;
  json["outputs"] = std::move(outputs);
  if (!answer.warnings.empty()) {
    json["parameters"] = {{"warnings", answer.warnings}};
  }
  return json;
}

}  // namespace

Question QuestionOf(const Request& request) {
  Question question;
  question.top = TopOf(request);
  question.kserve = request.path.starts_with("/v2/");
  const std::string_view body = request.body.view();
  if (IsForm(request.content_type)) {
    for (FormPart& part : run::Take(ParseForm(request.content_type, body))) {
      question.parts.push_back({std::move(part.name), part.content, {}});
    }
  } else if (question.kserve || IsJson(body)) {
    JsonTensors json = ParseJsonTensors(body);
    question.id = std::move(json.id);
    question.outputs = std::move(json.outputs);
    for (runtime::NamedArray& tensor : json.tensors) {
      question.parts.push_back(
          {std::move(tensor.name), {}, std::move(tensor.array)});
    }
  } else {
    question.parts.push_back({"", body, {}});
  }
  for (const Part& part : question.parts) {
    if (!part.array && part.content.empty()) {
      throw run::Failure(NameOf(part) + " is empty");
    }
    RequirePixels(part);
  }
  return question;
}

Json AnswerJson(const Question& question, const Answer& answer,
                const std::string& network,
                const std::vector<std::string>& labels) {
  if (question.kserve) return KserveJson(question, answer, network);
  Json json;
  if (question.top > 0) {
    json["top"] = run::Top(answer.outputs.at(0), question.top, labels);
  } else {
    json["outputs"] = run::DescribeOutputs(answer.outputs);
    for (size_t k = 0; k < answer.outputs.size(); ++k) {
      json["outputs"][k]["values"] = ValuesJson(answer.outputs[k].array);
    }
  }
  json["warnings"] = answer.warnings;
  return json;
}

std::string KserveType(runtime::ElementType type) {
  using runtime::ElementType;
  switch (type) {
    case ElementType::kF32:
      return "FP32";
    case ElementType::kF64:
      return "FP64";
    case ElementType::kF16:
      return "FP16";
    case ElementType::kBF16:
      return "BF16";
    case ElementType::kBool:
      return "BOOL";
    case ElementType::kU8:
      return "UINT8";
    case ElementType::kI8:
      return "INT8";
    case ElementType::kI32:
      return "INT32";
    case ElementType::kI64:
      return "INT64";
    default:
      return std::string(runtime::ElementName(type));
  }
}

std::string NameOf(const Part& part) {
  return part.input.empty() ? "the body" : "part '" + part.input + "'";
}

}  // namespace mxc::serve
