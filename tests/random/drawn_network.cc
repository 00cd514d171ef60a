// SPDX-License-Identifier: Apache-2.0
#include "tests/random/drawn_network.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <random>

#include "tests/random/symbol_text.h"

namespace mxc::random {
namespace {

// What keeps the interpreter below a second, at size 1.
constexpr int64_t kMostElements = 1 << 17;     // of a tensor
constexpr int64_t kMostProducts = 12'000'000;  // of a layer
constexpr int64_t kAllProducts = 40'000'000;   // of a network

constexpr int64_t kChannels[] = {1,  3,  8,  16, 17, 24, 32, 33,
                                 48, 64, 16, 32, 64, 96, 5,  128};
constexpr int64_t kSides[] = {1, 2, 4, 5, 7, 8, 9, 12, 13, 14, 16, 19, 28, 31};

int64_t Elements(const Extents& shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t{1},
                         std::multiplies<>());
}

std::string Text(const Extents& list) {
  return list.size() == 1 ? fmt::format("({},)", list[0])
                          : fmt::format("({})", fmt::join(list, ", "));
}

struct Value {
  Port port;
  Extents shape;
  int reads = 0;

  int64_t rank() const { return static_cast<int64_t>(shape.size()); }
};

// A window that slides over the spatial axes.
struct Window {
  Extents kernel, stride, dilate, pad;
};

class Drawer {
 public:
  Drawer(std::function<uint32_t()> chance, const DrawOptions& options)
      : random_(std::move(chance)), options_(options) {}

  DrawnNetwork Draw() {
    Start();
    const int layers = 2 + Pick(options_.trains ? 7 : 12);
    const int wanted =
        options_.layers > 0 ? std::min(options_.layers, layers) : layers;
    for (int i = 0; i < wanted; ++i) Layer();
    DrawnNetwork network;
    network.text = symbol_.Text(options_.trains ? Losses() : Outputs());
    network.inputs = inputs_;
    network.trains = options_.trains;
    network.layers = wanted;
    return network;
  }

 private:
  // --- chance

  int Pick(int n) {
    return static_cast<int>(random_() % static_cast<unsigned>(n));
  }
  bool Chance(int percent) { return Pick(100) < percent; }
  int64_t Between(int64_t low, int64_t high) {
    return low + Pick(static_cast<int>(high - low + 1));
  }
  template <class List>
  auto Of(const List& list) {
    return list[Pick(static_cast<int>(std::size(list)))];
  }
  std::string Flag(int percent) { return Chance(percent) ? "True" : "False"; }

  // --- nodes

  void Next() { name_ = fmt::format("l{}", count_++); }
  Value& Keep(Port port, Extents shape) {
    values_.push_back({port, std::move(shape)});
    return values_.back();
  }
  Port Input(const std::string& name, const Extents& shape,
             int64_t classes = 0) {
    inputs_.push_back({name, shape, classes});
    return symbol_.Variable(name);
  }
  Port Parameter(const std::string& suffix) {
    return symbol_.Variable(name_ + "_" + suffix);
  }
  // A node on values; false if its output is too large.
  bool Add(const std::string& op, const std::vector<Value*>& operands,
           const std::vector<AttrText>& attrs, Extents shape,
           const std::vector<Port>& parameters = {}) {
    std::vector<Port> ports;
    for (Value* operand : operands) {
      ++operand->reads;
      ports.push_back(operand->port);
    }
    ports.insert(ports.end(), parameters.begin(), parameters.end());
    Keep(symbol_.Node(op, name_, attrs, ports), std::move(shape));
    return true;
  }
  bool Small(const Extents& shape) const {
    return static_cast<double>(Elements(shape)) <=
           options_.size * kMostElements;
  }

  // --- the beginning and the end

