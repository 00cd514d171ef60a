// SPDX-License-Identifier: Apache-2.0
// Operators of one input, element by element: the output has the shape and the
// element type of the input. Their gradient is that of the function; a file
// whose operator differs says so.
#pragma once

#include <functional>
#include <string>

#include "ir/ops/op.h"

namespace mxc {

using UnaryFunction = std::function<Expr(Expr x)>;

// In which type a function is computed.
enum class Arithmetic {
  kFloat,  // integers and halves in f32, converted back, as MXNet does
  kExact,  // the element type itself
};

// The type in which a kFloat function of elements of `dtype` is computed.
DType FloatTypeOf(DType dtype);
// f computed in that type and converted back.
Expr InFloat(const Expr& x, const UnaryFunction& f);

// One input and one output of one shape and one element type.
void SameTypes(TypeInference& t);
// Output 0 has the shape of input 0, and all have one element type; other
// inputs have shapes of their own. Returns false where what is known
// contradicts that.
bool LikeFirstInput(TypeInference& t);

Op<> UnaryOperator(std::string name, std::string doc, UnaryFunction f,
                   Arithmetic arithmetic = Arithmetic::kFloat);
// The same for a function of kernel IR.
Op<> UnaryOperator(std::string name, std::string doc, UnaryOp f,
                   Arithmetic arithmetic = Arithmetic::kFloat);

// The same for functions that depend on attributes: f(attrs, x).
template <class A, class F>
Op<A> UnaryOperatorOf(std::string name, std::string doc, F f) {
  Op<A> op(std::move(name));
  op.Doc(std::move(doc));
  op.Types([](const A&, TypeInference& t) { SameTypes(t); });
  op.Meaning([f](const A& attrs, Definition& def) {
    const auto of_x = [&](Expr x) { return f(attrs, x); };
    def.Set(0, InFloat(def.In(0, def.Indices()), of_x));
  });
  op.ElementwiseGradient();
  return op;
}

}  // namespace mxc
