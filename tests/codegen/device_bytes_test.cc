// SPDX-License-Identifier: Apache-2.0
// Elementwise steps on an emulated device: every operation of kernel IR and
// every operator that consists of them gives the bytes of this processor, for
// numbers of any kind.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "codegen/llvm/arithmetic.h"
#include "ir/program/definition.h"
#include "ir/program/steps/contraction.h"
#include "tests/codegen/emulated_kernel.h"
#include "tests/codegen/map_case.h"
#include "tests/ir/op_draw.h"
#include "tests/ir/op_run.h"

namespace mxc::test {
namespace {

using Values = std::vector<double>;

Values SpecialFloats() {
  using Single = std::numeric_limits<float>;
  Values values = {std::nan(""),
                   INFINITY,
                   -INFINITY,
                   0,
                   -0.0,
                   1,
                   -1,
                   2,
                   -2,
                   0.5,
                   -0.5,
                   3,
                   2.5,
                   -2.5,
                   1e-3,
                   7.25,
                   -11.75,
                   88.5,
                   -103.25,
                   1e5,
                   -1e10,
                   1e30,
                   1e-30,
                   65504,
                   Single::denorm_min(),
                   1e-39,
                   -1e-40,
                   1e-7,
                   0.9999,
                   16777217,
                   -Single::denorm_min(),
                   3.14159,
                   0.1,
                   -0.75,
                   255.5,
                   0.3333333};
  values.push_back(Single::max());
  values.push_back(-Single::max());
  values.push_back(Single::min());
  values.push_back(-Single::min());
  return values;
}

Values SpecialsOf(DType dtype) {
  if (IsFloat(dtype)) return SpecialFloats();
  if (dtype == DType::kBool) return {0, 1};
  Values values = {0, 1, 2, 3, 5, 7, 31, 64, 100, 127};
  const bool has_sign = IsSigned(dtype);
  for (size_t i = 0; has_sign && i < 10; ++i) values.push_back(-values[i]);
  if (SizeOf(dtype) >= 4) values.insert(values.end(), {1e9, 65536, 99999});
  return values;
}

bool IsNanAt(const Tensor& tensor, int64_t i) {
  return IsFloat(tensor.type().dtype) && std::isnan(tensor.At(i));
}

// Where two tensors differ, NaN equal to NaN; empty: nowhere.
std::string Difference(const Tensor& a, const Tensor& b) {
  const int64_t size = SizeOf(a.type().dtype);
  for (int64_t i = 0; i < a.shape().elements(); ++i) {
    if (IsNanAt(a, i) && IsNanAt(b, i)) continue;
    if (std::memcmp(a.bytes() + i * size, b.bytes() + i * size,
                    static_cast<size_t>(size)) == 0) {
      continue;
    }
    return fmt::format("element {}: {:a} and {:a}", i, a.At(i), b.At(i));
  }
  return "";
}

void CompareBytes(const MapCase& c, const std::vector<std::string>& names) {
  const std::vector<Tensor> device = c.Outputs(EmulatedTarget());
  for (const Target& target : RunnableTargets()) {
    // The device rounds a product and the sum that it becomes part of at once.
    if (target.name == "x86-64-v2" && RunnableTargets().size() > 1) continue;
    const std::vector<Tensor> host = c.Outputs(target);
    REQUIRE(host.size() == names.size());
    for (size_t k = 0; k < host.size(); ++k) {
      CAPTURE(target.name);
      CAPTURE(names[k]);
      CHECK(Difference(device[k], host[k]) == "");
    }
  }
}

// Expressions over x, y and z, which are each other's every value.
class Operations {
 public:
  explicit Operations(DType dtype) : values_(SpecialsOf(dtype)) {
    const auto count = static_cast<int64_t>(values_.size());
    type_ = {dtype, Shape{count * count}};
    const auto input = [&](std::function<int64_t(int64_t)> number) {
      const int operand =
          case_.In(type_, Layout::RowMajor(type_.shape), [=, this](int64_t i) {
            return values_[static_cast<size_t>(number(i) % count)];
          });
      return case_.At(operand);
    };
    x = input([=](int64_t i) { return i / count; });
    y = input([=](int64_t i) { return i; });
    z = input([](int64_t i) { return i * 7 / 3; });
  }
  Operations(const Operations&) = delete;

  void Add(std::string name, Expr value) {
    const TensorType type = {value->dtype, type_.shape};
    const int output = case_.Out(type, Layout::RowMajor(type.shape));
    case_.Box(output, {0}, type.shape.dims(), std::move(value));
    names_.push_back(std::move(name));
  }
  void Compare() const { CompareBytes(case_, names_); }

  Expr x, y, z;

