// SPDX-License-Identifier: Apache-2.0
#include "ir/graph/tensor_use.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "ir/support/lexer.h"

namespace mxc {
namespace {

constexpr std::string_view kOptimizerPrefix = "optimizer/";

struct RoleText {
  std::string_view word;    // in the text forms
  std::string_view prefix;  // of a tensor's name, before `of` or `what`
};

// In the order of TensorRole.
constexpr RoleText kRoleTexts[] = {
    {"", ""},
    {"rate", "learning_rate"},
    {"loss", "loss"},
    {"gradient", kGradientPrefix},
    {"rows", "rows:"},
    {"norm", "norm:"},
    {"loss_scale", "loss_scale"},
    {"kept", ""},
    {"shared", kOptimizerPrefix},
    {"updates", "optimizer/updates"},
    {"begun", "optimizer/begun"},
    {"count", "count:"},
    {"length", "length"},
};

const RoleText& TextOf(TensorRole role) {
  return kRoleTexts[static_cast<size_t>(role)];
}

}  // namespace

std::string NameOf(const TensorUse& use, std::string_view what) {
  if (use.role == TensorRole::kOptimizer) {
    return fmt::format("{}/{}", use.of, what);
  }
  const bool colon = use.role == TensorRole::kLength && !use.of.empty();
  return fmt::format("{}{}{}{}", TextOf(use.role).prefix, colon ? ":" : "",
                     use.of, what);
}

bool IsOptimizersName(std::string_view name) {
  return name == TextOf(TensorRole::kRate).prefix ||
         name.starts_with(kOptimizerPrefix);
}

std::string_view RoleName(TensorRole role) { return TextOf(role).word; }

TensorRole RoleNamed(std::string_view word) {
  const auto found = std::ranges::find(kRoleTexts, word, &RoleText::word);
  return found == std::end(kRoleTexts)
             ? TensorRole::kOther
             : static_cast<TensorRole>(found - std::begin(kRoleTexts));
}

std::string Print(const TensorUse& use) {
  std::string text;
  if (use.role != TensorRole::kOther) {
    text = fmt::format(" as {}", RoleName(use.role));
    if (!use.of.empty()) text += " " + Quoted(use.of);
  }
  for (const LengthAxis& open : use.open) {
    text += fmt::format(" open {}", open.axis);
    if (open.inner > 1) text += fmt::format(" by {}", open.inner);
    if (!open.length.empty()) text += " of " + Quoted(open.length);
  }
  return text;
}

TensorUse ReadTensorUse(Lexer& lex) {
  TensorUse use;
  if (lex.Accept("as")) {
    use.role = RoleNamed(lex.Peek());
    if (use.role == TensorRole::kOther) lex.Fail("a role");
    lex.Identifier();
    if (lex.Peek().starts_with("\"")) use.of = lex.QuotedString();
  }
  while (lex.Accept("open")) {
    LengthAxis& open = use.open.emplace_back();
    open.axis = static_cast<int>(lex.Integer());
    if (lex.Accept("by")) open.inner = lex.Integer();
    if (lex.Accept("of")) open.length = lex.QuotedString();
  }
  return use;
}

}  // namespace mxc
