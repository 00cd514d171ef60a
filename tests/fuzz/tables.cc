// SPDX-License-Identifier: Apache-2.0
#include "runtime/artifact/tables.h"

#include "tests/fuzz/artifacts.h"
#include "tests/fuzz/target.h"
#include "tests/runtime/read_tables.h"

namespace mxc::fuzz {
namespace {

constexpr uint64_t kWeightBytes = 8192;

void RunTables(Bytes input) {
  const auto tables = runtime::Tables::Parse(input, kWeightBytes);
  if (!tables.ok()) return;
  const std::string wrong = test::ReadAll(*tables);
  if (!wrong.empty()) Wrong(wrong);
}

}  // namespace

extern const Target tables;
const Target tables = {
    .run = RunTables, .seeds = TablesOfArtifacts, .most_bytes = 4096};

}  // namespace mxc::fuzz
