// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/tensor/elementwise/unary.h"
#include "ir/ops/tensor/linalg/products.h"
namespace mxc {
namespace {

struct CastStorageAttrs {
  StorageType stype = StorageType::kDefault;

  void Describe(Fields& f) {
    f("stype", stype).Required().OneOf(kStorageTypes).Doc("ignored").Hint();
  }
};

}  // namespace

MXC_OP(CastStorage) {
  return Op<CastStorageAttrs>("cast_storage")
      .Doc("the input: every tensor is dense here")
      .Inputs({{"data", InputKind::kData}})
      .Types([](const CastStorageAttrs&, TypeInference& t) { SameTypes(t); })
      .Meaning([](const CastStorageAttrs&, Definition& def) {
        def.Set(0, def.In(0, def.Indices()));
      })
      .Gradient([](const CastStorageAttrs&, GradientBuilder& g) {
        std::vector<Value> gradients = g.None();
        gradients[0] = g.Head();
        return gradients;
      });
}

}  // namespace mxc
