// SPDX-License-Identifier: Apache-2.0
// Seconds that a program takes for its first call of each of 300 operators and
// shapes, kernels neither in memory nor on disk, and for the same in a process
// that finds its kernels on disk: cold_calls_bench [once]. With `once`: of this
// process alone, with whatever XDG_CACHE_HOME holds.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/base/clock.h"
#include "tools/imperative/mxc_ndarray.h"

namespace {

void Require(mxc_status* status) {
  if (status == nullptr) return;
  std::fprintf(stderr, "%s\n", mxc_status_message(status));
  std::exit(1);
}

using Dims = std::vector<int64_t>;
using Attrs = std::vector<std::pair<const char*, const char*>>;

struct Case {
  const char* name;
  Attrs attrs;
  std::vector<Dims> inputs;
};

constexpr const char* kUnary[] = {
    "abs",     "sign",    "rint",    "ceil",     "floor",      "trunc",
    "square",  "sqrt",    "rsqrt",   "cbrt",     "exp",        "log",
    "log10",   "log2",    "log1p",   "expm1",    "sin",        "cos",
    "tan",     "arcsin",  "arccos",  "arctan",   "sinh",       "cosh",
    "tanh",    "arcsinh", "arccosh", "arctanh",  "degrees",    "radians",
    "sigmoid", "relu",    "erf",     "softsign", "reciprocal", "negative",
    "gamma",   "gammaln"};
constexpr const char* kBinary[] = {
    "broadcast_add",     "broadcast_sub",         "broadcast_mul",
    "broadcast_div",     "broadcast_power",       "broadcast_maximum",
    "broadcast_minimum", "broadcast_hypot",       "broadcast_equal",
    "broadcast_greater", "broadcast_lesser_equal"};
constexpr const char* kScalar[] = {
    "_plus_scalar", "_minus_scalar", "_rminus_scalar",  "_mul_scalar",
    "_div_scalar",  "_rdiv_scalar",  "_maximum_scalar", "_greater_scalar"};
constexpr const char* kReduction[] = {"sum", "mean", "prod",
                                      "max", "min",  "norm"};

// 100 operators and attributes for matrices of `rows` x `columns`.
std::vector<Case> CasesFor(int64_t rows, int64_t columns) {
  const Dims matrix = {rows, columns}, row = {1, columns};
  std::vector<Case> cases;
  for (const char* name : kUnary) cases.push_back({name, {}, {matrix}});
  for (const char* name : kBinary) {
    cases.push_back({name, {}, {matrix, matrix}});
    cases.push_back({name, {}, {matrix, row}});
  }
  for (const char* name : kScalar) {
    cases.push_back({name, {{"scalar", "2"}}, {matrix}});
  }
  for (const char* name : kReduction) {
    cases.push_back({name, {}, {matrix}});
    cases.push_back({name, {{"axis", "0"}}, {matrix}});
    cases.push_back({name, {{"axis", "1"}, {"keepdims", "1"}}, {matrix}});
  }
  const std::vector<Case> others = {
      {"softmax", {}, {matrix}},
      {"log_softmax", {}, {matrix}},
      {"transpose", {}, {matrix}},
      {"argmax", {{"axis", "1"}}, {matrix}},
      {"one_hot", {{"depth", "5"}}, {{rows}}},
      {"take", {}, {matrix, {3}}},
      {"Concat", {{"dim", "1"}, {"num_args", "2"}}, {matrix, matrix}},
      {"slice_axis", {{"axis", "1"}, {"begin", "1"}, {"end", "3"}}, {matrix}},
      {"FullyConnected", {{"num_hidden", "6"}}, {matrix, {6, columns}, {6}}},
      {"dot", {{"transpose_b", "1"}}, {matrix, matrix}},
      {"LayerNorm", {}, {matrix, {columns}, {columns}}},
      {"clip", {{"a_min", "0"}, {"a_max", "1"}}, {matrix}},
      {"where", {}, {matrix, matrix, matrix}},
      {"sgd_update", {{"lr", "0.1"}}, {matrix, matrix}},
  };
  cases.insert(cases.end(), others.begin(), others.end());
  return cases;
}

mxc_ndarray* Ones(const Dims& dims) {
  int64_t elements = 1;
  for (const int64_t dim : dims) elements *= dim;
  const std::vector<float> ones(static_cast<size_t>(elements), 1.0F);
  mxc_ndarray* array = nullptr;
  Require(mxc_ndarray_create(MXC_F32, dims.data(), dims.size(), ones.data(),
                             &array));
  return array;
}

void Call(const Case& call) {
  std::vector<const char*> names, values;
  for (const auto& [name, value] : call.attrs) {
    names.push_back(name);
    values.push_back(value);
  }
  mxc_ndarray_op* op = nullptr;
  Require(mxc_ndarray_op_find(call.name, names.data(), values.data(),
                              names.size(), &op));
  std::vector<mxc_ndarray*> inputs;
  for (const Dims& dims : call.inputs) inputs.push_back(Ones(dims));
  mxc_ndarray* output = nullptr;
  Require(mxc_ndarray_op_call(op, inputs.data(), inputs.size(), &output, 1, 0));
  Require(mxc_ndarray_wait(output));
  for (mxc_ndarray* input : inputs) mxc_ndarray_release(input);
  mxc_ndarray_release(output);
  mxc_ndarray_op_release(op);
}

void Measure(const char* what) {
  const int64_t begin = mxc::runtime::Nanoseconds();
  int calls = 0;
  for (const auto& [rows, columns] :
       std::vector<std::pair<int64_t, int64_t>>{{4, 4}, {7, 5}, {32, 10}}) {
    for (const Case& call : CasesFor(rows, columns)) {
      Call(call);
      ++calls;
    }
  }
  std::printf("%s: %d calls in %.3f s\n", what, calls,
              static_cast<double>(mxc::runtime::Nanoseconds() - begin) / 1e9);
}

// In a process of its own, which has nothing in memory.
void MeasureAlone(const char* what) {
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    Measure(what);
    std::fflush(stdout);
    std::_Exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (status != 0) std::exit(1);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == "once") {
    Measure("once");
    return 0;
  }
  std::string folder = "/tmp/mxc_cold_calls_XXXXXX";
  if (mkdtemp(folder.data()) == nullptr) return 1;
  setenv("XDG_CACHE_HOME", folder.c_str(), 1);
  for (int round = 0; round < 3; ++round) {
    std::filesystem::remove_all(folder + "/mxc");
    MeasureAlone("cold");
    MeasureAlone("warm");
  }
  std::filesystem::remove_all(folder);
  return 0;
}