  void Start() {
    const int64_t batch = Of(std::vector<int64_t>{1, 1, 1, 2, 3, 5, 8});
    const int kind = Pick(20);
    if (kind < 15) {
      const int64_t factor = options_.size > 1 ? Between(1, 4) : 1;
      Extents shape = {batch, Of(kChannels), factor * Of(kSides),
                       factor * Of(kSides)};
      if (Chance(50)) shape[3] = shape[2];
      while (!Small(shape)) shape[1] = (shape[1] + 1) / 2;
      Keep(Input("data", shape), shape);
    } else if (kind == 15) {
      const Extents shape = {batch, Of(kChannels), Between(1, 40)};
      Keep(Input("data", shape), shape);
    } else if (kind == 16) {
      const Extents shape = {batch, Between(1, 9), Between(1, 6), Between(1, 7),
                             Between(1, 8)};
      Keep(Input("data", shape), shape);
    } else if (kind == 17) {
      const Extents shape = {Between(1, 7), batch, Between(1, 40)};
      Keep(Input("data", shape), shape);
    } else if (kind == 18) {
      name_ = "embedding";
      const Extents shape = {Between(1, 7), batch};
      const int64_t rows = Between(2, 30), width = Between(1, 40);
      Value words{Input("data", shape, rows), shape};
      Add("Embedding", {&words},
          {{"input_dim", std::to_string(rows)},
           {"output_dim", std::to_string(width)}},
          {shape[0], shape[1], width}, {Parameter("weight")});
    } else {
      const Extents shape = {batch, Between(1, 300)};
      Keep(Input("data", shape), shape);
    }
  }

  std::vector<Port> Outputs() {
    std::vector<Port> outputs;
    for (const Value& value : values_) {
      if (value.reads == 0 || Chance(12)) outputs.push_back(value.port);
    }
    return outputs;
  }

  // Each end gets a loss.
  std::vector<Port> Losses() {
    std::vector<Port> losses;
    const std::vector<Value> values = values_;
    for (Value end : values) {
      if (end.reads > 0) continue;
      name_ = fmt::format("loss{}", losses.size());
      losses.push_back(Loss(end));
    }
    return losses;
  }
  Port Loss(Value end) {
    const Port label = [&] {
      if (Chance(40)) return Input(name_ + "_label", end.shape);
      const int64_t rows = end.shape[0], classes = Between(2, 20);
      end.port = symbol_.Node("FullyConnected", name_ + "_fc",
                              {{"num_hidden", std::to_string(classes)}},
                              {end.port, symbol_.Variable(name_ + "_fc_weight"),
                               symbol_.Variable(name_ + "_fc_bias")});
      end.shape = {rows, classes};
      return Input(name_ + "_label", {rows}, classes);
    }();
    if (inputs_.back().classes > 0) {
      return symbol_.Node("SoftmaxOutput", name_, {}, {end.port, label});
    }
    if (Chance(50)) {
      return symbol_.Node("LinearRegressionOutput", name_, {},
                          {end.port, label});
    }
    // Where a sigmoid is 1 its logarithm is what rounding left.
    end.port = symbol_.Node("tanh", name_ + "_tanh", {}, {end.port});
    return symbol_.Node("LogisticRegressionOutput", name_, {},
                        {end.port, label});
  }

  // --- choice of operands

  Value* Choose() {
    const int recent = std::min<int>(static_cast<int>(values_.size()), 4);
    return &values_[values_.size() - 1 - static_cast<size_t>(Pick(recent))];
  }
  // Another value whose shape differs from x's along `axis` alone, or nowhere.
  Value* Match(const Value& x, int64_t axis) {
    for (size_t i = values_.size(); i-- > 0;) {
      Value& y = values_[i];
      if (y.rank() != x.rank() || &y == &x) continue;
      bool fits = true;
      for (int64_t a = 0; a < x.rank(); ++a) {
        fits &= a == axis || x.shape[a] == y.shape[a];
      }
      if (fits) return &y;
    }
    return nullptr;
  }

  // --- layers

  void Layer() {
    Next();
    values_.reserve(values_.size() + 16);  // pointers to operands stay
    for (int attempt = 0; attempt < 20; ++attempt) {
      Value& x = *Choose();
      if (x.rank() >= 3 ? Chance(45) : Chance(20)) {
        if (x.rank() >= 3 ? Convolution(x) : FullyConnected(x)) return;
      } else if (Other(x)) {
        return;
      }
    }
    Value& x = *Choose();
    Add("tanh", {&x}, {}, x.shape);
  }

