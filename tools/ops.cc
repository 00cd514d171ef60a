// SPDX-License-Identifier: Apache-2.0
// mxc ops: the operator table, from the schemas.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "ir/graph/operator.h"
#include "ir/support/nearest.h"
#include "tools/command.h"
#include "tools/driver/operator_table.h"
#include "tools/terminal.h"

namespace mxc {
namespace {

struct OpsOptions {
  ReportStyle style;
  std::string name;
};

std::string RangeText(const AttributeRow& a) {
  const bool low = std::isfinite(a.min), high = std::isfinite(a.max);
  if (low && high) return fmt::format("{} to {}", a.min, a.max);
  if (low) return fmt::format("at least {}", a.min);
  if (high) return fmt::format("at most {}", a.max);
  return "";
}

void PrintAttribute(const AttributeRow& a) {
  std::string value = a.required ? "required" : a.value;
  if (value.empty()) value = "''";
  PrintOut("  {:<20} {:<24} {}\n", a.name, a.type, value);
  std::string facts = a.doc;
  const std::string range = RangeText(a);
  if (!range.empty()) facts += (facts.empty() ? "" : "; ") + range;
  if (a.hint)
    facts += std::string(facts.empty() ? "" : "; ") + "no effect here";
  if (!facts.empty()) PrintOut("  {:<20} {}\n", "", facts);
}

void Describe(const Operator& op) {
  PrintOut("{}", op.name);
  if (!op.aliases.empty()) {
    PrintOut(", also {}", fmt::join(op.aliases, ", "));
  }
  PrintOut("\n  {}\n\n", op.doc.empty() ? "(no description)" : op.doc);
  PrintOut("becomes     {}\n", FormOf(op));
  PrintOut("inputs      {}\n", fmt::join(InputNames(op), ", "));
  PrintOut("outputs     {}\n", fmt::join(OutputNames(op), ", "));
  const std::vector<AttributeRow> attributes = AttributeRows(op);
  PrintOut("attributes  {}\n", attributes.empty() ? "none" : "");
  for (const AttributeRow& a : attributes) PrintAttribute(a);
}

int ListAll(const ReportStyle& style) {
  if (style.json) {
    PrintJson(OperatorTable());
    return kSuccess;
  }
  int64_t count = 0;
  for (const Operator* op : AllOperators()) {
    if (op->internal) continue;
    ++count;
    PrintOut("{:<28} {:<12} {}\n", op->name, FormOf(*op), op->doc);
  }
  PrintOut("{}\n", Count(count, "operator"));
  return kSuccess;
}

int RunOps(const OpsOptions& options) {
  if (options.name.empty()) return ListAll(options.style);
  const Operator* op = FindPublicOperator(options.name);
  if (!op) {
    return Fail(options.style,
                {UnplacedError(
                    fmt::format("operator '{}' is unknown{}", options.name,
                                NearestNote(NearestOperator(options.name))))});
  }
  if (options.style.json) {
    PrintJson(OperatorRow(*op));
  } else {
    Describe(*op);
  }
  return kSuccess;
}

}  // namespace

std::function<int()> AddOps(CLI::App& app) {
  auto options = std::make_shared<OpsOptions>();
  app.add_option("NAME", options->name, "an operator or one of its aliases");
  AddJsonOption(app, options->style);
  app.footer(
      "examples:\n"
      "  mxc ops | grep -i pool\n"
      "  mxc ops Convolution");
  return [options] { return RunOps(*options); };
}

}  // namespace mxc
