// SPDX-License-Identifier: Apache-2.0
#include "tools/run/sample/language_model.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>
#include <utility>

#include "runtime/artifact/manifest.h"
#include "runtime/formats/convert.h"
#include "tools/run/failure.h"

namespace mxc::run {
namespace {

// As frontend/generate.h has them.
constexpr const char* kDecode = "decode";
constexpr const char* kPrefill = "prefill";
constexpr const char* kPosition = "position";
constexpr const char* kStream = "stream";

// "'data' float32 (1, 3, 224, 224)" is no text.
std::string NoSymbol(std::span<const NetworkInput> inputs) {
  std::string text = "a language model that writes text takes one symbol, ";
  text += "float32 (1, 1); this network takes ";
  for (const NetworkInput& input : inputs) {
    if (!input.read || input.use == MXC_USE_CARRY) continue;
    text += "'" + std::string(input.name) + "' " + Describe(input) + ", ";
  }
  return text +
         "and a language model is compiled for it with --input-shape "
         "data:1x1, or with --streams";
}

// An input that takes symbols.
struct SymbolInput {
  std::string name;
  mxc_dtype dtype = MXC_F32;
  size_t count = 0;

  void Set(api::Executor& executor, std::span<const uint32_t> symbols) const {
    switch (dtype) {
      case MXC_I32:
        return SetAs<int32_t>(executor, symbols);
      case MXC_I64:
        return SetAs<int64_t>(executor, symbols);
      default:
        return SetAs<float>(executor, symbols);
    }
  }

 private:
  template <class T>
  void SetAs(api::Executor& executor, std::span<const uint32_t> symbols) const {
    std::vector<T> values(count);
    std::ranges::transform(symbols, values.begin(),
                           [](uint32_t s) { return static_cast<T>(s); });
    executor.SetInput(name.c_str(), std::span(values));
  }
};

bool TakesSymbols(const NetworkInput& input) {
  const bool number = input.dtype == MXC_F32 || input.dtype == MXC_I32 ||
                      input.dtype == MXC_I64;
  return number && input.read && input.use != MXC_USE_CARRY &&
         std::string(input.name) != kPosition &&
         std::string(input.name) != kStream;
}

// The only one, of so many symbols; any number if that is 0.
std::optional<SymbolInput> FindSymbolInput(std::span<const NetworkInput> inputs,
                                           size_t count) {
  std::optional<SymbolInput> found;
  for (const NetworkInput& input : inputs) {
    if (!TakesSymbols(input)) continue;
    const size_t symbols = input.bytes / mxc_dtype_size(input.dtype);
    if (found || (count > 0 && symbols != count)) return std::nullopt;
    found = {input.name, input.dtype, symbols};
  }
  return found;
}

std::vector<float> FirstOutput(const api::Executor& executor,
                               const Session& session) {
  const size_t entry = executor.entry();
  std::vector<float> said =
      OutputAsFloats(executor, session.model.outputs(entry)[0], 0);
  const auto is_nan = [](float value) { return std::isnan(value); };
  if (std::ranges::any_of(said, is_nan)) {
    throw Failure(
        "what the network says is no number; its parameters are "
        "not, or its symbols are others");
  }
  return said;
}

// One symbol in, what comes next out.
class RecurrentModel : public LanguageModel {
 public:
  explicit RecurrentModel(const Session& session)
      : session_(session), executor_(session.Bind(/*profile=*/false)) {
    const auto inputs = session.Inputs();
    for (const auto& [output, input] : session.model.carries(session.entry)) {
      carries_.push_back({inputs[input].name, output, inputs[input].bytes});
    }
    const auto symbol = FindSymbolInput(inputs, 1);
    if (!symbol) throw Failure(NoSymbol(inputs));
    symbol_ = *symbol;
  }

  size_t streams() const override { return 1; }
  size_t bound() const override { return 0; }

  void Begin(size_t, std::span<const uint32_t> symbols) override {
    for (const Carry& carry : carries_) {
      const std::vector<std::byte> zeros(carry.bytes);
      executor_.SetInput(carry.input.c_str(), std::span(zeros));
    }
    for (const uint32_t symbol : symbols) Run(symbol);
  }