  bool Other(Value& x) {
    switch (Pick(24)) {
      case 0:
      case 1:
      case 2:
        return Pooling(x);
      case 3:
        return BatchNorm(x);
      case 4:
        return Activation(x);
      case 5:
        return LeakyReLU(x);
      case 6:
      case 7:
        return Concat(x);
      case 8:
        return Slice(x);
      case 9:
        return SliceChannel(x);
      case 10:
      case 11:
        return Elementwise(x);
      case 12:
        return Reduced(x);
      case 13:
        return Transpose(x);
      case 14:
        return Reshape(x);
      case 15:
        return Softmax(x);
      case 16:
        return Deconvolution(x);
      case 17:
        return UpSampling(x);
      case 18:
        return Normalization(x);
      case 19:
        return Pad(x);
      case 20:
        return Scalar(x);
      case 21:
        return Recurrent(x);
      case 22:
        return Resize(x);
      default:
        return FullyConnected(x);
    }
  }

  Window DrawWindow(const Extents& shape, int64_t largest) {
    Window window;
    const size_t axes = shape.size() - 2;
    const bool square = Chance(70);
    for (size_t a = 0; a < axes; ++a) {
      const bool repeat = a > 0 && square;
      const int64_t kernel = repeat ? window.kernel[0] : Between(1, largest);
      window.kernel.push_back(kernel);
      window.stride.push_back(repeat       ? window.stride[0]
                              : Chance(60) ? 1
                                           : Between(1, 3));
      window.dilate.push_back(repeat       ? window.dilate[0]
                              : Chance(80) ? 1
                                           : Between(1, 3));
      window.pad.push_back(repeat       ? window.pad[0]
                           : Chance(60) ? kernel / 2
                                        : Between(0, kernel - 1));
    }
    return window;
  }
  void Common(const Extents& shape, Window& window) {
    const size_t axes = shape.size() - 2;
    const int64_t kernel = Chance(60) ? 3 : Of(std::vector<int64_t>{1, 1, 5});
    window.kernel.assign(axes, kernel);
    window.stride.assign(axes, Chance(75) ? 1 : 2);
    window.dilate.assign(axes, 1);
    window.pad.assign(axes, Chance(80) ? kernel / 2 : 0);
  }

  bool Convolution(Value& x) {
    Window window = DrawWindow(x.shape, 5);
    if (Chance(70)) Common(x.shape, window);
    const int64_t channels = x.shape[1];
    int64_t groups = 1, filters = Of(kChannels);
    if (options_.size > 1 && Chance(40)) filters *= Between(1, 4);
    if (Chance(20)) {
      groups = channels, filters = channels * (Chance(80) ? 1 : 2);
    } else if (Chance(15)) {
      groups = Of(std::vector<int64_t>{2, 3, 4, 8});
      if (channels % groups != 0) return false;
      filters = groups * Between(1, 16);
    }
    Extents out = {x.shape[0], filters};
    int64_t products = channels / groups;
    for (size_t a = 0; a < window.kernel.size(); ++a) {
      const int64_t room = x.shape[a + 2] + 2 * window.pad[a] -
                           (window.kernel[a] - 1) * window.dilate[a] - 1;
      if (room < 0) return false;
      out.push_back(room / window.stride[a] + 1);
      products *= window.kernel[a];
    }
    if (!Small(out) || !Affordable(products * Elements(out))) return false;
    std::vector<AttrText> attrs = {{"kernel", Text(window.kernel)},
                                   {"num_filter", std::to_string(filters)},
                                   {"num_group", std::to_string(groups)},
                                   {"stride", Text(window.stride)},
                                   {"dilate", Text(window.dilate)},
                                   {"pad", Text(window.pad)}};
    return Weighted("Convolution", x, attrs, out);
  }

  bool Affordable(int64_t products) {
    if (products > options_.size * kMostProducts ||
        products_ + products > options_.size * kAllProducts) {
      return false;
    }
    products_ += products;
    return true;
  }

