// SPDX-License-Identifier: Apache-2.0
// text:FILE: language models. label[t] is what follows data[t].
//   data   f32[T]     label   f32[T], numbers of the vocabulary (label_names), or
//                             of a published one's tokens (`tokens`)
//
// Running text (by default): the text is cut into batch_size columns that stand
// side by side; each batch takes the next T of all of them, so row r goes on in
// row r of the next batch. What does not fill T in every column is left out.
// Workers of a job share the columns of all their batches.
//
// Lines (`buckets`): each line is a sample of the smallest bucket that holds
// it, filled up with 0, which no symbol has. As MXNet's rnn.BucketSentenceIter.
#include <algorithm>

#include "runtime/data/files/inflate.h"
#include "runtime/data/files/watched_file.h"
#include "runtime/data/source.h"
#include "runtime/data/text/tokenizer.h"
#include "runtime/data/text/vocabulary.h"

namespace mxc::data {
namespace {

constexpr uint64_t kMostTextBytes = uint64_t{1} << 34;

struct TextOptions {
  int64_t length = 35;
  Extents buckets;
  TextUnit unit = TextUnit::kCharacter;
  std::string unknown, tokens;

  template <class Fields>
  void Describe(Fields& f) {
    f("length", length, "symbols of a row of running text", Range{1, 1 << 20});
    f("buckets", buckets, "lengths; each line is a sample of the next one",
      Range{1, 1 << 20});
    f.Choice("unit", unit, {"character", "word"}, "what a symbol is");
    f("unknown", unknown, "symbol that stands for those not trained with");
    f("tokens", tokens,
      "symbols are its tokens: a vocab.txt, a vocab.json beside merges.txt, or "
      "the folder of either");
  }
};

// How the text becomes symbols.
class Coding {
 public:
  static StatusOr<Coding> Of(const SourceRequest& request,
                             const TextOptions& options,
                             std::string_view text) {
    Coding coding;
    coding.unit_ = options.unit;
    coding.unknown_ = options.unknown;
    if (!options.tokens.empty()) {
      if (options.unit != TextUnit::kCharacter || !options.unknown.empty()) {
        return runtime::Fail(StatusCode::kInvalidArgument,
                             "'tokens' stands beside '%s', expected one "
                             "of them",
                             options.unknown.empty() ? "unit" : "unknown");
      }
      MXC_RT_ASSIGN(coding.tokenizer_, Tokenizer::Open(options.tokens));
    } else if (!request.label_names.empty()) {
      coding.vocabulary_.emplace(request.label_names);
    } else {
      coding.vocabulary_ =
          Vocabulary::Of(text, options.unit, !options.buckets.empty());
    }
    return coding;
  }

  // What an artifact is to know of the symbols; tokens are in a file of theirs.
  std::vector<std::string> names() const {
    return vocabulary_ ? vocabulary_->names() : std::vector<std::string>();
  }
  StatusOr<std::vector<uint32_t>> Encode(std::string_view text) const {
    if (vocabulary_) return vocabulary_->Encode(text, unit_, unknown_);
    if (text.size() <= kMostTokenText) return tokenizer_->Encode(text);
    return runtime::Fail(StatusCode::kInvalidArgument,
                         "a text of %zu bytes, expected at most %zu to be cut "
                         "into tokens",
                         text.size(), kMostTokenText);
  }

 private:
  static constexpr size_t kMostTokenText = size_t{1} << 28;

