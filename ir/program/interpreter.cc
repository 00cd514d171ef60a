// SPDX-License-Identifier: Apache-2.0
#include "ir/program/interpreter.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <unordered_set>

#include "ir/program/evaluator.h"
#include "ir/program/in_place.h"

namespace mxc {
namespace {

using Values = LaneValues;

constexpr int kMaxLanes = 512;

std::vector<double> ToDoubles(const Tensor& tensor) {
  std::vector<double> values(tensor.shape().elements());
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = tensor.At(static_cast<int64_t>(i));
  }
  return values;
}

int64_t Product(const Extents& extents) {
  int64_t product = 1;
  for (const int64_t n : extents) product *= n;
  return product;
}

// Whether some reduction has one value for all indices of the axis: then it
// pays to go along that axis alone.
bool SharesAlong(const Expr& e, int axis,
                 std::unordered_set<const ExprNode*>& seen) {
  if (!seen.insert(e.get()).second) return false;
  if (e->kind == ExprKind::kReduce && !UsesVar(e, axis)) return true;
  return std::ranges::any_of(
      e->args, [&](const Expr& arg) { return SharesAlong(arg, axis, seen); });
}

// How many of the last axes the runs over a box go along: several where they
// are whole, so that the elements lie one behind the other.
size_t AxesOfRuns(const Expr& value, const Extents& extent,
                  const Extents& dims) {
  const size_t rank = dims.size();
  int last = static_cast<int>(rank) - 1;
  while (last > 0 && extent[last] == 1) --last;
  std::unordered_set<const ExprNode*> seen;
  size_t axes = std::min<size_t>(rank, 1);
  if (SharesAlong(value, last, seen)) return axes;
  while (axes > 0 && axes < rank && extent[rank - axes] == dims[rank - axes]) {
    ++axes;
  }
  return axes;
}

// Calls f(lanes, vars, offset) for runs of a box along its last `axes` axes;
// the offset of the first lane is row-major in `dims`.
template <class F>
void ForRuns(const Extents& begin, const Extents& extent, const Extents& dims,
             size_t axes, F f) {
  const size_t rank = dims.size(), outer = rank - axes;
  const Extents along(extent.begin() + static_cast<ptrdiff_t>(outer),
                      extent.end());
  const int64_t inner = Product(along);
  const int64_t rows = inner == 0 ? 0 : Product(extent) / inner;
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t at = 0; at < inner; at += kMaxLanes) {
      const int lanes =
          static_cast<int>(std::min<int64_t>(kMaxLanes, inner - at));
      std::vector<Values> vars(rank);
      int64_t rest = row;
      for (size_t axis = outer; axis-- > 0; rest /= extent[axis]) {
        vars[axis] = {static_cast<double>(begin[axis] + rest % extent[axis])};
      }
      for (int lane = 0; lane < lanes; ++lane) {
        rest = at + lane;
        for (size_t axis = rank; axis-- > outer; rest /= extent[axis]) {
          vars[axis].push_back(
              static_cast<double>(begin[axis] + rest % extent[axis]));
        }
      }
      int64_t offset = 0;
      for (size_t axis = 0; axis < rank; ++axis) {
        offset = offset * dims[axis] + static_cast<int64_t>(vars[axis][0]);
      }
      f(lanes, vars, offset);
    }
  }
}

// Row-major strides of one operand of a contraction by loop index.
struct ContractionStrides {
  int64_t n = 0, g = 0, k = 0, m = 0;
  std::array<int64_t, 3> s = {0, 0, 0};
};

ContractionStrides StridesOf(const std::vector<Role>& axes, const Extents& dims,
                             const Contraction& c) {
  ContractionStrides out;
  int64_t stride = 1;
  for (size_t i = axes.size(); i-- > 0; stride *= dims[i]) {
    switch (axes[i]) {
      case Role::kBatch:
        out.n = stride;
        break;
      case Role::kGroup:
        out.g = stride;
        break;
      case Role::kIn:
        out.k = stride;
        break;
      case Role::kOut:
        out.m = stride;
        break;
      case Role::kGroupIn:
        out.g = c.in * stride, out.k = stride;
        break;
      case Role::kGroupOut:
        out.g = c.out * stride, out.m = stride;
        break;
      case Role::kGroupBatch:
        out.g = c.batch * stride, out.n = stride;
        break;
      case Role::kSpatial0:
        out.s[0] = stride;
        break;
      case Role::kSpatial1:
        out.s[1] = stride;
        break;
      case Role::kSpatial2:
        out.s[2] = stride;
        break;
    }
  }
  return out;
}

// The three spatial axes of a contraction, missing ones of extent 1.
struct Spatial {
  int64_t input = 1, output = 1, kernel = 1, stride = 1, dilate = 1, pad = 0;
  int64_t data_dilate = 1;
  bool flip = false;