  // With a weight and by chance a bias; then perhaps what a network has next.
  bool Weighted(const std::string& op, Value& x, std::vector<AttrText> attrs,
                const Extents& out) {
    const bool bias = Chance(60);
    attrs.emplace_back("no_bias", bias ? "False" : "True");
    std::vector<Port> parameters = {Parameter("weight")};
    if (bias) parameters.push_back(Parameter("bias"));
    Add(op, {&x}, attrs, out, parameters);
    if (Chance(30)) Next(), BatchNorm(values_.back());
    if (Chance(40)) Next(), Activation(values_.back());
    if (Chance(20)) Next(), Pooling(values_.back());
    return true;
  }

  bool Deconvolution(Value& x) {
    if (x.rank() < 3) return false;
    const Window window = DrawWindow(x.shape, 4);
    const int64_t groups = x.shape[1] % 2 == 0 && Chance(30) ? 2 : 1;
    const int64_t filters = groups * Between(1, 24);
    Extents out = {x.shape[0], filters}, adj;
    int64_t products = filters / groups;
    for (size_t a = 0; a < window.kernel.size(); ++a) {
      adj.push_back(Chance(70) ? 0 : Between(0, window.stride[a] - 1));
      const int64_t extent = (x.shape[a + 2] - 1) * window.stride[a] +
                             (window.kernel[a] - 1) * window.dilate[a] + 1 -
                             2 * window.pad[a] + adj[a];
      if (extent <= 0) return false;
      out.push_back(extent);
      products *= window.kernel[a];
    }
    if (!Small(out) || !Affordable(products * Elements(x.shape))) return false;
    return Weighted("Deconvolution", x,
                    {{"kernel", Text(window.kernel)},
                     {"num_filter", std::to_string(filters)},
                     {"num_group", std::to_string(groups)},
                     {"stride", Text(window.stride)},
                     {"dilate", Text(window.dilate)},
                     {"pad", Text(window.pad)},
                     {"adj", Text(adj)}},
                    out);
  }

  bool Pooling(Value& x) {
    if (x.rank() < 3) return false;
    const std::string type =
        Of(std::vector<std::string>{"max", "max", "avg", "avg", "sum"});
    if (Chance(10)) {
      Extents out = x.shape;
      std::fill(out.begin() + 2, out.end(), 1);
      return Add("Pooling", {&x},
                 {{"pool_type", type},
                  {"global_pool", "True"},
                  {"kernel", Text(Extents(x.shape.size() - 2, 1))}},
                 out);
    }
    Window window = DrawWindow(x.shape, 4);
    if (Chance(50)) {
      window.kernel.assign(window.kernel.size(), Between(2, 3));
      window.stride.assign(window.kernel.size(), Between(1, 2));
      window.pad.assign(window.kernel.size(), Chance(60) ? 0 : 1);
    }
    const bool full = Chance(40);
    Extents out = {x.shape[0], x.shape[1]};
    for (size_t a = 0; a < window.kernel.size(); ++a) {
      const int64_t room =
          x.shape[a + 2] + 2 * window.pad[a] - window.kernel[a];
      if (room < 0) return false;
      const int64_t stride = window.stride[a];
      const int64_t steps = full ? (room + stride - 1) / stride : room / stride;
      // A window that lies in the border alone has no maximum.
      if (steps * stride >= x.shape[a + 2] + window.pad[a]) return false;
      out.push_back(steps + 1);
    }
    std::vector<AttrText> attrs = {
        {"pool_type", type},
        {"kernel", Text(window.kernel)},
        {"stride", Text(window.stride)},
        {"pad", Text(window.pad)},
        {"pooling_convention", full ? "full" : "valid"}};
    if (Chance(50)) attrs.emplace_back("count_include_pad", Flag(50));
    return Small(out) && Add("Pooling", {&x}, attrs, out);
  }

  bool BatchNorm(Value& x) {
    if (x.rank() < 2) return false;
    const bool last = Chance(10);
    return Add("BatchNorm", {&x},
               {{"fix_gamma", Flag(30)},
                {"eps", "0.001"},
                {"use_global_stats", Flag(15)},
                {"axis", last ? "-1" : "1"}},
               x.shape,
               {Parameter("gamma"), Parameter("beta"), Parameter("moving_mean"),
                Parameter("moving_var")});
  }

