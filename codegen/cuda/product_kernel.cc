// SPDX-License-Identifier: Apache-2.0
#include "codegen/cuda/product_kernel.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "codegen/cpu/product_terms.h"
#include "codegen/cuda/device_function.h"
#include "codegen/cuda/product_operand.h"
#include "codegen/cuda/product_shape.h"
#include "codegen/cuda/product_sums.h"
#include "codegen/cuda/thread_kernel.h"
#include "codegen/llvm/alias_scopes.h"
#include "codegen/llvm/expr_emitter.h"
#include "ir/support/check.h"

namespace mxc {
namespace {

using llvm::Value;

struct ProductKernel {
  ContractionStep body;
  std::vector<Buffer> operands;  // inputs, then the output
  std::vector<int> roots;
  std::string alignments;

  ProductTile tile() const { return TileOf(body.choice); }
  const Layout& output() const { return operands.back().layout; }
};

std::vector<EmitOperand> OperandsOf(KernelFunction& kernel,
                                    const ProductKernel& product) {
  std::vector<EmitOperand> operands;
  for (size_t i = 0; i < product.operands.size(); ++i) {
    const Buffer& buffer = product.operands[i];
    operands.push_back({kernel.operand(static_cast<int>(i)), buffer.type.dtype,
                        buffer.layout});
  }
  SeparateByRoots(kernel, product.roots, operands);
  return operands;
}

// Where vectors of outputs are finished: along the columns or along the rows.
struct FinishOrder {
  bool along_columns = false;
  int vector = 1;
};

class ProductEmitter {
 public:
  ProductEmitter(DeviceFunction& kernel, const ProductKernel& product)
      : kernel_(kernel),
        product_(product),
        c_(product.body.contraction),
        tile_(product.tile()),
        extents_(ExtentsOf(c_)),
        order_(OrderOf(product)),
        emitter_(kernel, OperandsOf(kernel, product), order_.vector) {}

  void Run() {
    AlignOperands(kernel_, product_.alignments);
    kernel_.SetBlock(tile_.threads());
    DeclareVariables();
    FindTile();
    ProductOperand data = OperandOf(0), weight = OperandOf(1);
    data.Begin(first_row_);
    weight.Begin(first_column_);
    ProductSums sums(kernel_, tile_, data, weight, extents_.depth,
                     product_.body.choice.algorithm);
    sums.Run();
    sums.Put(order_.along_columns);
    Finish(sums);
  }

  static FinishOrder OrderOf(const ProductKernel& product);

 private:
  llvm::IRBuilder<>& b() { return kernel_.b(); }

  ProductVar Variable(int64_t extent) {
    return {emitter_.Declare({0, extent - 1}), extent};
  }

  void DeclareVariables() {
    group_ = Variable(c_.groups);
    column_ = Variable(c_.out);
    at_.group = group_.var;
    at_.out = column_.var;
    // Rows in the order in which the output lies in memory.
    const ProductVar batch = Variable(c_.batch);
    at_.batch = batch.var;
    rows_ = {batch};
    for (size_t s = 0; s < c_.output.size(); ++s) {
      rows_.push_back(Variable(c_.output[s]));
      at_.spatial[s] = rows_.back().var;
    }
    const Buffer &data = product_.operands[0], &weight = product_.operands[1];
    const ProductTerms terms =
        TermsOf(c_, data, weight, at_, /*every_tap=*/true,
                [&](const Expr&, const Expr& end) {
                  depth_.push_back(Variable(static_cast<int64_t>(end->number)));
                  return depth_.back().var;
                });
    inside_ = emitter_.FormOf(terms.inside);
    elements_[0] = emitter_.FormOf(terms.data);
    elements_[1] = emitter_.FormOf(terms.weight);
    // What lies side by side comes last.
    const Affine at = ToAffine(elements_[0]->args[0], emitter_.ranges());
    if (at.CoefficientOf(depth_[0].var->index) == 1) {
      std::rotate(depth_.begin(), depth_.begin() + 1, depth_.end());
    }
  }

  ProductOperand OperandOf(int side) {
    ProductOperand::Source source;
    source.operand = side;
    source.element = elements_[side];
    source.inside = side == 0 ? inside_ : Constant(1, DType::kBool);
    source.lines = side == 0 ? rows_ : std::vector<ProductVar>{column_};
    source.depth = depth_;
    source.aligned = product_.alignments[static_cast<size_t>(side)] == 'v';
    return {
        kernel_,
        emitter_,
        std::move(source),
        {side == 0 ? tile_.rows : tile_.columns, tile_.depth, tile_.threads()}};
  }

  // Blocks of the same rows follow one another: they find data in the cache.
  void FindTile() {
    Value* number = kernel_.Block();
    const auto next = [&](int64_t extent) {
      Value* coordinate = b().CreateURem(number, kernel_.Word(extent));
      number = b().CreateUDiv(number, kernel_.Word(extent));
      return coordinate;
    };
    first_column_ = b().CreateMul(next(extents_.ColumnTiles(tile_)),
                                  kernel_.Word(tile_.columns));
    first_row_ =
        b().CreateMul(next(extents_.RowTiles(tile_)), kernel_.Word(tile_.rows));
    emitter_.SetValue(group_.var, b().CreateZExt(number, b().getInt64Ty()));
  }

