// SPDX-License-Identifier: Apache-2.0
// What an optimizer's file is written with. The file ends with
//
//   MXC_OPTIMIZER_DEFINITION(Adam) {
//     return Opt<AdamAttrs>("adam")
//         .Doc("steps along the mean gradient over the root of its variance")
//         .States("(mean, var)").Update(UpdateAdam);
//   }
//
// and optimizers.def holds MXC_OPTIMIZER(Adam). An attribute struct derives
// from OptimizerOptions and describes these first.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ir/ops/op.h"
#include "ir/optimizers/optimizer.h"
#include "ir/optimizers/update_builder.h"

namespace mxc {

template <class A>
class Opt {
 public:
  explicit Opt(std::string name) {
    optimizer_.name = std::move(name);
    optimizer_.attrs_type = typeid(A);
    optimizer_.parse = [](std::span<const AttrText> texts,
                          std::vector<AttrError>& errors) -> AttrsPtr {
      auto attrs = std::make_shared<A>();
      return ParseAttrs(
          attrs, [&](Fields& f) { attrs->Describe(f); }, texts, false, errors);
    };
    optimizer_.print = [](const void* attrs) {
      A copy = *static_cast<const A*>(attrs);
      return PrintAttrs([&](Fields& f) { copy.Describe(f); });
    };
    optimizer_.describe = [](Fields& f) { A().Describe(f); };
    optimizer_.options = [](const void* attrs) -> const OptimizerOptions& {
      return *static_cast<const A*>(attrs);
    };
    optimizer_.states = [](const void*) { return std::string("None"); };
    optimizer_.lazy = [](const void*) { return LazyRows::kNone; };
    optimizer_.whole = [](const void*) { return false; };
    optimizer_.decays = [](std::string_view parameter) {
      return parameter.ends_with("_weight") || parameter.ends_with("_gamma");
    };
  }

  Opt& Doc(std::string text) { return optimizer_.doc = std::move(text), *this; }
  Opt& Alias(std::vector<std::string> names) {
    return optimizer_.aliases = std::move(names), *this;
  }
  Opt& States(std::string form) {
    optimizer_.states = [form](const void*) { return form; };
    return *this;
  }
  template <class F>
  Opt& StatesOf(F f) {  // std::string(const A&)
    optimizer_.states = [f](const void* a) {
      return f(*static_cast<const A*>(a));
    };
    return *this;
  }
  Opt& CopyFollows() { return optimizer_.copy_follows = true, *this; }
  // By the attribute of that name …
  Opt& LazyIf(bool A::* lazy_update) {
    optimizer_.lazy = [lazy_update](const void* a) {
      return static_cast<const A*>(a)->*lazy_update ? LazyRows::kOfAll
                                                    : LazyRows::kNone;
    };
    return *this;
  }
  // … or whatever the attributes are.
  Opt& Lazy(LazyRows rows) {
    optimizer_.lazy = [rows](const void*) { return rows; };
    return *this;
  }
  template <class F>
  Opt& Whole(F f) {  // bool(const A&)
    optimizer_.whole = [f](const void* a) {
      return f(*static_cast<const A*>(a));
    };
    return *this;
  }
  template <class F>
  Opt& Update(F f) {  // void(const A&, UpdateBuilder&)
    optimizer_.update = [f](const void* a, UpdateBuilder& u) {
      f(*static_cast<const A*>(a), u);
    };
    return *this;
  }
  template <class F>
  Opt& Decays(F f) {  // bool(std::string_view parameter)
    return optimizer_.decays = f, *this;
  }

  operator Optimizer() && { return std::move(optimizer_); }
  operator Optimizer() & { return optimizer_; }

 private:
  Optimizer optimizer_;
};

}  // namespace mxc

#define MXC_OPTIMIZER_DEFINITION(Id) ::mxc::Optimizer Define##Id##Optimizer()
