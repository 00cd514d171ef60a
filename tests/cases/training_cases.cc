// SPDX-License-Identifier: Apache-2.0
// training: the folder cases/mxnet-training. Optimizers: optimizer_cases.cc.
#include "tests/cases/training_cases.h"

#include <fmt/format.h>

#include <fstream>

#include "tests/cases/case_report.h"
#include "tests/cases/cases.h"
#include "tests/cases/in_process.h"
#include "tests/support/archive.h"

namespace mxc {
namespace {

void Record(const std::string& name, const std::function<Status()>& check,
            CaseReport& report) {
  const Verdict verdict = InProcess([&] {
    const Status status = check();
    return status.ok() ? std::string() : status.errors().front().message;
  });
  if (verdict.message.empty()) {
    report.Pass(name);
  } else {
    report.Fail(name, verdict.message);
  }
}

bool RunOptimizers(const CaseOptions& options, CaseReport& report) {
  const auto archive = ReadArchive(options.folder + "/optimizers.tar.gz");
  std::ifstream index(options.folder + "/optimizers.jsonl");
  if (!archive || !index) return false;
  for (std::string text; std::getline(index, text);) {
    const nlohmann::json line = nlohmann::json::parse(text);
    const std::string name = line["case"];
    if (!name.starts_with(options.only)) continue;
    Record(
        name,
        [&] { return CheckOptimizerCase(line, *archive, options.engine); },
        report);
  }
  return true;
}

bool RunModules(const CaseOptions& options, CaseReport& report) {
  const auto archive = ReadArchive(options.folder + "/training.tar.gz");
  if (!archive) return false;
  for (const std::string name : {"mlp-optdigits", "lenet-mnist"}) {
    if (!name.starts_with(options.only)) continue;
    Record(
        name,
        [&] {
          return CheckModuleCase(name, *archive, options.folder + "/../data",
                                 options.engine);
        },
        report);
  }
  return true;
}

}  // namespace

int RunTrainingCases(const CaseOptions& options) {
  CaseReport report(options.verbose);
  if (!RunOptimizers(options, report) || !RunModules(options, report)) {
    fmt::print(
        "{} holds no optimizers.jsonl, optimizers.tar.gz, training.tar.gz\n",
        options.folder);
    return 2;
  }
  return report.Finish();
}

}  // namespace mxc