  // Each thread finishes vectors of the tile.
  void Finish(ProductSums& sums) {
    const int vector = order_.vector;
    if (vector > 1) UseLanes();
    emitter_.SetIndices(IndicesOf(c_.output_axes, c_, at_));
    const int near = (order_.along_columns ? tile_.columns : tile_.rows);
    Value* thread = b().CreateZExt(kernel_.Thread(), b().getInt64Ty());
    kernel_.Loop(
        thread, kernel_.Int(int64_t{tile_.rows} * tile_.columns / vector),
        tile_.threads(), [&](Value* i) {
          Value* number = b().CreateTrunc(i, b().getInt32Ty());
          Value* side = kernel_.Word(near / vector);
          Value* first =
              b().CreateMul(b().CreateURem(number, side), kernel_.Word(vector));
          Value* second = b().CreateUDiv(number, side);
          if (!order_.along_columns) std::swap(first, second);
          FinishAt(sums, /*row=*/second, /*column=*/first);
        });
  }

  // The innermost variable of a vector's outputs runs over its lanes.
  void UseLanes() {
    ProductVar& inner = order_.along_columns ? column_ : rows_.back();
    const Expr lanes = emitter_.DeclareLanes({0, inner.extent - 1});
    for (Expr* index : {&at_.out, &at_.batch, &at_.spatial[0], &at_.spatial[1],
                        &at_.spatial[2]}) {
      if (Equal(*index, inner.var)) *index = lanes;
    }
    inner.var = lanes;
  }

  void FinishAt(ProductSums& sums, Value* row, Value* column) {
    Value* out_row = b().CreateAdd(first_row_, row);
    Value* out_column = b().CreateAdd(first_column_, column);
    Value* inside = b().CreateAnd(
        b().CreateICmpULT(out_row, kernel_.Word(extents_.rows)),
        b().CreateICmpULT(out_column, kernel_.Word(extents_.columns)));
    kernel_.If(inside, [&] {
      const ExprEmitter::Scope scope(emitter_);
      const auto set = [&](const ProductVar& var, Value* word) {
        Value* value = b().CreateZExt(word, b().getInt64Ty());
        if (var.var->index == emitter_.lane_var()) {
          emitter_.SetLaneBase(value);
        } else {
          emitter_.SetValue(var.var, value);
        }
      };
      set(column_, out_column);
      for (size_t k = rows_.size(); k-- > 0;) {
        Value* extent = kernel_.Word(rows_[k].extent);
        set(rows_[k], k == 0 ? out_row : b().CreateURem(out_row, extent));
        if (k > 0) out_row = b().CreateUDiv(out_row, extent);
      }
      const Expr& epilogue = product_.body.epilogue;
      emitter_.SetAcc(sums.At(row, column, order_.vector));
      Value* value = emitter_.EmitLanes(epilogue);
      emitter_.Store(static_cast<int>(product_.operands.size()) - 1, value,
                     epilogue->dtype);
    });
  }

  DeviceFunction& kernel_;
  const ProductKernel& product_;
  const Contraction& c_;
  const ProductTile tile_;
  const ProductExtents extents_;
  const FinishOrder order_;
  ExprEmitter emitter_;
  ContractionIndices at_;
  ProductVar group_, column_;
  std::vector<ProductVar> rows_, depth_;
  Expr inside_, elements_[2];
  Value *first_row_ = nullptr, *first_column_ = nullptr;  // of the tile: i32
};

// By the strides of the axes in the output.
FinishOrder ProductEmitter::OrderOf(const ProductKernel& product) {
  constexpr int kVector = 4;
  const Contraction& c = product.body.contraction;
  // An extent, and how far apart its positions lie.
  const auto along = [&](int axis, int64_t extent) -> FinishOrder {
    Extents index(c.output_axes.size(), 0);
    if (extent < 2) return {};
    index[static_cast<size_t>(axis)] = 1;
    const bool near = product.output().Offset(index) -
                          product.output().Offset(Extents(index.size(), 0)) ==
                      1;
    return {near, near && extent % kVector == 0 ? kVector : 1};
  };
  const auto find = [&](auto is_role) {
    return static_cast<int>(std::ranges::find_if(c.output_axes, is_role) -
                            c.output_axes.begin());
  };
  const int out = find(
      [](Role role) { return role == Role::kOut || role == Role::kGroupOut; });
  const FinishOrder columns = along(out, c.out);
  if (columns.along_columns) return columns;
  // Else rows, whose innermost variable is the last spatial one, or the batch.
  const size_t spatial = c.output.size();
  const int inner = find([&](Role role) {
    return spatial == 0 ? role == Role::kBatch || role == Role::kGroupBatch
                        : static_cast<size_t>(role) + 1 ==
                              static_cast<size_t>(Role::kSpatial0) + spatial;
  });
  const int64_t extent = spatial == 0 ? c.batch : c.output.back();
  const FinishOrder rows = along(inner, extent);
  return {false, rows.vector};
}

}  // namespace

KernelPlan PlanProduct(const Program& program, const Step& step,
                       const std::string& alignments) {
  auto product = std::make_shared<ProductKernel>();
  product->body = *step.contraction();
  product->alignments = alignments;
  MXC_CHECK(IsProductAlgorithm(product->body.choice.algorithm), "{}",
            step.name);
  for (const int operand : step.operands()) {
    product->operands.push_back(program.buffers[static_cast<size_t>(operand)]);
    product->operands.back().constant = {};
    product->roots.push_back(program.Root(operand));
  }
  const ProductTile tile = product->tile();
  KernelPlan plan;
  plan.tasks = ExtentsOf(product->body.contraction).Blocks(tile);
  plan.launch =
      LaunchOf(plan.tasks, tile.threads(),
               ProductSums::SharedBytes(tile, product->body.contraction.types));
  plan.emit = [product](KernelFunction& kernel) {
    ProductEmitter(static_cast<DeviceFunction&>(kernel), *product).Run();
  };
  return plan;
}

}  // namespace mxc
