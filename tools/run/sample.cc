// SPDX-License-Identifier: Apache-2.0
// mxc-run sample: text from a language model, symbol by symbol.
//
// The model is an entry `infer` for one symbol: data (1, 1), hidden states that
// come out and go in again (the manifest's `carry`), probabilities first.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "runtime/artifact/manifest.h"
#include "runtime/data/iterator.h"
#include "runtime/data/text/vocabulary.h"
#include "tools/run/failure.h"
#include "tools/run/output.h"
#include "tools/run/session.h"
#include "tools/run/subcommand.h"
#include "tools/usage/values.h"

namespace mxc::run {
namespace {

struct SampleTextOptions {
  SessionOptions session;
  std::string data, prompt;
  int64_t length = 200;
  double temperature = 1;
  uint64_t seed = 0;
};

// The symbols by number: those of the named text, else what the artifact knows
// of the text that was trained on, else bytes.
data::Vocabulary ReadVocabulary(const std::string& source,
                                const Session& session) {
  if (!source.empty()) {
    data::IteratorOptions options;
    options.threads = 0;
    return data::Vocabulary(Take(data::Open(source, options))->label_names());
  }
  std::vector<std::string> known = session.LabelNames();
  if (!known.empty()) return data::Vocabulary(std::move(known));
  std::vector<std::string> bytes;
  for (int byte = 0; byte < 256; ++byte) {
    bytes.emplace_back(1, static_cast<char>(byte));
  }
  return data::Vocabulary(std::move(bytes));
}

// Words, where a symbol is longer than a character.
data::TextUnit UnitOf(const data::Vocabulary& vocabulary) {
  const auto is_long = [](std::string_view name) {
    data::TakeUnit(&name, data::TextUnit::kCharacter);
    return !name.empty();
  };
  return std::ranges::any_of(vocabulary.names(), is_long)
             ? data::TextUnit::kWord
             : data::TextUnit::kCharacter;
}

// "'data' float32 (1, 3, 224, 224)" is no text.
std::string NoSymbol(std::span<const NetworkInput> inputs) {
  std::string text = "a language model that writes text takes one symbol, ";
  text += "float32 (1, 1); this network takes ";
  for (const NetworkInput& input : inputs) {
    if (!input.read || input.use == MXC_USE_CARRY) continue;
    text += "'" + std::string(input.name) + "' " + Describe(input) + ", ";
  }
  return text +
         "and a language model is compiled for it with --input-shape data:1x1";
}

// One symbol in, the probabilities of the next one out.
class LanguageModel {
 public:
  LanguageModel(const Session& session, api::Executor executor)
      : executor_(std::move(executor)) {
    const auto inputs = session.Inputs();
    for (const auto& [output, input] : session.model.carries(session.entry)) {
      carries_.push_back({inputs[input].name, output});
    }
    for (const NetworkInput& input : inputs) {
      if (!input.read || input.use == MXC_USE_CARRY) continue;
      if (symbol_.empty() && input.dtype == MXC_F32 &&
          input.bytes == sizeof(float)) {
        symbol_ = input.name;
      }
    }
    if (symbol_.empty()) {
      throw Failure(NoSymbol(inputs));
    }
  }

  std::span<const float> Next(uint32_t symbol) {
    const auto value = static_cast<float>(symbol);
    executor_.SetInput(symbol_.c_str(), std::span(&value, 1));
    executor_.Run();
    for (const Carry& carry : carries_) {
      executor_.SetInput(carry.input.c_str(),
                         executor_.Output(carry.output).span());
    }
    const auto output = executor_.Output<float>(0);
    probabilities_.assign(output.begin(), output.end());
    return probabilities_;
  }

 private:
  struct Carry {
    std::string input;
    size_t output;
  };

  api::Executor executor_;
  std::vector<Carry> carries_;
  std::string symbol_;  // the input's name
  std::vector<float> probabilities_;
};

// Draws from p^(1/t); the likeliest for t = 0. Symbols that the vocabulary
// lacks are never drawn.
class Chooser {
 public:
  Chooser(double temperature, uint64_t seed)
      : temperature_(temperature), random_(seed) {}

