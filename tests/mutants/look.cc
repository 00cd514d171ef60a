// SPDX-License-Identifier: Apache-2.0
#include "tests/mutants/look.h"

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include "frontend/frontend.h"
#include "tools/artifact_overview.h"
#include "tools/communication.h"
#include "tools/diagram/diagram.h"
#include "tools/diagram/graphviz.h"
#include "tools/page/html_page.h"
#include "tools/stored_network.h"

namespace mxc::test {
namespace {

void Silence() {
  static const bool silent = std::freopen("/dev/null", "w", stdout) != nullptr;
  if (!silent) std::abort();
}

void Show(const Overview& overview, const OperatorTexts& operators,
          const std::vector<TensorStatistics>& weights) {
  (void)MemoryToJson(overview).dump(1, ' ', false,
                                    nlohmann::json::error_handler_t::replace);
  (void)StepsToJson(overview).dump(1, ' ', false,
                                   nlohmann::json::error_handler_t::replace);
  (void)CommunicationToJson(overview);
  PrintSummary(overview);
  PrintMemory(overview);
  PrintSteps(overview);
  PrintCommunication(overview);
  const Diagram diagram = StepDiagram(overview, operators);
  (void)GraphvizText(diagram);
  (void)MakeHtmlPage(overview, diagram, weights);
}

}  // namespace

bool LookAt(const std::string& path) {
  Silence();
  const Result<InspectedArtifact> read =
      ReadArtifact(path, {.approve = {}, .check = false, .weights = true});
  if (!read.ok()) return false;
  (void)ReadArtifact(path, {.approve = {}, .check = true});
  (void)ReadStoredNetwork(path);
  (void)ManifestToJson(read->manifest);
  const Result<Model> model = LoadText(std::make_shared<SourceFile>(SourceFile{
                                           path + " (network)", read->symbol}),
                                       {});
  const OperatorTexts operators =
      model.ok() ? TextsOf(model->graph) : OperatorTexts();
  for (const Overview& overview : read->entries) {
    Show(overview, operators, read->weights);
  }
  return true;
}

}  // namespace mxc::test