  bool Activation(Value& x) {
    return Add("Activation", {&x},
               {{"act_type",
                 Of(std::vector<std::string>{"relu", "relu", "relu", "sigmoid",
                                             "tanh", "softrelu", "softsign"})}},
               x.shape);
  }

  bool LeakyReLU(Value& x) {
    const std::string type = Of(std::vector<std::string>{
        "leaky", "elu", "prelu", "gelu", "gelu_tanh", "selu"});
    std::vector<Port> parameters;
    if (type == "prelu") {
      if (x.rank() < 2) return false;
      parameters.push_back(Parameter("gamma"));
    }
    return Add("LeakyReLU", {&x}, {{"act_type", type}, {"slope", "0.1"}},
               x.shape, parameters);
  }

  bool Concat(Value& x) {
    const int64_t axis = x.rank() > 1 && Chance(80) ? 1 : Pick(x.rank());
    std::vector<Value*> operands = {&x};
    Extents out = x.shape;
    const int more = 1 + Pick(3);
    for (int i = 0; i < more; ++i) {
      Value* y = Chance(15) ? &x : Match(*operands.back(), axis);
      if (y == nullptr) return false;
      operands.push_back(y);
      out[axis] += y->shape[axis];
    }
    if (!Small(out)) return false;
    return Add("Concat", operands,
               {{"num_args", std::to_string(operands.size())},
                {"dim", std::to_string(axis)}},
               out);
  }

  bool Slice(Value& x) {
    const int64_t axis = x.rank() > 1 && Chance(60) ? 1 : Pick(x.rank());
    const int64_t extent = x.shape[axis];
    if (extent < 2) return false;
    int64_t begin = Between(0, extent - 1), end = Between(begin + 1, extent);
    if (extent >= 16 && Chance(60)) {
      begin = begin / 8 * 8;
      end = std::max(begin + 8, end / 8 * 8);
    }
    end = std::min(end, extent);
    Extents out = x.shape;
    out[axis] = end - begin;
    return Add("slice_axis", {&x},
               {{"axis", std::to_string(axis)},
                {"begin", std::to_string(begin)},
                {"end", std::to_string(end)}},
               out);
  }

  bool SliceChannel(Value& x) {
    const int64_t axis = x.rank() > 1 && Chance(60) ? 1 : Pick(x.rank());
    const int64_t parts = Between(2, 4);
    if (x.shape[axis] % parts != 0) return false;
    Extents out = x.shape;
    out[axis] /= parts;
    Add("SliceChannel", {&x},
        {{"num_outputs", std::to_string(parts)},
         {"axis", std::to_string(axis)}},
        out);
    const Port first = values_.back().port;
    for (int i = 1; i < parts; ++i) Keep({first.node, i}, out);
    return true;
  }

  bool Elementwise(Value& x) {
    Value* y = Match(x, -1);
    if (y == nullptr) return Scalar(x);
    return Add(Of(std::vector<std::string>{"elemwise_add", "elemwise_add",
                                           "elemwise_add", "elemwise_sub",
                                           "elemwise_mul", "_maximum"}),
               {&x, y}, {}, x.shape);
  }

  bool Scalar(Value& x) {
    const std::string op = Of(std::vector<std::string>{
        "_mul_scalar", "_plus_scalar", "_rminus_scalar", "_maximum_scalar",
        "clip", "Dropout", "square", "abs"});
    std::vector<AttrText> attrs;
    if (op.ends_with("_scalar")) attrs = {{"scalar", "0.75"}};
    if (op == "clip") attrs = {{"a_min", "-0.5"}, {"a_max", "0.8"}};
    if (op == "Dropout") attrs = {{"p", "0.3"}};
    return Add(op, {&x}, attrs, x.shape);
  }

