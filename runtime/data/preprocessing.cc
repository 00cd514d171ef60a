// SPDX-License-Identifier: Apache-2.0
#include "runtime/data/preprocessing.h"

#include <charconv>
#include <vector>

#include "runtime/base/joined.h"
#include "runtime/data/label_names.h"

namespace mxc::data {
namespace {

template <class T>
std::string ExactText(const T& value) {
  return SettingText(value);
}
// In no locale: a checkpoint is read by others.
std::string ExactText(double value) {
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, value).ptr;
  return std::string(text, end);
}

// Collects "name=value".
class SettingWords {
 public:
  template <class T>
  void operator()(const char* name, const T& value, const char*,
                  const Range& = {}) {
    words_.push_back(std::string(name) + "=" + ExactText(value));
  }
  template <class E>
  void Choice(const char* name, E value, const Choices& names, const char*) {
    words_.push_back(std::string(name) + "=" +
                     names.begin()[static_cast<size_t>(value)]);
  }
  const std::vector<std::string>& words() const { return words_; }

 private:
  std::vector<std::string> words_;
};

std::vector<std::string> WordsOf(Preprocessing preprocessing) {
  SettingWords words;
  preprocessing.Describe(words);
  return words.words();
}

std::string Three(const char* what, double a, double b, double c, bool grey) {
  if (grey || (a == b && b == c)) return runtime::Format("%s %.6g", what, a);
  return runtime::Format("%s %.6g, %.6g, %.6g", what, a, b, c);
}

std::string DescribeFit(const Preprocessing& p) {
  if (p.fit.empty()) return "";
  if (p.fit == "stretch") return "resized to the input";
  const std::string cut =
      p.resize > 0 ? runtime::Format("shorter side %lld, centre cut out",
                                     static_cast<long long>(p.resize))
                   : "centre cut out, not resized";
  return p.mirror ? cut + ", mirrored" : cut;
}

}  // namespace

std::string PreprocessingText(const Preprocessing& preprocessing) {
  const std::vector<std::string> usual = WordsOf({});
  const std::vector<std::string> words = WordsOf(preprocessing);
  std::vector<std::string> said;
  for (size_t i = 0; i < words.size(); ++i) {
    if (words[i] != usual[i]) said.push_back(words[i]);
  }
  return LabelNamesText(said);
}

StatusOr<Preprocessing> ParsePreprocessing(std::string_view line) {
  const auto words = ParseLabelNames(line);
  if (!words.ok()) return words.status();
  Settings settings;
  for (const std::string& word : *words) {
    const size_t equals = std::min(word.find('='), word.size());
    settings.emplace_back(word.substr(0, equals),
                          word.substr(std::min(equals + 1, word.size())));
  }
  Preprocessing parsed;
  SettingsReader reader(settings);
  parsed.Describe(reader);
  MXC_RT_RETURN_IF_ERROR(reader.Finish("preprocess"));
  return parsed;
}

std::string DescribePreprocessing(const Preprocessing& p) {
  std::vector<std::string> parts;
  const bool grey = p.order == "grey";
  if (!p.mean_img.empty()) parts.push_back("mean of " + p.mean_img);
  if (p.mean_r != 0 || p.mean_g != 0 || p.mean_b != 0) {
    parts.push_back(Three("mean", p.mean_r, p.mean_g, p.mean_b, grey));
  }
  if (p.std_r != 1 || p.std_g != 1 || p.std_b != 1) {
    parts.push_back(Three("std", p.std_r, p.std_g, p.std_b, grey));
  }
  if (p.scale != 1) parts.push_back(runtime::Format("scale %.6g", p.scale));
  if (parts.empty() && !p.fit.empty()) parts.push_back("values 0 to 255");
  if (const std::string fit = DescribeFit(p); !fit.empty()) {
    parts.push_back(fit);
  }
  if (p.orientation == Orientation::kStored) {
    parts.push_back("not turned by EXIF");
  }
  if (p.blue_first) parts.push_back("blue first");
  return runtime::Joined(parts, ", ");
}

}  // namespace mxc::data