  // The element of data that output position o meets at kernel position w; -1
  // where there is none.
  int64_t DataAt(int64_t o, int64_t w) const {
    const int64_t at = o * stride + (flip ? kernel - 1 - w : w) * dilate - pad;
    const bool inside = at >= 0 && at % data_dilate == 0;
    return inside && at / data_dilate < input ? at / data_dilate : -1;
  }
};

std::array<Spatial, 3> SpatialOf(const Contraction& c) {
  std::array<Spatial, 3> out;
  for (size_t i = 0; i < c.kernel.size(); ++i) {
    out[i] = {c.input[i],  c.output[i], c.kernel[i],      c.stride[i],
              c.dilate[i], c.pad[i],    c.data_dilate[i], c.flip};
  }
  return out;
}

// The sum of one output element.
double Accumulate(const Contraction& c, const std::array<Spatial, 3>& sp,
                  const double* data, const ContractionStrides& ds,
                  const double* weight, const ContractionStrides& ws,
                  const std::array<int64_t, 3>& o) {
  double sum = 0;
  for (int64_t w0 = 0; w0 < sp[0].kernel; ++w0) {
    const int64_t i0 = sp[0].DataAt(o[0], w0);
    if (i0 < 0) continue;
    for (int64_t w1 = 0; w1 < sp[1].kernel; ++w1) {
      const int64_t i1 = sp[1].DataAt(o[1], w1);
      if (i1 < 0) continue;
      for (int64_t w2 = 0; w2 < sp[2].kernel; ++w2) {
        const int64_t i2 = sp[2].DataAt(o[2], w2);
        if (i2 < 0) continue;
        const double* d = data + i0 * ds.s[0] + i1 * ds.s[1] + i2 * ds.s[2];
        const double* w = weight + w0 * ws.s[0] + w1 * ws.s[1] + w2 * ws.s[2];
        for (int64_t k = 0; k < c.in; ++k) sum += d[k * ds.k] * w[k * ws.k];
      }
    }
  }
  return sum;
}

// Acc for every output element, in the output's row-major order.
std::vector<double> Contract(const Contraction& c, const OperandView& data,
                             const OperandView& weight, const Extents& out) {
  const auto ds = StridesOf(c.data_axes, data.dims, c);
  const auto ws = StridesOf(c.weight_axes, weight.dims, c);
  const auto os = StridesOf(c.output_axes, out, c);
  const auto sp = SpatialOf(c);
  std::vector<double> acc(Product(out));
  for (int64_t n = 0; n < c.batch; ++n) {
    for (int64_t g = 0; g < c.groups; ++g) {
      for (int64_t m = 0; m < c.out; ++m) {
        for (int64_t o0 = 0; o0 < sp[0].output; ++o0) {
          for (int64_t o1 = 0; o1 < sp[1].output; ++o1) {
            for (int64_t o2 = 0; o2 < sp[2].output; ++o2) {
              acc[n * os.n + g * os.g + m * os.m + o0 * os.s[0] + o1 * os.s[1] +
                  o2 * os.s[2]] =
                  Accumulate(c, sp, data.values.data() + n * ds.n + g * ds.g,
                             ds, weight.values.data() + g * ws.g + m * ws.m, ws,
                             {o0, o1, o2});
            }
          }
        }
      }
    }
  }
  return acc;
}

// Rounds to what the buffer's type holds.
void Round(std::vector<double>& values, DType dtype) {
  for (double& value : values) {
    std::byte bytes[8];
    StoreElement(bytes, dtype, value);
    value = LoadElement(bytes, dtype);
  }
}

// Over windows side by side; NaN where one of a window's values is.
std::vector<double> MaximaOf(const ContractionStep& body,
                             const std::vector<double>& values,
                             const Extents& from, const Extents& to) {
  std::vector<double> maxima(static_cast<size_t>(Product(to)), -INFINITY);
  Extents at(from.size(), 0);
  for (const double value : values) {
    int64_t place = 0;
    bool inside = true;
    for (size_t axis = 0; axis < at.size(); ++axis) {
      const Role role = body.contraction.output_axes[axis];
      const int64_t window =
          role < Role::kSpatial0
              ? 1
              : body.maxima[static_cast<size_t>(role) -
                            static_cast<size_t>(Role::kSpatial0)];
      inside = inside && at[axis] / window < to[axis];
      place = place * to[axis] + at[axis] / window;
    }
    if (inside) {
      double& most = maxima[static_cast<size_t>(place)];
      if (!(value <= most) && !std::isnan(most)) most = value;
    }
    for (size_t axis = at.size(); axis-- > 0;) {
      if (++at[axis] < from[axis]) break;
      at[axis] = 0;
    }
  }
  return maxima;
}