  // A mean or so of x, and x again with it.
  bool Reduced(Value& x) {
    Extents axes, out = x.shape;
    for (int64_t a = 0; a < x.rank(); ++a) {
      if (Chance(40)) axes.push_back(a), out[a] = 1;
    }
    if (axes.empty()) return false;
    Add(Of(std::vector<std::string>{"mean", "sum", "max"}), {&x},
        {{"axis", Text(axes)}, {"keepdims", "True"}}, out);
    if (Chance(40)) return true;
    Next();
    return Add(Of(std::vector<std::string>{"broadcast_add", "broadcast_sub",
                                           "broadcast_mul"}),
               {&x, &values_.back()}, {}, x.shape);
  }

  bool Transpose(Value& x) {
    Extents axes(x.shape.size()), out;
    std::iota(axes.begin(), axes.end(), 0);
    if (x.rank() == 4 && Chance(50)) {
      axes = Chance(50) ? Extents{0, 2, 3, 1} : Extents{0, 3, 1, 2};
    } else {
      for (size_t i = axes.size(); i > 1; --i) {
        std::swap(axes[i - 1], axes[Pick(static_cast<int>(i))]);
      }
    }
    for (const int64_t axis : axes) out.push_back(x.shape[axis]);
    return Add("transpose", {&x}, {{"axes", Text(axes)}}, out);
  }

  bool Reshape(Value& x) {
    if (Chance(25)) {
      return Add("Flatten", {&x}, {},
                 {x.shape[0], Elements(x.shape) / x.shape[0]});
    }
    // Two neighbours become one, or one becomes two.
    const int axis = Pick(static_cast<int>(x.rank()));
    Extents out = x.shape;
    if (Chance(50) && axis + 1 < x.rank() && x.rank() > 2) {
      out[axis] *= out[axis + 1];
      out.erase(out.begin() + axis + 1);
    } else if (x.rank() < 5) {
      const int64_t part = Of(std::vector<int64_t>{1, 2, 3, 4, 8, 16});
      if (x.shape[axis] % part != 0) return false;
      out[axis] /= part;
      out.insert(out.begin() + axis + (Chance(50) ? 1 : 0), part);
    } else {
      return false;
    }
    return Add("Reshape", {&x}, {{"shape", Text(out)}}, out);
  }

  bool Softmax(Value& x) {
    if (Chance(25) && x.rank() >= 3) {
      return Add("SoftmaxActivation", {&x}, {{"mode", "channel"}}, x.shape);
    }
    return Add(Chance(80) ? "softmax" : "log_softmax", {&x},
               {{"axis", std::to_string(Pick(static_cast<int>(x.rank())))}},
               x.shape);
  }

  bool UpSampling(Value& x) {
    if (x.rank() != 4) return false;
    const int64_t scale = Between(2, 3);
    const Extents out = {x.shape[0], x.shape[1], x.shape[2] * scale,
                         x.shape[3] * scale};
    return Small(out) && Add("UpSampling", {&x},
                             {{"scale", std::to_string(scale)},
                              {"sample_type", "nearest"},
                              {"num_args", "1"}},
                             out);
  }

  bool Normalization(Value& x) {
    switch (Pick(5)) {
      case 0:
        if (x.rank() != 4) return false;
        return Add("LRN", {&x},
                   {{"nsize", std::to_string(1 + 2 * Pick(3))},
                    {"alpha", "0.01"},
                    {"beta", "0.75"}},
                   x.shape);
      case 1:
        if (x.rank() < 3) return false;
        return Add("L2Normalization", {&x},
                   {{"mode", Of(std::vector<std::string>{"instance", "channel",
                                                         "spatial"})}},
                   x.shape);
      case 2:
        if (x.rank() < 3) return false;
        return Add("InstanceNorm", {&x}, {{"eps", "0.01"}}, x.shape,
                   {Parameter("gamma"), Parameter("beta")});
      case 3:
        return Add("LayerNorm", {&x}, {{"eps", "0.01"}}, x.shape,
                   {Parameter("gamma"), Parameter("beta")});
      default:
        return BatchNorm(x);
    }
  }