  uint32_t Choose(std::span<const float> probabilities, size_t symbols) {
    const auto p = probabilities.first(std::min(symbols, probabilities.size()));
    const auto likeliest = std::ranges::max_element(p) - p.begin();
    if (temperature_ == 0) return static_cast<uint32_t>(likeliest);
    weights_.resize(p.size());
    double sum = 0;
    for (size_t i = 0; i < p.size(); ++i) {
      sum += weights_[i] = std::pow(p[i], 1 / temperature_);
    }
    double left = static_cast<double>(random_() >> 11) * 0x1p-53 * sum;
    for (size_t i = 0; i < p.size(); ++i) {
      left -= weights_[i];
      if (left < 0) return static_cast<uint32_t>(i);
    }
    return static_cast<uint32_t>(likeliest);
  }

 private:
  double temperature_;
  std::mt19937_64 random_;
  std::vector<double> weights_;
};

// Goes on from the prompt; `say` gets each piece of the text. A model of lines,
// in which number 0 has no name, ends with the line.
void Compose(const SampleTextOptions& options,
             const data::Vocabulary& vocabulary, LanguageModel& model,
             const std::function<void(std::string_view)>& say) {
  const std::vector<std::string>& names = vocabulary.names();
  const data::TextUnit unit = UnitOf(vocabulary);
  const auto prompt =
      Take(vocabulary.Encode(options.prompt, unit, /*unknown=*/""));
  if (prompt.empty() && names[0].empty()) {
    throw Failure("the model knows lines; give their beginning by --prompt");
  }
  Chooser chooser(options.temperature, options.seed);
  say(options.prompt);
  std::span<const float> next;
  for (const uint32_t symbol : prompt) next = model.Next(symbol);
  for (int64_t i = 0; i < options.length; ++i) {
    if (next.empty()) next = model.Next(0);
    const uint32_t symbol = chooser.Choose(next, names.size());
    if (names[symbol].empty()) return;
    if (unit == data::TextUnit::kWord && (i > 0 || !prompt.empty())) say(" ");
    say(names[symbol]);
    next = model.Next(symbol);
  }
}

void SampleText(const SampleTextOptions& options, const Reporting& reporting) {
  const Session session =
      OpenSession(options.session.artifact, options.session);
  const data::Vocabulary vocabulary = ReadVocabulary(options.data, session);
  LanguageModel model(session, session.Bind(/*profile=*/false));
  std::string text;
  Compose(options, vocabulary, model, [&](std::string_view part) {
    text += part;
    if (reporting.json) return;
    PrintOut("%.*s", static_cast<int>(part.size()), part.data());
    std::fflush(stdout);
  });
  if (!reporting.json) {
    PrintOut("\n");
    return;
  }
  const nlohmann::ordered_json report = {{"text", text}};
  PrintJson(report);
}

}  // namespace

Command AddSample(CLI::App& app, Reporting& reporting) {
  const auto options = std::make_shared<SampleTextOptions>();
  DeclareSession(app, options->session);
  DeclareCheck(app, options->session.check_weights);
  app.add_option("--data", options->data,
                 "text:FILE: its characters are the model's symbols (default: "
                 "those that the artifact was trained on, else bytes)");
  app.add_option("--prompt", options->prompt, "the text to go on with");
  app.add_option("--length", options->length, "symbols to write")
      ->check(AtLeast(0))
      ->capture_default_str();
  app.add_option("--temperature", options->temperature,
                 "0: always the likeliest symbol; 1: as likely as the model "
                 "says; above: more variety")
      ->check(NotNegative())
      ->capture_default_str();
  app.add_option("--seed", options->seed,
                 "of the draws: another seed, another text")
      ->capture_default_str();
  app.add_flag("--json", reporting.json, "report as JSON on stdout");
  app.footer(
      Footer("  mxc sample lm.mxa --prompt \"The \" --length 200\n"
             "  mxc sample lm.mxa --temperature 0.5 --seed 7\n"));
  return [options, &reporting] { SampleText(*options, reporting); };
}

}  // namespace mxc::run
