// SPDX-License-Identifier: Apache-2.0
// What tensors and entries are for: their names, which people's files and
// scripts have, and their words in the text forms.
#include <doctest/doctest.h>

#include <memory>
#include <string>

#include "ir/graph/tensor_use.h"
#include "ir/program/entry.h"
#include "ir/support/lexer.h"

namespace mxc {
namespace {

TEST_CASE("tensors that training adds have names that files keep") {
  CHECK(NameOf({TensorRole::kRate, {}}) == "learning_rate");
  CHECK(NameOf({TensorRole::kLoss, {}}) == "loss");
  CHECK(NameOf({TensorRole::kGradient, "fc_weight"}) == "grad:fc_weight");
  CHECK(NameOf({TensorRole::kRows, "embed"}) == "rows:embed");
  CHECK(NameOf({TensorRole::kNorm, "fc_bias"}) == "norm:fc_bias");
  CHECK(NameOf({TensorRole::kOptimizer, "w"}, "momentum") == "w/momentum");
  CHECK(NameOf({TensorRole::kShared, {}}, "m_schedule") ==
        "optimizer/m_schedule");
  CHECK(NameOf({TensorRole::kUpdates, {}}) == "optimizer/updates");
  CHECK(NameOf({TensorRole::kBegun, {}}) == "optimizer/begun");
  CHECK(NameOf({TensorRole::kLossScale, {}}) == "loss_scale");
}

TEST_CASE("the optimizer's names are no network's") {
  CHECK(IsOptimizersName("learning_rate"));
  CHECK(IsOptimizersName("optimizer/anything"));
  CHECK(!IsOptimizersName("learning_rates"));
  CHECK(!IsOptimizersName("optimizer"));
  CHECK(!IsOptimizersName(""));
}

TEST_CASE("each role has a word of its own") {
  for (int i = 1; i <= static_cast<int>(TensorRole::kBegun); ++i) {
    const auto role = static_cast<TensorRole>(i);
    CAPTURE(i);
    CHECK(!RoleName(role).empty());
    CHECK(RoleNamed(RoleName(role)) == role);
  }
  CHECK(RoleNamed("gradients") == TensorRole::kOther);
  CHECK(Print(TensorUse()) == "");
  const TensorUse open = {.open = {{1, 1, "T"}, {2, 8, ""}}};
  CHECK(Print(open) == " open 1 of \"T\" open 2 by 8");
  Lexer lex(std::make_shared<SourceFile>(SourceFile{"text", Print(open)}));
  CHECK(ReadTensorUse(lex) == open);
}

TEST_CASE("an entry has one name, and a name one entry") {
  CHECK(ProgramEntry{Purpose::kInfer, {}, {}}.Name() == "infer");
  CHECK(ProgramEntry{Purpose::kTrain, {{"", 32}}, {}}.Name() == "train:32");
  CHECK(ProgramEntry{Purpose::kInfer, {{"T", 8}, {"S", 32}}, {}}.Name() ==
        "infer:S=32,T=8");
  CHECK(ProgramEntry{Purpose::kUpdate, {}, "fc:0"}.Name() == "update:fc:0");
  for (const char* name : {"", "infer", "train", "train:32", "grad:7", "score",
                           "update:fc:0", "update:", "prepare", "kernel3",
                           "a:b", "infer:S=32,T=8", "infer:a=b=2"}) {
    CHECK(ProgramEntry::Named(name).Name() == name);
  }
  CHECK(ProgramEntry::Named("train:32") ==
        ProgramEntry{Purpose::kTrain, {{"", 32}}, {}});
  CHECK(ProgramEntry::Named("infer:S=32,T=8") ==
        ProgramEntry{Purpose::kInfer, {{"S", 32}, {"T", 8}}, {}});
  CHECK(ProgramEntry::Named("update:32") ==
        ProgramEntry{Purpose::kUpdate, {}, "32"});
  for (const char* name :
       {"train:", "train:0", "train:032", "train:3x", "trains", "kernel3",
        "update", "infer:T=8,S=32", "infer:S=32,", "infer:S=0", "infer:8,4"}) {
    CHECK(ProgramEntry::Named(name) == ProgramEntry{Purpose::kOther, {}, name});
  }
}

}  // namespace
}  // namespace mxc
