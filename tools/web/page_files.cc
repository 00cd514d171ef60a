// SPDX-License-Identifier: Apache-2.0
#include "tools/web/page_files.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>

#include "codegen/web/team_module.h"
#include "ir/support/check.h"
#include "runtime/data/digits/drawing.h"
#include "runtime/data/digits/glyphs.h"
#include "tools/web/assets.h"

namespace mxc {
namespace {

using Json = nlohmann::ordered_json;

// As the page calls the roles that it asks for; what only the runtime knows how
// to use is "other".
std::string_view RoleWord(mxc_tensor_role role) {
  switch (role) {
    case MXC_TENSOR_DATA:
      return "data";
    case MXC_TENSOR_LABEL:
      return "label";
    case MXC_TENSOR_RATE:
      return "rate";
    case MXC_TENSOR_LOSS:
      return "loss";
    case MXC_TENSOR_PARAMETER:
      return "parameter";
    case MXC_TENSOR_AUXILIARY:
      return "auxiliary";
    case MXC_TENSOR_LENGTH:
      return "length";
    default:
      return "other";
  }
}

Json ToJson(const WebTensor& tensor) {
  Json shape = Json::array();
  const Shape& extents = tensor.type.shape;
  for (int axis = 0; axis < extents.rank(); ++axis) {
    shape.push_back(extents[axis]);
  }
  Json json = {{"name", tensor.name},
               {"dtype", ShortName(tensor.type.dtype)},
               {"shape", shape},
               {"role", RoleWord(tensor.role)},
               {"offset", tensor.offset}};
  for (const LengthAxis& open : tensor.open) {
    json["open"].push_back(
        {{"axis", open.axis}, {"inner", open.inner}, {"length", open.length}});
  }
  return json;
}

Json ToJson(const std::vector<WebTensor>& tensors) {
  Json list = Json::array();
  for (const WebTensor& tensor : tensors) list.push_back(ToJson(tensor));
  return list;
}

Json ToJson(const std::map<std::string, int64_t>& lengths) {
  Json json = Json::object();
  for (const auto& [name, most] : lengths) json[name] = most;
  return json;
}

Json Describe(const WebModule& module, const Plan& plan,
              const std::string& name) {
  Json entries = Json::array(), states = Json::array();
  for (const WebEntry& entry : module.entries) {
    entries.push_back({{"name", entry.name},
                       {"symbol", entry.symbol},
                       {"batch", entry.batch},
                       {"lengths", ToJson(entry.lengths)},
                       {"inputs", ToJson(entry.inputs)},
                       {"outputs", ToJson(entry.outputs)},
                       {"steps", entry.steps}});
  }
  for (const WebTensor& tensor : module.states) {
    states.push_back(ToJson(tensor));
    states.back()["initial"] = tensor.initial;
  }
  return {{"name", plan.programs.front().name},
          {"wasm", name + ".wasm"},
          {"weights", name + ".weights"},
          {"weightBytes", module.weights.size()},
          {"memoryBytes", module.memory_bytes},
          {"team",
           {{"wasm", name + ".team.wasm"},
            {"pages", module.team_pages},
            {"workers", kMostWorkers}}},
          {"target", plan.target.name},
          {"entries", entries},
          {"states", states},
          {"labels", plan.label_names},
          {"preprocessing", plan.preprocessing}};
}

// [kind, x, y, x, y, …] of each stroke.
Json Glyphs() {
  Json digits = Json::array();
  for (int digit = 0; digit < 10; ++digit) {
    Json ways = Json::array();
    for (const data::Glyph& glyph : data::GlyphsOf(digit)) {
      Json strokes = Json::array();
      for (const data::Stroke& stroke : glyph) {
        Json numbers = {static_cast<int>(stroke.kind)};
        for (const data::Point& point : stroke.points) {
          numbers.push_back(static_cast<int>(point.x));
          numbers.push_back(static_cast<int>(point.y));
        }
        strokes.push_back(numbers);
      }
      ways.push_back(strokes);
    }
    digits.push_back(ways);
  }
  return digits;
}

// Returns whether samples are as large as drawn digits.
bool ReadsDigits(const WebModule& module) {
  return std::ranges::any_of(module.entries, [](const WebEntry& entry) {
    if (entry.inputs.empty() || entry.batch <= 0) return false;
    const TensorType& type = entry.inputs.front().type;
    return type.dtype == DType::kF32 &&
           type.shape.elements() ==
               entry.batch * data::kDigitSide * data::kDigitSide;
  });
}

// Of a name, what an address holds as it is.
std::string AddressName(const std::string& stem) {
  std::string name = std::filesystem::path(stem).filename().string();
  for (char& c : name) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 ||
                       c == '-' || c == '_' || c == '.';
    if (!plain) c = '_';
  }
  return name.empty() ? "net" : name;
}

std::string With(std::string_view text, std::string_view mark,
                 const std::string& value) {
  const size_t at = text.find(mark);
  MXC_CHECK(at != text.npos, "{} is missing", mark);
  std::string out(text.substr(0, at));
  out += value;
  return out += text.substr(at + mark.size());
}

}  // namespace

std::vector<PageFile> PageFiles(const WebModule& module, const Plan& plan) {
  constexpr std::string_view kMark = "/* written by mxc */ null";
  const std::string name = AddressName(plan.stem);
  const bool digits = ReadsDigits(module);
  Json description = Describe(module, plan, name);
  description["digits"] = digits;
  std::vector<PageFile> files = {
      {name + ".wasm", module.wasm},
      {name + ".team.wasm", module.team},
      {name + ".weights", module.weights},
      {name + ".mjs",
       With(Asset_net(), kMark,
            description.dump(-1, ' ', false, Json::error_handler_t::replace))},
      {"worker.mjs", std::string(Asset_worker())},
      {"index.html", With(Asset_index(), "./net.mjs", "./" + name + ".mjs")}};
  if (digits) {
    files.push_back(
        {"digits.mjs", With(Asset_digits(), kMark, Glyphs().dump())});
  }
  return files;
}

}  // namespace mxc
