// SPDX-License-Identifier: Apache-2.0
// The one vector of a fused recurrent layer's parameters, filled piece by
// piece: for each layer and direction the weights of the input (i2h) and of the
// state (h2h), gate by gate; then all biases in the same order. Pieces are
// named as MXNet's FusedRNNCell names them and filled by these names, the
// biases of forget gates with forget_bias.
#include <algorithm>

#include "runtime/train/initializers/declarations.h"

namespace mxc::train {
namespace {

// Larger ones are no network.
constexpr int64_t kMostHidden = int64_t{1} << 24, kMostLayers = 4096;

struct Mode {
  std::string_view name;
  std::vector<std::string_view> gates;
};

const std::vector<Mode> kModes = {{"lstm", {"_i", "_f", "_c", "_o"}},
                                  {"gru", {"_r", "_z", "_o"}},
                                  {"rnn_relu", {""}},
                                  {"rnn_tanh", {""}}};

class FusedRnn : public Initializer {
 public:
  explicit FusedRnn(ArgumentReader& arguments) {
    arguments.Read("num_hidden", hidden_);
    arguments.Read("num_layers", layers_);
    arguments.Read("mode", {"lstm", "gru", "rnn_relu", "rnn_tanh"}, mode_);
    arguments.Read("bidirectional", bidirectional_);
    arguments.Read("forget_bias", forget_bias_);
    std::string init;
    if (arguments.Read("init", init)) {
      StatusOr<InitializerRef> parsed = ParseInitializer(init);
      if (parsed.ok()) {
        init_ = *parsed;
      } else {
        arguments.Refuse(parsed.status().message());
      }
    }
    if (hidden_ < 1 || layers_ < 1 || mode_ < 0 || hidden_ > kMostHidden ||
        layers_ > kMostLayers) {
      arguments.Refuse(
          "initializer 'fusedrnn' needs num_hidden, num_layers and mode");
    }
  }

  Status Fill(const Target& target) const override {
    const int64_t inputs = InputSize(target);
    if (inputs < 1) {
      return Fail(StatusCode::kInvalidArgument,
                  "'%s' has %zu elements, which is no fused %s of %lld layers "
                  "and %lld hidden units",
                  target.name.c_str(), target.values.size(),
                  std::string(kModes[mode_].name).c_str(),
                  static_cast<long long>(layers_),
                  static_cast<long long>(hidden_));
    }
    std::span<float> rest = target.values;
    for (int64_t layer = 0; layer < layers_; ++layer) {
      const int64_t width = layer == 0 ? inputs : Directions() * hidden_;
      MXC_RT_RETURN_IF_ERROR(
          FillLayer(target, layer, "_weight", width, hidden_, rest));
    }
    for (int64_t layer = 0; layer < layers_; ++layer) {
      MXC_RT_RETURN_IF_ERROR(FillLayer(target, layer, "_bias", 0, 0, rest));
    }
    return {};
  }

 private:
  int64_t Directions() const { return bidirectional_ ? 2 : 1; }

  // The width of the first layer's input; 0 if the vector fits none.
  int64_t InputSize(const Target& target) const {
    const auto rows = static_cast<int64_t>(kModes[mode_].gates.size()) *
                      hidden_ * Directions();
    const auto size = static_cast<int64_t>(target.values.size());
    const int64_t inner = Directions() * hidden_ + hidden_ + 2;
    const int64_t inputs = size / rows - (layers_ - 1) * inner - hidden_ - 2;
    return size % rows == 0 ? std::max<int64_t>(inputs, 0) : 0;
  }

  // Both directions' i2h pieces of `from_input` columns and h2h pieces of
  // `from_state` columns; 0 columns: vectors.
  Status FillLayer(const Target& target, int64_t layer, const char* suffix,
                   int64_t from_input, int64_t from_state,
                   std::span<float>& rest) const {
    for (int64_t direction = 0; direction < Directions(); ++direction) {
      for (const bool input : {true, false}) {
        for (const std::string_view gate : kModes[mode_].gates) {
          Target piece = target;
          piece.name =
              Format("%s/%c%lld_%s%s%s", target.name.c_str(),
                     direction == 0 ? 'l' : 'r', static_cast<long long>(layer),
                     input ? "i2h" : "h2h", std::string(gate).c_str(), suffix);
          piece.shape = {hidden_};
          const int64_t columns = input ? from_input : from_state;
          if (columns > 0) piece.shape.push_back(columns);
          const auto size =
              static_cast<size_t>(hidden_ * std::max<int64_t>(columns, 1));
          piece.values = rest.first(size);
          rest = rest.subspan(size);
          MXC_RT_RETURN_IF_ERROR(FillPiece(piece));
        }
      }
    }
    return {};
  }

  Status FillPiece(const Target& piece) const {
    if (kModes[mode_].name == "lstm" && piece.name.ends_with("_f_bias")) {
      std::ranges::fill(piece.values, static_cast<float>(forget_bias_));
      return {};
    }
    const Initializer* weights = init_ ? init_.get() : piece.weights;
    if (weights == nullptr) {
      return Fail(StatusCode::kInvalidArgument,
                  "fusedrnn of '%s' needs an initializer for its pieces: init",
                  piece.name.c_str());
    }
    return FillByName(*weights, piece, NameRules::kModule);
  }

  int64_t hidden_ = 0, layers_ = 0;
  int mode_ = -1;
  bool bidirectional_ = false;
  double forget_bias_ = 1;
  InitializerRef init_;  // null: the weights' initializer
};

}  // namespace

InitializerRef MakeInitializer_fusedrnn(ArgumentReader& arguments) {
  return std::make_shared<FusedRnn>(arguments);
}

}  // namespace mxc::train