  std::optional<Vocabulary> vocabulary_;
  std::shared_ptr<const Tokenizer> tokenizer_;  // where there is no vocabulary
  TextUnit unit_ = TextUnit::kCharacter;
  std::string unknown_;
};

void Write(std::span<const uint32_t> symbols, std::span<float> to) {
  std::fill(std::copy(symbols.begin(), symbols.end(), to.begin()), to.end(),
            0.0f);
}

class RunningText : public Source {
 public:
  RunningText(const SourceRequest& request, const TextOptions& options,
              const Coding& coding, std::vector<uint32_t> symbols)
      : symbols_(std::move(symbols)),
        vocabulary_(coding.names()),
        columns_(request.common.whole_batch()),
        length_(options.length),
        has_held_out_(request.common.held_out > 0),
        names_{request.common.data_name, request.common.label_name} {
    const auto count = static_cast<int64_t>(symbols_.size());
    column_ = std::max<int64_t>(count - 1, 0) / columns_;
  }

  int64_t size() const override { return column_ / length_ * columns_; }
  Provides sample_fields(int) const override {
    return {{FloatField(names_[0], {length_})},
            {FloatField(names_[1], {length_})}};
  }
  std::vector<std::string> label_names() const override { return vocabulary_; }
  bool splits_itself() const override { return true; }
  bool parts_itself() const override { return true; }
  bool has_held_out() const override { return has_held_out_; }
  bool continues() const override { return true; }

  Status Read(const SampleRequest& request) const override {
    const int64_t begin = request.sample % columns_ * column_ +
                          request.sample / columns_ * length_;
    const auto at = static_cast<size_t>(begin);
    const auto length = static_cast<size_t>(length_);
    const std::span<const uint32_t> symbols(symbols_);
    Write(symbols.subspan(at, length), request.Floats(0, length));
    Write(symbols.subspan(at + 1, length), request.Floats(1, length));
    return {};
  }

 private:
  const std::vector<uint32_t> symbols_;
  const std::vector<std::string> vocabulary_;
  const int64_t columns_, length_;
  const bool has_held_out_;
  const std::string names_[2];
  int64_t column_ = 0;  // its length
};

class TextLines : public Source {
 public:
  TextLines(const SourceRequest& request, const TextOptions& options,
            const Coding& coding)
      : lengths_(options.buckets),
        vocabulary_(coding.names()),
        samples_(lengths_.size()),
        names_{request.common.data_name, request.common.label_name} {
    std::sort(lengths_.begin(), lengths_.end());
  }

  // Lines longer than the largest bucket are left out.
  void Add(const std::vector<uint32_t>& line) {
    const auto bucket = std::lower_bound(lengths_.begin(), lengths_.end(),
                                         static_cast<int64_t>(line.size()));
    if (bucket == lengths_.end()) {
      ++left_out_;
      return;
    }
    samples_[static_cast<size_t>(bucket - lengths_.begin())].push_back(size());
    buckets_.push_back(static_cast<int>(bucket - lengths_.begin()));
    symbols_.insert(symbols_.end(), line.begin(), line.end());
    ends_.push_back(symbols_.size());
  }

  int64_t size() const override { return static_cast<int64_t>(ends_.size()); }
  int buckets() const override { return static_cast<int>(lengths_.size()); }
  int64_t bucket_key(int bucket) const override {
    return lengths_[static_cast<size_t>(bucket)];
  }
  std::span<const int64_t> bucket_samples(int bucket) const override {
    return samples_[static_cast<size_t>(bucket)];
  }
  Provides sample_fields(int bucket) const override {
    const int64_t length = bucket_key(bucket);
    return {{FloatField(names_[0], {length})},
            {FloatField(names_[1], {length})}};
  }
  std::vector<std::string> label_names() const override { return vocabulary_; }
  std::string remark() const override {
    if (left_out_ == 0) return "";
    return std::to_string(left_out_) + " lines of more than " +
           std::to_string(lengths_.back()) + " symbols left out";
  }

  Status Read(const SampleRequest& request) const override {
    const auto sample = static_cast<size_t>(request.sample);
    const size_t begin = sample == 0 ? 0 : ends_[sample - 1];
    const auto line = std::span(symbols_).subspan(begin, ends_[sample] - begin);
    const auto length = static_cast<size_t>(bucket_key(buckets_[sample]));
    Write(line, request.Floats(0, length));
    Write(line.subspan(1), request.Floats(1, length));
    return {};
  }

