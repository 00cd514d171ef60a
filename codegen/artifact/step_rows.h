// SPDX-License-Identifier: Apache-2.0
// The rows of steps, and of the functions that they call.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "codegen/artifact/flat_program.h"
#include "codegen/artifact/table_lists.h"
#include "codegen/codegen.h"

namespace mxc {

struct Call;
struct Repeat;

class StepRows {
 public:
  StepRows(const CodeImage& code, TableLists& lists)
      : code_(code), lists_(lists) {}

  // The step at row `at` of the entry.
  void Add(const FlatProgram& flat, size_t at, const StepCode& step_code);

  const std::vector<mxc_step>& rows() const { return rows_; }
  const std::vector<mxc_import>& imports() const { return imports_; }

 private:
  void SetKind(const FlatProgram& flat, size_t at, mxc_step& row);
  void SetOperands(const Program& program, const Step& step, mxc_step& row);
  void SetRepeat(const Repeat& repeat, const Step& step, mxc_step& row);
  void SetCall(const Call& call, mxc_step& row);

  const CodeImage& code_;
  TableLists& lists_;
  std::vector<mxc_step> rows_;
  std::vector<mxc_import> imports_;
  std::map<std::pair<std::string, uint32_t>, uint32_t> import_rows_;
};

}  // namespace mxc
