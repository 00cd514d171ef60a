// SPDX-License-Identifier: Apache-2.0
// mxc-run sample: texts from a language model, symbol by symbol.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/base/clock.h"
#include "runtime/base/terminal.h"
#include "tools/run/failure.h"
#include "tools/run/input_file.h"
#include "tools/run/output.h"
#include "tools/run/sample/text_writer.h"
#include "tools/run/session.h"
#include "tools/run/subcommand.h"
#include "tools/usage/values.h"

namespace mxc::run {
namespace {

using Json = nlohmann::ordered_json;

struct SampleTextOptions {
  SessionOptions session;
  SymbolSource symbols;
  std::string prompt;
  std::string prompts;  // a file
  WritingOptions writing = {.choice = {}, .length = 200, .stop = ""};
};

// A prompt on each line.
std::vector<std::string> ReadPrompts(const std::string& path) {
  constexpr size_t kMostBytes = size_t{64} << 20;
  const runtime::MappedFile file = Take(OpenInput(path));
  const auto bytes = file.bytes();
  std::string_view text(reinterpret_cast<const char*>(bytes.data()),
                        bytes.size());
  const char* wrong = bytes.empty()                  ? "it is empty"
                      : bytes.size() > kMostBytes    ? "more than 64 MiB"
                      : text.find('\0') != text.npos ? "a binary file"
                                                     : nullptr;
  if (wrong != nullptr) {
    throw Failure("'" + path + "' holds no prompts: " + wrong);
  }
  std::vector<std::string> prompts;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    prompts.emplace_back(line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return prompts;
}

double Rate(size_t symbols, double seconds) {
  return seconds > 0 ? static_cast<double>(symbols) / seconds : 0;
}

// The only text, as it is written behind its prompt.
class Printed : public WritingListener {
 public:
  explicit Printed(std::string prompt) : prompt_(std::move(prompt)) {}

  void Said(size_t, std::string_view piece) override {
    Begin();
    PrintOut("%.*s", static_cast<int>(piece.size()), piece.data());
    std::fflush(stdout);
  }
  void Ended(size_t, const WrittenText&) override {
    Begin();
    PrintOut("\n");
  }

 private:
  void Begin() { PrintOut("%s", std::exchange(prompt_, "").c_str()); }

  std::string prompt_;
};

// All texts, in the order of their prompts, and how far they are.
class Collected : public WritingListener {
 public:
  Collected(size_t count, bool prints)
      : prints_(prints),
        shows_(runtime::RedrawsLines(STDERR_FILENO)),
        texts_(count) {}

  void Said(size_t, std::string_view) override {}

  void Ended(size_t text, const WrittenText& written) override {
    texts_[text] = written;
    symbols_ += written.symbols;
    ++ended_;
    for (; printed_ < texts_.size() && texts_[printed_]; ++printed_) {
      Clear();
      if (!prints_) continue;
      PrintOut("%s%s\n", texts_[printed_]->prompt.c_str(),
               texts_[printed_]->text.c_str());
      std::fflush(stdout);
    }
    Show();
  }

  // Once all have ended.
  Json ToJson() const {
    Json texts = Json::array();
    for (const auto& text : texts_) texts.push_back(JsonOf(*text));
    return texts;
  }
  size_t symbols() const { return symbols_; }

 private:
  static Json JsonOf(const WrittenText& written) {
    return {{"text", written.prompt + written.text},
            {"symbols", written.symbols},
            {"ended", NameOf(written.ending)}};
  }

  // A line on a terminal, which the next one replaces.
  void Show() {
    if (!shows_ || ended_ == texts_.size()) return;
    PrintErr("%zu of %zu texts, %zu symbols", ended_, texts_.size(), symbols_);
    shown_ = true;
  }
  void Clear() {
    if (shown_) std::fputs("\r\x1b[K", stderr);
    shown_ = false;
  }

  const bool prints_, shows_;
  bool shown_ = false;
  std::vector<std::optional<WrittenText>> texts_;
  size_t printed_ = 0, ended_ = 0, symbols_ = 0;
};

void PrintReport(const Collected& collected, double seconds) {
  Json report;
  Json texts = collected.ToJson();
  if (texts.size() == 1) {
    report = std::move(texts[0]);
  } else {
    report["texts"] = std::move(texts);
  }
  report["seconds"] = seconds;
  report["symbols_per_second"] = Rate(collected.symbols(), seconds);
  PrintJson(report);
}

void SampleTexts(const SampleTextOptions& options, const Reporting& reporting) {
  const bool many = !options.prompts.empty();
  const std::vector<std::string> prompts =
      many ? ReadPrompts(options.prompts) : std::vector{options.prompt};
  const Session session =
      OpenSession(options.session.artifact, options.session);
  const auto symbols = OpenSymbols(options.symbols, session);
  const auto model = OpenLanguageModel(session);
  Collected collected(prompts.size(), !reporting.json);
  Printed printed(options.prompt);
  const bool at_once = !many && !reporting.json;
  WritingListener& listener =
      at_once ? static_cast<WritingListener&>(printed) : collected;
  const int64_t begin = runtime::Nanoseconds();
  TextWriter(options.writing, *symbols, *model, listener).Write(prompts);
  const double seconds = runtime::SecondsOf(runtime::Nanoseconds() - begin);
  if (reporting.json) PrintReport(collected, seconds);
}

void DeclareChoice(CLI::App& app, ChoiceOptions& choice) {
  app.add_option("--temperature", choice.temperature,
                 "0: always the likeliest symbol; 1: as likely as the model "
                 "says; above: more variety")
      ->check(NotNegative())
      ->capture_default_str();
  app.add_option("--top-k", choice.top_k,
                 "draw from the K likeliest symbols only (default: from all)")
      ->check(AtLeast(1))
      ->type_name("K");
  app.add_option("--top-p", choice.top_p,
                 "draw from the fewest symbols only that together are as "
                 "likely as P; of those that --top-k leaves")
      ->check(ShareAboveZero())
      ->capture_default_str()
      ->type_name("P");
  app.add_option("--seed", choice.seed,
                 "of the draws: another seed, another text")
      ->capture_default_str();
}

}  // namespace

Command AddSample(CLI::App& app, Reporting& reporting) {
  const auto options = std::make_shared<SampleTextOptions>();
  DeclareSession(app, options->session);
  DeclareCheck(app, options->session.check_weights);
  CLI::Option* data = app.add_option(
      "--data", options->symbols.data,
      "text:FILE: its characters are the model's symbols (default: those that "
      "the artifact was trained on, else bytes)");
  app.add_option("--vocab", options->symbols.vocabulary,
                 "the model's symbols are the tokens of this vocabulary: "
                 "vocab.json beside merges.txt (GPT-2), vocab.txt (BERT) or "
                 "their folder")
      ->type_name("FILE|DIR")
      ->excludes(data);
  CLI::Option* prompt =
      app.add_option("--prompt", options->prompt, "the text to go on with");
  app.add_option("--prompts", options->prompts,
                 "a file with a text to go on with on each line; as many at "
                 "once as the artifact was compiled for (--streams)")
      ->type_name("FILE")
      ->excludes(prompt);
  app.add_option("--length", options->writing.length,
                 "the most symbols to write")
      ->check(AtLeast(0))
      ->capture_default_str();
  app.add_option("--stop", options->writing.stop,
                 "a text ends before this (beside the vocabulary's own token "
                 "that ends texts)")
      ->type_name("TEXT");
  DeclareChoice(app, options->writing.choice);
  app.add_flag("--json", reporting.json, "report as JSON on stdout");
  app.footer(Footer(
      "  mxc sample lm.mxa --prompt \"The \" --length 200\n"
      "  mxc sample lm.mxa --temperature 0.5 --seed 7\n"
      "  mxc sample gpt2.mxa --vocab gpt2 --prompts lines.txt --top-p 0.9\n"));
  return [options, &reporting] { SampleTexts(*options, reporting); };
}

}  // namespace mxc::run