 private:
  const Values values_;
  TensorType type_;
  MapCase case_;
  std::vector<std::string> names_;
};

constexpr DType kElementTypes[] = {DType::kF32,  DType::kF64, DType::kF16,
                                   DType::kBF16, DType::kI32, DType::kI64,
                                   DType::kI8,   DType::kU8,  DType::kBool};

// Of an operator's attributes and shapes.
struct DrawnOperator {
  std::string name;
  std::vector<TensorType> inputs, outputs;
  std::vector<Store> stores;
};

// Each element from those of the inputs at places that do not depend on
// values.
bool IsElementwise(const Expr& e) {
  if (e->kind == ExprKind::kReduce) return false;
  const bool load = e->kind == ExprKind::kLoad;
  return std::ranges::all_of(e->args, [&](const Expr& arg) {
    return load ? !HasLoads(arg) : IsElementwise(arg);
  });
}

bool IsSmall(const TensorType& type) {
  constexpr int64_t kMost = 4096;
  if (!type.known()) return false;
  const int64_t count = CheckedProduct(type.shape.dims()).value_or(0);
  return count > 0 && count <= kMost;
}

std::optional<DrawnOperator> DrawOperator(const Operator& op, uint32_t seed) {
  Draw draw(seed, Manner::kTame);
  const std::vector<AttrText> attrs = DrawAttrs(op, draw);
  const int count = CountInputs(op, attrs);
  if (count < 1) return std::nullopt;
  std::vector<TensorType> types(static_cast<size_t>(count),
                                {DType::kUnknown, Shape{5, 8, 10}});
  types[0].dtype = DType::kF32;
  const OneNode one = BuildOneNode(op.name, attrs, types, /*training=*/false);
  if (!one.error.empty()) return std::nullopt;
  DrawnOperator drawn{op.name, {}, one.node->types, {}};
  for (const Value& input : one.node->inputs) {
    drawn.inputs.push_back(input.type());
  }
  if (!std::ranges::all_of(drawn.inputs, IsSmall)) return std::nullopt;
  if (!std::ranges::all_of(drawn.outputs, IsSmall)) return std::nullopt;
  Definition definition(*one.node, /*training=*/false);
  op.meaning(one.node->attrs.get(), definition);
  drawn.stores = definition.stores();
  return drawn;
}

void Compare(const DrawnOperator& drawn) {
  MapCase c;
  int64_t first = 0;
  for (const TensorType& type : drawn.inputs) {
    const Values values = SpecialsOf(type.dtype);
    c.In(type, Layout::RowMajor(type.shape), [=](int64_t i) {
      return values[static_cast<size_t>(first + i * (first + 1)) %
                    values.size()];
    });
    ++first;
  }
  std::vector<std::string> names;
  for (const TensorType& type : drawn.outputs) {
    c.Out(type, Layout::RowMajor(type.shape));
    names.push_back(drawn.name);
  }
  for (const Store& store : drawn.stores) {
    c.Box(store.output, store.begin, store.extent, store.value);
  }
  CompareBytes(c, names);
}

}  // namespace

TEST_CASE("each operation has the processor's bytes") {
  for (const DType dtype : kElementTypes) {
    CAPTURE(MxnetName(dtype));
    Operations operations(dtype);
    for (int i = 0; i <= static_cast<int>(UnaryOp::kHighBits); ++i) {
      const auto op = static_cast<UnaryOp>(i);
      if (!IsDefined(op, dtype)) continue;
      operations.Add(fmt::format("unary {}", i), Unary(op, operations.x));
    }
    for (int i = 0; i <= static_cast<int>(BinaryOp::kOr); ++i) {
      const auto op = static_cast<BinaryOp>(i);
      if (!IsDefined(op, dtype)) continue;
      operations.Add(fmt::format("binary {}", i),
                     Binary(op, operations.x, operations.y));
    }
    operations.Compare();
  }
}

TEST_CASE("each cast has the processor's bytes") {
  for (const DType from : kElementTypes) {
    CAPTURE(MxnetName(from));
    Operations operations(from);
    for (const DType to : kElementTypes) {
      if (to == from) continue;
      operations.Add(std::string(MxnetName(to)), Cast(operations.x, to));
    }
    operations.Compare();
  }
}

TEST_CASE("products and sums are rounded where the processor rounds them") {
  for (const DType dtype : {DType::kF32, DType::kF64, DType::kBF16}) {
    Operations o(dtype);
    const Expr product = o.x * o.y;
    o.Add("x·y + z", product + o.z);
    o.Add("z + x·y", o.z + product);
    o.Add("x·y − z", product - o.z);
    o.Add("z − x·y", o.z - product);
    o.Add("x·y + y·z", product + o.y * o.z);
    o.Add("y·z − x·y", o.y * o.z - product);
    o.Add("x·y + (x·y)·z", product + product * o.z);
    o.Add("x·x + z", Pow(o.x, Constant(2, dtype)) + o.z);
    o.Add("x·2 + z·(1/3)",
          o.x * Constant(2, dtype) + o.z * Constant(1 / 3., dtype));
    o.Compare();
  }
}

TEST_CASE("each elementwise operator has the processor's bytes") {
  int compared = 0;
  for (const Operator* op : AllOperators()) {
    if (op->internal || !op->meaning || op->random || op->contraction) continue;
    for (uint32_t seed = 1; seed <= 20; ++seed) {
      const auto drawn = DrawOperator(*op, seed);
      if (!drawn) continue;
      const bool elementwise = std::ranges::all_of(
          drawn->stores,
          [](const Store& store) { return IsElementwise(store.value); });
      if (elementwise) Compare(*drawn);
      compared += elementwise;
      break;
    }
  }
  fmt::print("{} elementwise operators\n", compared);
  CHECK(compared >= 100);
}

}  // namespace mxc::test