 private:
  Extents lengths_;
  const std::vector<std::string> vocabulary_;
  std::vector<std::vector<int64_t>> samples_;  // of each bucket
  std::vector<int> buckets_;                   // of each sample
  std::vector<uint32_t> symbols_;              // of all samples
  std::vector<size_t> ends_;
  int64_t left_out_ = 0;
  const std::string names_[2];
};

// The share of the symbols that this iterator reads: what is held out stands at
// the end; the rest is cut into parts.
StatusOr<std::vector<uint32_t>> Choose(const SourceRequest& request,
                                       std::vector<uint32_t> symbols) {
  const auto size = static_cast<int64_t>(symbols.size());
  const auto kept = static_cast<int64_t>(static_cast<double>(size) *
                                         (1 - request.common.held_out));
  int64_t begin = request.held_out ? kept : 0;
  int64_t end = request.held_out ? size : kept;
  const __int128 count = end - begin;
  const int64_t parts = request.common.parts();
  const int64_t part = request.common.part_index;
  end = begin + static_cast<int64_t>(count * (part + 1) / parts);
  begin += static_cast<int64_t>(count * part / parts);
  return std::vector<uint32_t>(symbols.begin() + begin, symbols.begin() + end);
}

StatusOr<std::unique_ptr<Source>> OpenRunning(const SourceRequest& request,
                                              const TextOptions& options,
                                              std::string_view text) {
  MXC_RT_ASSIGN(const Coding coding, Coding::Of(request, options, text));
  auto symbols = coding.Encode(text);
  if (!symbols.ok()) return symbols.status();
  auto chosen = Choose(request, std::move(*symbols));
  if (!chosen.ok()) return chosen.status();
  const size_t count = chosen->size();
  auto source = std::make_unique<RunningText>(request, options, coding,
                                              std::move(*chosen));
  if (source->size() == 0 && (!request.held_out || source->has_held_out())) {
    return runtime::Fail(StatusCode::kInvalidArgument,
                         "%zu symbols do not fill %lld rows of length=%lld; a "
                         "smaller --batch-size or length= asks for fewer",
                         count,
                         static_cast<long long>(request.common.whole_batch()),
                         static_cast<long long>(options.length));
  }
  return std::unique_ptr<Source>(std::move(source));
}

StatusOr<std::unique_ptr<Source>> OpenLines(const SourceRequest& request,
                                            const TextOptions& options,
                                            std::string_view text) {
  MXC_RT_ASSIGN(const Coding coding, Coding::Of(request, options, text));
  auto source = std::make_unique<TextLines>(request, options, coding);
  while (!text.empty()) {
    const size_t size = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, size);
    text.remove_prefix(std::min(size + 1, text.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    const auto symbols = coding.Encode(line);
    if (!symbols.ok()) return symbols.status();
    if (!symbols->empty()) source->Add(*symbols);
  }
  return std::unique_ptr<Source>(std::move(source));
}

StatusOr<std::unique_ptr<Source>> OpenText(const SourceRequest& request) {
  TextOptions options;
  MXC_RT_RETURN_IF_ERROR(request.ReadOptions("text", &options));
  const auto file = ReadFile(request.path, kMostTextBytes);
  if (!file.ok()) return file.status();
  const std::string_view text(reinterpret_cast<const char*>(file->bytes.data()),
                              file->bytes.size());
  auto source = options.buckets.empty() ? OpenRunning(request, options, text)
                                        : OpenLines(request, options, text);
  MXC_RT_RETURN_IF_ERROR(CheckFiles());
  return source;
}

}  // namespace

extern const SourceKind kText;
const SourceKind kText = {
    "text",
    "text:FILE",
    "running text, or lines by length, for language models",
    true,
    DescribeOptions<TextOptions>,
    OpenText};

}  // namespace mxc::data