  bool Pad(Value& x) {
    if (x.rank() != 4) return false;
    const std::string mode =
        Of(std::vector<std::string>{"constant", "edge", "reflect"});
    Extents widths = {0, 0, 0, 0}, out = x.shape;
    for (int axis = 2; axis < 4; ++axis) {
      for (int side = 0; side < 2; ++side) {
        const int64_t most =
            mode == "reflect" ? std::min<int64_t>(3, x.shape[axis] - 1) : 3;
        widths.push_back(Between(0, most));
        out[axis] += widths.back();
      }
    }
    return Small(out) && Add("Pad", {&x},
                             {{"mode", mode},
                              {"pad_width", Text(widths)},
                              {"constant_value", "0.5"}},
                             out);
  }

  bool Recurrent(Value& x) {
    if (x.rank() != 3 || x.shape[0] > 8) return false;
    const std::string mode = Of(std::vector<std::string>{
        "lstm", "lstm", "gru", "rnn_tanh", "rnn_relu"});
    const int64_t hidden = Between(1, 33), layers = Between(1, 2);
    const int64_t directions = Chance(30) ? 2 : 1;
    const Extents state = {layers * directions, x.shape[1], hidden};
    if (!Affordable(Elements(x.shape) * hidden * 8 * layers)) return false;
    std::vector<Port> parameters = {Parameter("parameters"),
                                    Input(name_ + "_state", state)};
    if (mode == "lstm") {
      parameters.push_back(Input(name_ + "_state_cell", state));
    }
    return Add("RNN", {&x},
               {{"state_size", std::to_string(hidden)},
                {"num_layers", std::to_string(layers)},
                {"bidirectional", directions == 2 ? "True" : "False"},
                {"mode", mode}},
               {x.shape[0], x.shape[1], hidden * directions}, parameters);
  }

  bool Resize(Value& x) {
    if (x.rank() != 4) return false;
    Extents out = {x.shape[0], x.shape[1], Between(1, 9), Between(1, 9)};
    switch (Pick(4)) {
      case 0:
        return Small(out) &&
               Add("_contrib_AdaptiveAvgPooling2D", {&x},
                   {{"output_size", Text({out[2], out[3]})}}, out);
      case 1:
        return Small(out) && Add("_contrib_BilinearResize2D", {&x},
                                 {{"height", std::to_string(out[2])},
                                  {"width", std::to_string(out[3])}},
                                 out);
      case 2:
        if (x.shape[2] % 2 != 0 || x.shape[3] % 2 != 0) return false;
        return Add(
            "space_to_depth", {&x}, {{"block_size", "2"}},
            {x.shape[0], x.shape[1] * 4, x.shape[2] / 2, x.shape[3] / 2});
      default:
        if (x.shape[1] % 4 != 0) return false;
        return Add(
            "depth_to_space", {&x}, {{"block_size", "2"}},
            {x.shape[0], x.shape[1] / 4, x.shape[2] * 2, x.shape[3] * 2});
    }
  }

  bool FullyConnected(Value& x) {
    const bool flatten = x.rank() == 2 || Chance(60);
    const int64_t hidden = Of(kChannels);
    Extents out = {x.shape[0], hidden};
    if (!flatten) {
      out = x.shape;
      out.back() = hidden;
    }
    const int64_t depth =
        flatten ? Elements(x.shape) / x.shape[0] : x.shape.back();
    if (!Small(out) || !Affordable(depth * Elements(out))) return false;
    return Weighted("FullyConnected", x,
                    {{"num_hidden", std::to_string(hidden)},
                     {"flatten", flatten ? "True" : "False"}},
                    out);
  }

  const std::function<uint32_t()> random_;
  const DrawOptions options_;
  SymbolText symbol_;
  std::vector<DrawnInput> inputs_;
  std::vector<Value> values_;
  std::string name_;
  int count_ = 0;
  int64_t products_ = 0;
};

}  // namespace

DrawnNetwork DrawNetwork(uint32_t seed, const DrawOptions& options) {
  return DrawNetwork(std::mt19937(seed), options);
}

DrawnNetwork DrawNetwork(std::function<uint32_t()> chance,
                         const DrawOptions& options) {
  return Drawer(std::move(chance), options).Draw();
}

}  // namespace mxc::random
