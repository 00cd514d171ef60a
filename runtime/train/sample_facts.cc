// SPDX-License-Identifier: Apache-2.0
#include "runtime/train/sample_facts.h"

#include "runtime/base/joined.h"
#include "runtime/data/label_names.h"

namespace mxc::train {
namespace {

struct Fact {
  const char* name;
  std::string value;
};

// By the option that says each. The summary comes last: it follows from the
// others unless a file has changed.
std::vector<Fact> FactsOf(const SampleFacts& facts) {
  return {{"--data", facts.source},
          {"--data-opt", runtime::Joined(facts.options, " ")},
          {"--batch-size", std::to_string(facts.batch)},
          {"--seed", std::to_string(facts.seed)},
          {"--no-shuffle", facts.shuffled ? "not said" : "said"},
          {"the content", facts.summary}};
}

}  // namespace

std::string SampleFactsText(const SampleFacts& facts) {
  std::vector<std::string> words;
  for (const Fact& fact : FactsOf(facts)) words.push_back("=" + fact.value);
  return data::LabelNamesText(words);
}

std::string OtherSamples(const std::string& saved, const SampleFacts& now) {
  const auto words = data::ParseLabelNames(saved);
  const std::vector<Fact> facts = FactsOf(now);
  if (!words.ok() || words->size() != facts.size()) return "";
  std::string text;
  for (size_t i = 0; i < facts.size(); ++i) {
    const std::string was = (*words)[i].substr(1), &is = facts[i].value;
    if (was == is || (i + 1 == facts.size() && !text.empty())) continue;
    const auto shown = [](const std::string& value) {
      return value.empty() ? "nothing" : value;
    };
    text += std::string(text.empty() ? "" : ", ") + facts[i].name + " was " +
            shown(was) + " and is " + shown(is);
  }
  return text;
}

Status ExplainSeek(const Status& refusal, const std::string& others) {
  if (others.empty()) {
    return Status(refusal.code(),
                  refusal.message() +
                      "; to go on, --data, --data-opt, --batch-size, --seed "
                      "and --no-shuffle must be as they were");
  }
  return Status(refusal.code(),
                "the samples are not those that it stands among: " + others +
                    "; to go on, they must be as they were");
}

}  // namespace mxc::train
