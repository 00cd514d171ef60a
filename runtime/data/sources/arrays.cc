// SPDX-License-Identifier: Apache-2.0
// Arrays of a program that has them in memory (IteratorOptions::arrays): their
// first axis counts the samples. No command line can name them.
#include <utility>

#include "runtime/data/columns.h"

namespace mxc::data {
namespace {

struct ArraysOptions {
  template <class Fields>
  void Describe(Fields&) {}
};

StatusOr<std::vector<Column>> ColumnsOf(const std::vector<NamedArray>& arrays) {
  std::vector<Column> columns;
  for (const NamedArray& named : arrays) {
    NpzMember member{named.name,
                     {.type = named.array.type,
                      .shape = named.array.shape,
                      .elements = named.array.bytes(),
                      .copy = nullptr},
                     named.array.storage};
    MXC_RT_RETURN_IF_ERROR(CheckArray(member));
    columns.emplace_back(named.name, std::move(member));
  }
  return columns;
}

StatusOr<std::unique_ptr<Source>> OpenArrays(const SourceRequest& request) {
  ArraysOptions options;
  MXC_RT_RETURN_IF_ERROR(request.ReadOptions("arrays", &options));
  if (request.arrays == nullptr) {
    return Status(StatusCode::kInvalidArgument,
                  "they are a program's, which gives none");
  }
  Columns columns;
  MXC_RT_ASSIGN(columns.data, ColumnsOf(request.arrays->data));
  MXC_RT_ASSIGN(columns.labels, ColumnsOf(request.arrays->labels));
  constexpr double kAsTheyAre = 1;
  return SourceOf(std::move(columns), kAsTheyAre, "sample");
}

}  // namespace

extern const SourceKind kArrays;
const SourceKind kArrays = {
    "arrays", "arrays", "", false, DescribeOptions<ArraysOptions>, OpenArrays};

}  // namespace mxc::data
