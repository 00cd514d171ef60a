// SPDX-License-Identifier: Apache-2.0
#include "tools/run/sample/text_writer.h"

#include <algorithm>
#include <utility>

#include "runtime/base/visible.h"
#include "tools/run/failure.h"

namespace mxc::run {
namespace {

// How much of the end of `text` may be the beginning of `stop`.
size_t PartOf(std::string_view stop, std::string_view text) {
  if (stop.empty()) return 0;
  size_t most = std::min(stop.size() - 1, text.size());
  while (!stop.starts_with(text.substr(text.size() - most))) --most;
  return most;
}

}  // namespace

const char* NameOf(Ending ending) {
  switch (ending) {
    case Ending::kLength:
      return "length";
    case Ending::kEnd:
      return "end";
    case Ending::kStop:
      return "stop";
    case Ending::kBound:
      return "bound";
  }
  return "";
}

TextWriter::TextWriter(const WritingOptions& options, const Symbols& symbols,
                       LanguageModel& model, WritingListener& listener)
    : options_(options),
      symbols_(symbols),
      model_(model),
      listener_(listener),
      chooser_(options.choice),
      streams_(model.streams()) {}

void TextWriter::Write(std::span<const std::string> prompts) {
  std::vector<Prompt> read;
  for (const std::string& prompt : prompts) {
    read.push_back(Read(prompt, read.size(), prompts.size()));
  }
  if (options_.length == 0) return WriteNothing(read);
  size_t begun = 0;
  while (true) {
    std::vector<std::optional<uint32_t>> next(streams_.size());
    bool writes = false;
    for (size_t s = 0; s < streams_.size(); ++s) {
      if (!streams_[s] && begun < read.size()) {
        Begin(s, begun, read[begun]);
        ++begun;
      }
      if (!streams_[s]) continue;
      next[s] = streams_[s]->next;
      writes = true;
    }
    if (!writes) return;
    model_.Add(next);
    for (size_t s = 0; s < streams_.size(); ++s) {
      if (!streams_[s]) continue;
      Growing& text = *streams_[s];
      const std::optional<Ending> ending = Grow(s, text);
      if (!ending) continue;
      text.written.ending = *ending;
      listener_.Ended(text.number, text.written);
      streams_[s].reset();
    }
  }
}

void TextWriter::WriteNothing(std::span<const Prompt> prompts) {
  for (size_t number = 0; number < prompts.size(); ++number) {
    WrittenText written;
    written.prompt = prompts[number].text;
    listener_.Ended(number, written);
  }
}

TextWriter::Prompt TextWriter::Read(const std::string& text, size_t number,
                                    size_t count) const {
  const std::string name =
      count == 1 ? "the prompt" : "prompt " + std::to_string(number + 1);
  Prompt prompt{text, symbols_.Encode(text)};
  const size_t length = prompt.symbols.size();
  if (model_.bound() > 0 && length > model_.bound()) {
    throw Failure(name + " has " + std::to_string(length) +
                  " tokens, expected at most " +
                  std::to_string(model_.bound()) +
                  ", of which a text of this network consists");
  }
  return prompt;
}

void TextWriter::Begin(size_t stream, size_t number, const Prompt& prompt) {
  Growing text;
  text.number = number;
  text.first = prompt.symbols.empty();
  text.written.prompt = prompt.text;
  text.written.given = std::max<size_t>(prompt.symbols.size(), 1);
  std::vector<uint32_t> symbols = prompt.symbols;
  if (symbols.empty()) symbols.push_back(symbols_.beginning());
  text.next = symbols.back();
  symbols.pop_back();
  model_.Begin(stream, symbols);
  streams_[stream] = std::move(text);
}

std::optional<Ending> TextWriter::Grow(size_t stream, Growing& text) {
  WrittenText& written = text.written;
  const std::span<const float> said = model_.Said(stream);
  const size_t known = std::min(said.size(), symbols_.count());
  text.next = chooser_.Choose(said, known, text.number, written.symbols);
  const bool ends = symbols_.end() == text.next;
  if (!ends) {
    ++written.symbols;
    if (Say(text, symbols_.Piece(text.next, text.first))) return Ending::kStop;
    text.first = false;
  }
  std::optional<Ending> ending;
  if (ends) {
    ending = Ending::kEnd;
  } else if (std::cmp_greater_equal(written.symbols, options_.length)) {
    ending = Ending::kLength;
  } else if (model_.bound() > 0 &&
             written.given + written.symbols > model_.bound()) {
    ending = Ending::kBound;
  }
  if (ending) Tell(text, std::exchange(text.held, ""));
  return ending;
}

bool TextWriter::Say(Growing& text, const std::string& piece) {
  text.held += piece;
  const std::string_view held = text.held;
  const size_t at =
      options_.stop.empty() ? held.npos : held.find(options_.stop);
  const bool stops = at != held.npos;
  const size_t told =
      stops ? at
            : held.size() - std::max(PartOf(options_.stop, held),
                                     runtime::UnfinishedBytes(held));
  Tell(text, held.substr(0, told));
  text.held.erase(0, told);
  return stops;
}

void TextWriter::Tell(Growing& text, std::string_view piece) {
  if (piece.empty()) return;
  text.written.text += piece;
  listener_.Said(text.number, piece);
}

}  // namespace mxc::run
