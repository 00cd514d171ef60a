// SPDX-License-Identifier: Apache-2.0
#include "codegen/cuda/product_form.h"

#include <algorithm>
#include <utility>

#include "codegen/schedule/address_form.h"
#include "ir/program/steps/contraction.h"

namespace mxc {
namespace {

// How many elements lie side by side along the innermost variables, if the
// window leaves the data for all of them or for none.
int64_t RunOf(const Affine& offset, const Expr& inside,
              const std::vector<ProductVar>& vars) {
  int64_t run = 1;
  for (size_t k = vars.size(); k-- > 0;) {
    const auto& [var, extent] = vars[k];
    if (extent == 1) continue;
    const bool next = offset.CoefficientOf(var->index) == run &&
                      !offset.HidesVar(var->index) &&
                      !UsesVar(inside, var->index);
    if (!next) break;
    run *= extent;
  }
  return run;
}

// Returns whether runs begin at whole vectors.
bool RunsAreAligned(const Affine& offset, const std::vector<ProductVar>& vars,
                    int64_t run, int vector) {
  if (offset.constant % vector != 0) return false;
  return std::ranges::all_of(offset.terms, [&](const Affine::Term& term) {
    int64_t inner = 1;
    for (size_t k = vars.size(); k-- > 0 && inner < run;) {
      if (Equal(vars[k].var, term.atom)) return true;  // a part of the run
      inner *= vars[k].extent;
    }
    return term.coefficient % vector == 0;
  });
}

class Forming {
 public:
  Forming(const Contraction& c, const Buffer& data, const Buffer& weight)
      : c_(c), data_(data), weight_(weight) {}

  ProductForm Run() {
    form_.group = Variable(c_.groups);
    form_.column = Variable(c_.out);
    form_.at.group = form_.group.var;
    form_.at.out = form_.column.var;
    form_.rows = {Variable(c_.batch)};
    form_.at.batch = form_.rows[0].var;
    for (size_t s = 0; s < c_.output.size(); ++s) {
      form_.rows.push_back(Variable(c_.output[s]));
      form_.at.spatial[s] = form_.rows.back().var;
    }
    const ProductTerms terms = TermsOf(
        c_, data_, weight_, form_.at, TapRange::kAll,
        [&](const Expr&, const Expr& end) {
          form_.depth.push_back(Variable(static_cast<int64_t>(end->number)));
          return form_.depth.back().var;
        });
    const Layout layouts[] = {data_.layout, weight_.layout};
    const auto address = [&](const Expr& e) {
      return ToAddressForm(e, {layouts, {}, form_.Ranges(), -1});
    };
    form_.inside = address(terms.inside);
    form_.elements[0] = address(terms.data);
    form_.elements[1] = address(terms.weight);
    PutNeighboursLast(form_.rows);
    PutNeighboursLast(form_.depth);
    return std::move(form_);
  }

 private:
  ProductVar Variable(int64_t extent) {
    const auto number = static_cast<int>(form_.variables.size());
    form_.variables.push_back({Var(kFirstLoopVar + number), extent});
    return form_.variables.back();
  }

  // The first one of them, the batch or the channels, where it runs through
  // data; what has one value goes out of the way.
  void PutNeighboursLast(std::vector<ProductVar>& vars) const {
    if (form_.Offset(0).CoefficientOf(vars[0].var->index) == 1) {
      std::rotate(vars.begin(), vars.begin() + 1, vars.end());
    }
    std::ranges::stable_partition(
        vars, [](const ProductVar& var) { return var.extent == 1; });
  }

  const Contraction& c_;
  const Buffer &data_, &weight_;
  ProductForm form_;
};

}  // namespace

IntervalOf ProductForm::Ranges() const {
  return [this](int index) -> std::optional<Interval> {
    const auto number = static_cast<size_t>(index - kFirstLoopVar);
    if (index < kFirstLoopVar || number >= variables.size()) {
      return std::nullopt;
    }
    return Interval{0, variables[number].extent - 1};
  };
}

Affine ProductForm::Offset(int side) const {
  return ToAffine(elements[side]->args[0], Ranges());
}

ProductForm FormOf(const Contraction& c, const Buffer& data,
                   const Buffer& weight) {
  return Forming(c, data, weight).Run();
}

ProductAccess AccessOf(const Affine& offset, const Expr& inside,
                       const std::vector<int>& vectors,
                       const std::vector<ProductVar>& lines,
                       const std::vector<ProductVar>& depth) {
  const auto in = [&](int vector, const std::vector<ProductVar>& vars) {
    const int64_t run = RunOf(offset, inside, vars);
    return run % vector == 0 && RunsAreAligned(offset, vars, run, vector);
  };
  for (const int vector : vectors) {
    if (in(vector, depth)) return {true, vector};
    if (in(vector, lines)) return {false, vector};
  }
  const auto steps_by_one = [&](const std::vector<ProductVar>& vars) {
    for (size_t k = vars.size(); k-- > 0;) {
      if (vars[k].extent == 1) continue;
      return offset.CoefficientOf(vars[k].var->index) == 1;
    }
    return false;
  };
  return {steps_by_one(depth) || !steps_by_one(lines), 1};
}

ProductAccess AccessOf(const ProductForm& form, int side, DType dtype,
                       bool aligned, int64_t elements, int threads) {
  std::vector<int> vectors;
  const auto bytes = static_cast<int>(SizeOf(dtype));
  for (int size = kWideCopy; size >= kSmallCopy; size /= 2) {
    const int vector = size / bytes;
    const bool is_dealt = int64_t{vector} * threads <= elements;
    if (aligned && vector > 1 && is_dealt) vectors.push_back(vector);
  }
  const Expr inside = side == 0 ? form.inside : Constant(1, DType::kBool);
  const std::vector<ProductVar> columns = {form.column};
  return AccessOf(form.Offset(side), inside, vectors,
                  side == 0 ? form.rows : columns, form.depth);
}

}  // namespace mxc