  void Add(std::span<const std::optional<uint32_t>> symbols) override {
    if (!symbols[0]) return;
    Run(*symbols[0]);
    said_ = FirstOutput(executor_, session_);
  }

  std::span<const float> Said(size_t) const override { return said_; }

 private:
  struct Carry {
    std::string input;
    size_t output;
    size_t bytes;
  };

  void Run(uint32_t symbol) {
    symbol_.Set(executor_, {&symbol, 1});
    executor_.Run();
    for (const Carry& carry : carries_) {
      executor_.SetInput(carry.input.c_str(),
                         executor_.Output(carry.output).span());
    }
  }

  const Session& session_;
  api::Executor executor_;
  std::vector<Carry> carries_;
  SymbolInput symbol_;
  std::vector<float> said_;
};

// Keeps what later symbols see of those before.
class KeepingModel : public LanguageModel {
 public:
  explicit KeepingModel(const Session& session)
      : session_(session),
        decode_(session.BindTo(session.model.FindEntry(kDecode, 0), false)),
        prefill_(Sharing(session, decode_)),
        data_(DataOf(decode_)),
        prefill_data_(DataOf(prefill_)) {
    const auto kept =
        runtime::ManifestValues(session.model.manifest(), "rows_kept");
    if (kept.size() == 1) {
      const std::string& text = kept[0];
      std::from_chars(text.data(), text.data() + text.size(), bound_);
    }
    if (bound_ == 0) {
      throw Failure("the artifact does not say how many rows it keeps");
    }
    lengths_.resize(data_.count);
  }

  size_t streams() const override { return lengths_.size(); }
  size_t bound() const override { return bound_; }

  void Begin(size_t stream, std::span<const uint32_t> symbols) override {
    const auto number = static_cast<int32_t>(stream);
    prefill_.SetInput(kStream, std::span(&number, 1));
    for (size_t first = 0; first < symbols.size();
         first += prefill_data_.count) {
      const auto place = static_cast<int32_t>(first);
      prefill_.SetInput(kPosition, std::span(&place, 1));
      prefill_data_.Set(
          prefill_, symbols.subspan(first, std::min(prefill_data_.count,
                                                    symbols.size() - first)));
      prefill_.Run();
    }
    lengths_[stream] = symbols.size();
  }

  void Add(std::span<const std::optional<uint32_t>> symbols) override {
    std::vector<uint32_t> numbers(streams());
    std::vector<int32_t> places(streams(), -1);
    for (size_t s = 0; s < streams(); ++s) {
      if (!symbols[s]) continue;
      numbers[s] = *symbols[s];
      places[s] = static_cast<int32_t>(lengths_[s]++);
    }
    data_.Set(decode_, numbers);
    decode_.SetInput(kPosition, std::span(places));
    decode_.Run();
    said_ = FirstOutput(decode_, session_);
  }

  std::span<const float> Said(size_t stream) const override {
    const size_t symbols = said_.size() / streams();
    return std::span(said_).subspan(stream * symbols, symbols);
  }

 private:
  static api::Executor Sharing(const Session& session,
                               const api::Executor& other) {
    return session.BindTo(session.model.FindEntry(kPrefill, 0), false, &other);
  }

  SymbolInput DataOf(const api::Executor& executor) const {
    const auto inputs = InputsOf(session_.model, executor.entry());
    const auto data = FindSymbolInput(inputs, 0);
    if (!data) throw Failure(NoSymbol(inputs));
    return *data;
  }

  const Session& session_;
  api::Executor decode_, prefill_;
  const SymbolInput data_, prefill_data_;
  size_t bound_ = 0;
  std::vector<size_t> lengths_;  // of the texts so far, by stream
  std::vector<float> said_;      // by stream
};

bool HasEntry(const api::Model& model, std::string_view name) {
  for (size_t e = 0; e < model.entry_count(); ++e) {
    if (model.entry(e).name == name) return true;
  }
  return false;
}

}  // namespace

std::unique_ptr<LanguageModel> OpenLanguageModel(const Session& session) {
  if (HasEntry(session.model, kDecode) && HasEntry(session.model, kPrefill)) {
    return std::make_unique<KeepingModel>(session);
  }
  return std::make_unique<RecurrentModel>(session);
}

}  // namespace mxc::run
