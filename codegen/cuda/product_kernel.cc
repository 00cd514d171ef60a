// SPDX-License-Identifier: Apache-2.0
#include "codegen/cuda/product_kernel.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "codegen/cuda/device_function.h"
#include "codegen/cuda/product_form.h"
#include "codegen/cuda/product_operand.h"
#include "codegen/cuda/product_shape.h"
#include "codegen/cuda/product_sums.h"
#include "codegen/cuda/thread_kernel.h"
#include "codegen/llvm/alias_scopes.h"
#include "codegen/llvm/expr_emitter.h"
#include "ir/program/steps/contraction.h"
#include "ir/program/steps/map.h"
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

// By what lies side by side in the output: of 16 bytes, or of 4 elements.
FinishOrder OrderOf(const ProductKernel& product, const ProductForm& form) {
  constexpr int64_t kFew = 4, kBytes = 16;
  const Buffer& output = product.operands.back();
  const Layout layouts[] = {output.layout};
  const Contraction& c = product.body.contraction;
  const Expr element =
      Load(0, output.type.dtype, IndicesOf(c.output_axes, c, form.at));
  const Affine offset = ToAffine(
      ToAddressForm(element, {layouts, {}, form.Ranges(), -1})->args[0],
      form.Ranges());
  const auto vector_of = [&](const ProductVar& var) -> int64_t {
    const bool near = var.extent > 1 && !offset.HidesVar(var.var->index) &&
                      offset.CoefficientOf(var.var->index) == 1;
    if (!near) return 0;
    for (const int64_t vector : {kBytes / SizeOf(output.type.dtype), kFew}) {
      if (var.extent % vector == 0) return vector;
    }
    return 1;
  };
  const int64_t columns = vector_of(form.column);
  const int64_t rows = vector_of(form.rows.back());
  if (columns > 0) return {true, static_cast<int>(columns)};
  return {false, static_cast<int>(std::max<int64_t>(1, rows))};
}

class ProductEmitter {
 public:
  ProductEmitter(DeviceFunction& kernel, const ProductKernel& product)
      : kernel_(kernel),
        product_(product),
        c_(product.body.contraction),
        tile_(product.tile()),
        extents_(ExtentsOf(c_)),
        form_(FormOf(c_, product.operands[0], product.operands[1])),
        order_(OrderOf(product, form_)),
        emitter_(kernel, OperandsOf(kernel, product), order_.vector) {}

  void Run() {
    AlignOperands(kernel_, product_.alignments);
    kernel_.SetBlock(tile_.threads());
    DeclareVariables();
    FindTile();
    ProductOperand data = OperandOf(0), weight = OperandOf(1);
    data.Begin(first_row_);
    weight.Begin(first_column_);
    const auto sums =
        MakeProductSums(kernel_, tile_, data, weight, extents_.depth,
                        product_.body.choice.algorithm);
    sums->Run();
    sums->Put(order_.along_columns);
    Finish(*sums);
  }

 private:
  llvm::IRBuilder<>& b() { return kernel_.b(); }

  void DeclareVariables() {
    for (const ProductVar& each : form_.variables) {
      emitter_.Declare(each.var, {0, each.extent - 1});
    }
  }

  ProductOperand OperandOf(int side) {
    const int lines = side == 0 ? tile_.rows : tile_.columns;
    ProductOperand::Source source;
    source.operand = side;
    source.element = form_.elements[side];
    source.inside = side == 0 ? form_.inside : Constant(1, DType::kBool);
    source.lines =
        side == 0 ? form_.rows : std::vector<ProductVar>{form_.column};
    source.depth = form_.depth;
    source.access =
        AccessOf(form_, side, source.element->dtype,
                 product_.alignments[static_cast<size_t>(side)] == 'v',
                 int64_t{lines} * tile_.depth, tile_.threads());
    return {kernel_,
            emitter_,
            std::move(source),
            {lines, tile_.depth, tile_.threads(), tile_.warpgroups}};
  }

  // Blocks of the same rows follow one another: they find data in the cache.
  void FindTile() {
    Value* number = kernel_.Block();
    Value* column = kernel_.Next(number, extents_.ColumnTiles(tile_));
    first_column_ = b().CreateMul(column, kernel_.Word(tile_.columns));
    Value* row = kernel_.Next(number, extents_.RowTiles(tile_));
    first_row_ = b().CreateMul(row, kernel_.Word(tile_.rows));
    emitter_.SetValue(form_.group.var, kernel_.Wide(number));
  }

  // Each thread finishes vectors of the tile.
  void Finish(ProductSums& sums) {
    const int vector = order_.vector;
    if (vector > 1) UseLanes();
    emitter_.SetIndices(IndicesOf(c_.output_axes, c_, form_.at));
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
    ProductVar& inner = order_.along_columns ? form_.column : form_.rows.back();
    const Expr lanes = emitter_.DeclareLanes({0, inner.extent - 1});
    ContractionIndices& at = form_.at;
    for (Expr* index :
         {&at.out, &at.batch, &at.spatial[0], &at.spatial[1], &at.spatial[2]}) {
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
          emitter_.SetLaneBase(value, /*whole_vectors=*/true);
        } else {
          emitter_.SetValue(var.var, value);
        }
      };
      set(form_.column, out_column);
      const std::vector<ProductVar>& rows = form_.rows;
      for (size_t k = rows.size(); k-- > 0;) {
        Value* extent = kernel_.Word(rows[k].extent);
        set(rows[k], k == 0 ? out_row : b().CreateURem(out_row, extent));
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
  ProductForm form_;
  const FinishOrder order_;
  ExprEmitter emitter_;
  Value *first_row_ = nullptr, *first_column_ = nullptr;  // of the tile: i32
};

}  // namespace

DevicePlan PlanProduct(const Program& program, const Step& step,
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
  DevicePlan plan;
  plan.tasks = ExtentsOf(product->body.contraction).Blocks(tile);
  plan.launch =
      LaunchOf(plan.tasks, tile.threads(),
               ProductSums::SharedBytes(tile, product->body.contraction.types));
  plan.emit = [product](DeviceFunction& kernel) {
    ProductEmitter(kernel, *product).Run();
  };
  return plan;
}

}  // namespace mxc