class StepRun {
 public:
  StepRun(const Program& program, const Step& step,
          std::span<const std::vector<double>* const> inputs,
          bool all_double = false)
      : program_(program),
        step_(step),
        all_double_(all_double),
        inputs_(inputs.begin(), inputs.end()) {
    for (size_t i = 0; i < step.inputs.size(); ++i) {
      views_.push_back(
          {*inputs[i], program.buffers[step.inputs[i]].type.shape.dims()});
    }
  }

  std::vector<std::vector<double>> Run() {
    std::vector<std::vector<double>> outputs;
    for (const int output : step_.outputs) {
      outputs.emplace_back(program_.buffers[output].type.shape.elements());
    }
    if (const TileLoop* loop = step_.loop()) {
      for (int64_t t = 0; t < loop->tiles; ++t) RunTile(*loop, t, outputs);
      return outputs;
    }
    Evaluator evaluator(views_);
    if (const Map* map = step_.map()) {
      for (const Store& store : map->stores) {
        const Extents& dims = DimsOf(store.output);
        ForRuns(store.begin, store.extent, dims,
                AxesOfRuns(store.value, store.extent, dims),
                [&](int lanes, const std::vector<Values>& vars, int64_t at) {
                  const Values v = evaluator.Evaluate(store.value, lanes, vars);
                  std::ranges::copy(v, outputs[store.output].begin() + at);
                });
      }
      return outputs;
    }
    const ContractionStep& body = *step_.contraction();
    const Extents dims =
        body.maxima.empty() ? DimsOf(0) : OutputDims(body.contraction);
    std::vector<double> values(static_cast<size_t>(Product(dims)));
    const auto sums = Contract(body.contraction, views_[0], views_[1], dims);
    ForRuns(Extents(dims.size(), 0), dims, dims,
            AxesOfRuns(body.epilogue, dims, dims),
            [&](int lanes, const std::vector<Values>& vars, int64_t at) {
              const Values acc(sums.begin() + at, sums.begin() + at + lanes);
              const Values v =
                  evaluator.Evaluate(body.epilogue, lanes, vars, acc);
              std::ranges::copy(v, values.begin() + at);
            });
    outputs[0] = body.maxima.empty() ? std::move(values)
                                     : MaximaOf(body, values, dims, DimsOf(0));
    return outputs;
  }

 private:
  const Extents& DimsOf(int output) const {
    return program_.buffers[step_.outputs[output]].type.shape.dims();
  }

  std::vector<WindowRun> Runs(const TileLoop& loop, size_t w, int64_t t) const {
    const int operand = step_.operands()[w];
    return RunsOf(loop.windows[w], t, program_.buffers[operand].type.shape,
                  loop.tile->buffers[w].type.shape);
  }

  void RunTile(const TileLoop& loop, int64_t t,
               std::vector<std::vector<double>>& outputs) const {
    const Program& tile = *loop.tile;
    std::vector<std::vector<double>> values(tile.buffers.size());
    std::vector<const std::vector<double>*> at;
    for (const auto& value : values) at.push_back(&value);
    for (size_t w = 0; w < views_.size(); ++w) {
      if (loop.windows[w].axis < 0) {
        at[w] = inputs_[w];
        continue;
      }
      values[w].resize(tile.buffers[w].type.shape.elements());
      for (const WindowRun& run : Runs(loop, w, t)) {
        std::copy_n(inputs_[w]->begin() + run.operand, run.count,
                    values[w].begin() + run.part);
      }
    }
    for (const Step& step : tile.steps) {
      std::vector<const std::vector<double>*> operands;
      for (const int input : step.inputs) operands.push_back(at[input]);
      auto results = StepRun(tile, step, operands, all_double_).Run();
      for (size_t i = 0; i < results.size(); ++i) {
        const int buffer = step.outputs[i];
        const DType dtype = tile.buffers[buffer].type.dtype;
        if (!all_double_ || !IsFloat(dtype)) Round(results[i], dtype);
        values[buffer] = std::move(results[i]);
      }
    }
    for (size_t o = 0; o < outputs.size(); ++o) {
      const size_t w = views_.size() + o;
      for (const WindowRun& run : Runs(loop, w, t)) {
        std::copy_n(values[w].begin() + run.part, run.count,
                    outputs[o].begin() + run.operand);
      }
    }
  }

  const Program& program_;
  const Step& step_;
  const bool all_double_;
  std::vector<const std::vector<double>*> inputs_;
  std::vector<OperandView> views_;
};

Tensor ToTensor(const std::vector<double>& values, const TensorType& type) {
  std::byte* bytes = nullptr;
  Tensor tensor = Tensor::Allocate(type, &bytes);
  const int64_t size = SizeOf(type.dtype);
  for (size_t i = 0; i < values.size(); ++i) {
    StoreElement(bytes + static_cast<int64_t>(i) * size, type.dtype, values[i]);
  }
  return tensor;
}

}  // namespace

std::vector<Tensor> InterpretStep(const Program& program, const Step& step,
                                  std::span<const Tensor> inputs,
                                  bool all_double) {
  std::vector<std::vector<double>> values;
  std::vector<const std::vector<double>*> pointers;
  for (const Tensor& input : inputs) values.push_back(ToDoubles(input));
  for (const auto& v : values) pointers.push_back(&v);
  auto outputs = StepRun(program, step, pointers, all_double).Run();
  std::vector<Tensor> tensors;
  for (size_t i = 0; i < outputs.size(); ++i) {
    TensorType type = program.buffers[step.outputs[i]].type;
    if (all_double && IsFloat(type.dtype)) type.dtype = DType::kF64;
    tensors.push_back(ToTensor(outputs[i], type));
  }
  return tensors;
}

Tensor CutWindow(const TileLoop& loop, size_t operand, int64_t tile,
                 const Tensor& value) {
  const Buffer& part = loop.tile->buffers[operand];
  const int64_t size = SizeOf(part.type.dtype);
  std::byte* bytes = nullptr;
  Tensor cut = Tensor::Allocate(part.type, &bytes);
  for (const WindowRun& run :
       RunsOf(loop.windows[operand], tile, value.shape(), part.type.shape)) {
    std::copy_n(value.bytes() + run.operand * size, run.count * size,
                bytes + run.part * size);
  }
  return cut;
}

Result<std::vector<Tensor>> Interpret(
    const Program& program, const std::map<std::string, Tensor>& inputs,
    const InterpreterOptions& options) {
  std::vector<std::vector<double>> values(program.buffers.size());
  const std::vector<bool> read = ReadBuffers(program);
  Diagnostics errors;
  for (size_t i = 0; i < program.buffers.size(); ++i) {
    const Buffer& buffer = program.buffers[i];
    const bool state = buffer.kind == BufferKind::kState;
    if (buffer.kind == BufferKind::kConstant) {
      values[i] = ToDoubles(buffer.constant);
    } else if (state || buffer.kind == BufferKind::kInput) {
      const auto it = inputs.find(buffer.name);
      if (it == inputs.end() && state) {
        values[i] = buffer.constant.empty()
                        ? std::vector<double>(buffer.type.shape.elements())
                        : ToDoubles(buffer.constant);
      } else if (it == inputs.end() && !read[i]) {
        continue;
      } else if (it == inputs.end()) {
        errors.push_back(Error({}, "input '{}' is missing", buffer.name));
      } else if (it->second.shape() != buffer.type.shape) {
        errors.push_back(Error({}, "input '{}' has shape {}, expected {}",
                               buffer.name, ToString(it->second.shape()),
                               ToString(buffer.type.shape)));
      } else {
        values[i] = ToDoubles(it->second);
      }
    }
  }
  if (!errors.empty()) return errors;

  std::vector<Tensor> so_far(options.after_step ? program.buffers.size() : 0);
  for (size_t s = 0; s < program.steps.size(); ++s) {
    const Step& step = program.steps[s];
    std::vector<const std::vector<double>*> operands;
    for (const int input : step.inputs) operands.push_back(&values[input]);
    auto outputs = StepRun(program, step, operands, options.all_double).Run();
    for (size_t i = 0; i < outputs.size(); ++i) {
      const int buffer = step.outputs[i];
      const TensorType& type = program.buffers[buffer].type;
      if (!options.all_double || !IsFloat(type.dtype)) {
        Round(outputs[i], type.dtype);
      }
      values[buffer] = std::move(outputs[i]);
      if (options.after_step) so_far[buffer] = ToTensor(values[buffer], type);
    }
    if (options.after_step) options.after_step(static_cast<int>(s), so_far);
  }

  std::vector<Tensor> results;
  for (const int output : program.BuffersOf(BufferKind::kOutput)) {
    TensorType type = program.buffers[output].type;
    if (options.all_double && IsFloat(type.dtype)) type.dtype = DType::kF64;
    results.push_back(ToTensor(values[output], type));
  }
  if (options.next_states != nullptr) {
    for (const int next : program.BuffersOf(BufferKind::kNextState)) {
      const Buffer& state = program.buffers[program.buffers[next].state];
      TensorType type = state.type;
      if (options.all_double && IsFloat(type.dtype)) type.dtype = DType::kF64;
      (*options.next_states)[state.name] = ToTensor(values[next], type);
    }
  }
  return results;
}

}  // namespace mxc
