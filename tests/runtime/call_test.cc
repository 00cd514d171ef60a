// SPDX-License-Identifier: Apache-2.0
// Functions that models call: those of a program, and LAPACK's.
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "runtime/library/registry.h"
#include "tests/runtime/api.h"
#include "tests/runtime/block_artifacts.h"

namespace mxc::test {
namespace {

constexpr uint8_t kByte = 3;

// What the function saw, and what it is to return.
struct Seen {
  std::string attributes, name;
  int64_t elements = 0;
  uint64_t workspace_bytes = 0;
  bool aligned = false;
  int answer = 0;
};

// out = in reversed, by way of the workspace.
int Turn(const mxc_call* call) {
  auto& seen = *static_cast<Seen*>(call->user_data);
  if (call->struct_size < sizeof *call || call->operand_count != 2 ||
      call->input_count != 1) {
    return 77;
  }
  const mxc_tensor& in = call->operands[0];
  seen.attributes = call->attributes;
  seen.name = in.name;
  seen.elements = in.dims[0];
  seen.workspace_bytes = call->workspace_bytes;
  seen.aligned = reinterpret_cast<uintptr_t>(call->workspace) % 64 == 0;
  std::memcpy(call->workspace, call->data[0], in.bytes);
  const auto* from = static_cast<const float*>(call->workspace);
  auto* to = static_cast<float*>(call->data[1]);
  for (int64_t i = 0; i < seen.elements; ++i) {
    to[i] = from[seen.elements - 1 - i];
  }
  return seen.answer;
}

// data → scale → a → turn → b → scale → result
TestArtifact TurnArtifact() {
  TestEntry e;
  e.buffers = {{"data", {kWide}, MXC_BUFFER_INPUT},
               {"a", {kWide}, MXC_BUFFER_INTERNAL, 0},
               {"b", {kWide}, MXC_BUFFER_INTERNAL, 4096},
               {"work", {4096}, MXC_BUFFER_INTERNAL, 8192},
               {"result", {kWide}, MXC_BUFFER_OUTPUT}};
  e.buffers[3].dtype = kByte;
  e.steps = {{"scale", kScale, {0}, {1}, 64},
             Call(1, {1}, {2, 3}, "axis=0", MXC_CALL_WORKSPACE),
             {"scale again", kScale, {2}, {4}, 64}};
  e.inputs = {0};
  e.outputs = {4};
  e.arena_bytes = 3 * 4096;
  TestArtifact artifact;
  artifact.imports = {{"potrf", 1}, {"mxc_test_turn", 3}};
  artifact.entries = {e};
  return artifact;
}

Seen& Registered() {
  static Seen seen;
  static const std::string message =
      Message(mxc_register_function("mxc_test_turn", 3, &Turn, &seen));
  CHECK(message == "");
  seen = {};
  return seen;
}

}  // namespace

TEST_CASE("a model calls a function of the program") {
  Seen& seen = Registered();
  const ModelHandle model = Open(WriteTemporary("turn", TurnArtifact().File()));
  for (const int threads : {1, 3}) {
    const ExecutorHandle executor = Bind(model.get(), threads, true);
    const std::vector<float> data = ChainInput(4);
    SetInput(executor.get(), data);
    REQUIRE(Message(mxc_run(executor.get())) == "");
    const std::vector<float> result = Output(executor.get(), 0);
    for (size_t i = 0; i < data.size(); ++i) {
      REQUIRE(result[i] == 2 * (2 * data[data.size() - 1 - i] + 1) + 1);
    }
    CHECK(seen.attributes == "axis=0");
    CHECK(seen.name == "a");
    CHECK(seen.elements == kWide);
    CHECK(seen.workspace_bytes == 4096);
    CHECK(seen.aligned);
    const int64_t* times = nullptr;
    size_t count = 0;
    REQUIRE(Message(mxc_step_times(executor.get(), &times, &count)) == "");
    CHECK(times[1] > 0);
  }
}

TEST_CASE("a function that fails ends the run with its number") {
  Seen& seen = Registered();
  const ModelHandle model = Open(WriteTemporary("turn", TurnArtifact().File()));
  const ExecutorHandle executor = Bind(model.get(), 3);
  SetInput(executor.get(), ChainInput(4));
  REQUIRE(Message(mxc_run(executor.get())) == "");
  const std::vector<float> before = Output(executor.get(), 0);
  SetInput(executor.get(), ChainInput(5));
  seen.answer = 12;
  mxc_status* status = mxc_run(executor.get());
  CHECK(mxc_status_code(status) == MXC_FAILED);
  CHECK(
      Message(status) ==
      "step 'call': version 3 of function 'mxc_test_turn' has failed with 12");
  CHECK(Output(executor.get(), 0) == before);
  seen.answer = 0;
  CHECK(Message(mxc_run(executor.get())) == "");
  CHECK(Output(executor.get(), 0) != before);
}

TEST_CASE("a function within a repeat sees the windows of each turn") {
  Registered();
  TestArtifact artifact = ScanArtifact();
  TestEntry& e = artifact.entries.front();
  e.buffers.push_back({"work", {4096}, MXC_BUFFER_INTERNAL, e.arena_bytes});
  e.buffers.back().dtype = kByte;
  e.arena_bytes += 4096;
  e.steps[1] = Repeat(3, kTurns, {1}, MXC_REPEAT_COUNT);
  e.steps[3] = Call(0, {5}, {9, 12}, "", MXC_CALL_WORKSPACE);
  artifact.imports = {{"mxc_test_turn", 3}};
  const ModelHandle model = Open(WriteTemporary("rows", artifact.File()));
  const ExecutorHandle executor = Bind(model.get(), 2);
  std::vector<float> xs(kTurns * kWide);
  for (size_t i = 0; i < xs.size(); ++i) xs[i] = static_cast<float>(i);
  const int64_t count = kTurns;
  REQUIRE(Message(mxc_set_input(executor.get(), "xs", xs.data(),
                                xs.size() * 4)) == "");
  REQUIRE(Message(mxc_set_input(executor.get(), "count", &count, 8)) == "");
  REQUIRE(Message(mxc_run(executor.get())) == "");
  const std::vector<float> ys = Output(executor.get(), 0);
  for (int64_t t = 0; t < kTurns; ++t) {
    CHECK(ys[t * kWide] == xs[(t + 1) * kWide - 1]);
    CHECK(ys[(t + 1) * kWide - 1] == xs[t * kWide]);
  }
}

TEST_CASE(
    "functions that nobody knows, and names that are taken, are refused") {
  Registered();
  TestArtifact artifact = TurnArtifact();
  artifact.imports[1].version = 4;
  mxc_code code;
  CHECK(Contains(Refusal(WriteTemporary("import", artifact.File()), &code),
                 "calls version 4 of a function 'mxc_test_turn', which is "
                 "not registered"));
  CHECK(code == MXC_UNSUPPORTED);
  CHECK(Message(mxc_register_function("mxc_test_turn", 3, &Turn, nullptr)) ==
        "version 3 of a function 'mxc_test_turn' is registered already");
  CHECK(Message(mxc_register_function("potrf", 1, &Turn, nullptr)) ==
        "version 1 of a function 'potrf' is registered already");
  CHECK(Message(mxc_register_function("", 1, &Turn, nullptr)) ==
        "a function without a name");
}

TEST_CASE("every rule of calls is enforced") {
  Registered();
  const auto check = [](const char* message, auto change) {
    TestArtifact artifact = TurnArtifact();
    change(artifact.entries.front());
    const std::string complaint =
        Refusal(WriteTemporary("calls", artifact.File()));
    CAPTURE(complaint);
    CHECK(complaint.ends_with(message));
  };
  check("entry 0, step 1: no such import",
        [](TestEntry& e) { e.steps[1].kernel = Kernel(2); });
  check("entry 0, step 1: unknown flags",
        [](TestEntry& e) { e.steps[1].flags = 2; });
  check("entry 0, step 1: a call with tasks or a block of steps",
        [](TestEntry& e) { e.steps[1].body = 1; });
  check("entry 0, step 1: a call without its workspace", [](TestEntry& e) {
    e.steps[1].inputs = {1, 2, 3};
    e.steps[1].outputs = {};
  });
  check("entry 0, step 1: a workspace that is no u8 in the arena",
        [](TestEntry& e) { e.buffers[3].dtype = 5; });
  check("entry 0, step 1: writes to an input or a weight",
        [](TestEntry& e) { e.steps[1].outputs = {0, 3}; });
}

namespace {

// One matrix, row-major.
struct Matrix {
  int64_t rows = 0, columns = 0;
  std::vector<double> values;
  double& at(int64_t i, int64_t j) { return values[i * columns + j]; }
  double at(int64_t i, int64_t j) const { return values[i * columns + j]; }
};

Matrix Draw(int64_t rows, int64_t columns, uint32_t seed) {
  Matrix matrix = {rows, columns, std::vector<double>(rows * columns)};
  for (double& value : matrix.values) {
    seed = seed * 1664525 + 1013904223;
    value = static_cast<double>(seed >> 8) / (1 << 23) - 1;
  }
  return matrix;
}

Matrix Transposed(const Matrix& a) {
  Matrix t = {a.columns, a.rows, std::vector<double>(a.values.size())};
  for (int64_t i = 0; i < a.rows; ++i) {
    for (int64_t j = 0; j < a.columns; ++j) t.at(j, i) = a.at(i, j);
  }
  return t;
}

Matrix Product(const Matrix& a, const Matrix& b) {
  Matrix c = {a.rows, b.columns, std::vector<double>(a.rows * b.columns)};
  for (int64_t i = 0; i < a.rows; ++i) {
    for (int64_t k = 0; k < a.columns; ++k) {
      for (int64_t j = 0; j < b.columns; ++j)
        c.at(i, j) += a.at(i, k) * b.at(k, j);
    }
  }
  return c;
}

double Distance(const Matrix& a, const Matrix& b) {
  REQUIRE(a.values.size() == b.values.size());
  double distance = 0;
  for (size_t i = 0; i < a.values.size(); ++i) {
    distance = std::max(distance, std::abs(a.values[i] - b.values[i]));
  }
  return distance;
}

Matrix Unit(int64_t n) {
  Matrix unit = {n, n, std::vector<double>(n * n)};
  for (int64_t i = 0; i < n; ++i) unit.at(i, i) = 1;
  return unit;
}

Matrix LowerOf(const Matrix& a) {
  Matrix lower = a;
  for (int64_t i = 0; i < a.rows; ++i) {
    for (int64_t j = i + 1; j < a.columns; ++j) lower.at(i, j) = 0;
  }
  return lower;
}

// Symmetric with eigenvalues of 1 and more.
Matrix Definite(int64_t n) {
  Matrix a = Draw(n, n, 3);
  a = Product(a, Transposed(a));
  for (int64_t i = 0; i < n; ++i) a.at(i, i) += 1;
  return a;
}

// Calls a function that the runtime knows, on batches of one f64 matrix.
int Compute(const char* name, const std::vector<Matrix>& inputs,
            std::vector<Matrix*> outputs, const char* attributes = "",
            uint64_t workspace_bytes = 0) {
  const auto function = runtime::FindFunction(name, 1);
  REQUIRE(function.ok());
  std::vector<Matrix> in = inputs;
  std::vector<std::vector<int64_t>> dims;
  std::vector<mxc_tensor> tensors;
  std::vector<void*> data;
  const auto add = [&](Matrix& m) {
    dims.push_back({1, m.rows, m.columns});
    data.push_back(m.values.data());
  };
  for (Matrix& m : in) add(m);
  for (Matrix* m : outputs) add(*m);
  for (size_t k = 0; k < dims.size(); ++k) {
    const uint64_t bytes = static_cast<uint64_t>(dims[k][1] * dims[k][2]) * 8;
    tensors.push_back({"", MXC_F64, 3, dims[k].data(), bytes, MXC_USE_OTHER});
  }
  std::vector<double> workspace(workspace_bytes / 8 + 1);
  const mxc_call call = {sizeof call,      tensors.size(),  in.size(),
                         tensors.data(),   data.data(),     attributes,
                         workspace.data(), workspace_bytes, nullptr};
  return function->function(&call);
}

bool HasLapack() { return runtime::FindFunction("potrf", 1).ok(); }

}  // namespace

TEST_CASE("Cholesky's factors and inverses are what they multiply to" *
          doctest::skip(!HasLapack())) {
  for (const int64_t n : {1, 2, 5, 80}) {
    CAPTURE(n);
    const Matrix a = Definite(n);
    Matrix l = a, u = a, inverse = a;
    REQUIRE(Compute("potrf", {a}, {&l}) == 0);
    CHECK(Distance(Product(l, Transposed(l)), a) < 1e-10);
    CHECK(Distance(LowerOf(l), l) == 0);
    REQUIRE(Compute("potrf", {a}, {&u}, "lower=0") == 0);
    CHECK(Distance(Product(Transposed(u), u), a) < 1e-10);
    REQUIRE(Compute("potri", {l}, {&inverse}) == 0);
    CHECK(Distance(Product(inverse, a), Unit(n)) < 1e-8);
    REQUIRE(Compute("potri", {u}, {&inverse}, "lower=0") == 0);
    CHECK(Distance(Product(inverse, a), Unit(n)) < 1e-8);
  }
  Matrix indefinite = Unit(3), factor = indefinite;
  indefinite.at(1, 1) = -1;
  CHECK(Compute("potrf", {indefinite}, {&factor}) == 2);  // the second pivot
}

TEST_CASE("triangular systems are solved from either side" *
          doctest::skip(!HasLapack())) {
  Matrix lower = LowerOf(Draw(6, 6, 5));
  for (int64_t i = 0; i < 6; ++i) lower.at(i, i) += 4;
  const Matrix b = Draw(6, 3, 7), c = Draw(3, 6, 9);
  Matrix x = b, y = c;
  REQUIRE(Compute("trsm", {lower, b}, {&x}) == 0);
  CHECK(Distance(Product(lower, x), b) < 1e-12);
  REQUIRE(Compute("trsm", {lower, b}, {&x}, "transpose=1") == 0);
  CHECK(Distance(Product(Transposed(lower), x), b) < 1e-12);
  REQUIRE(Compute("trsm", {Transposed(lower), b}, {&x}, "lower=0") == 0);
  CHECK(Distance(Product(Transposed(lower), x), b) < 1e-12);
  REQUIRE(Compute("trsm", {lower, c}, {&y}, "rightside=1") == 0);
  CHECK(Distance(Product(y, lower), c) < 1e-12);
}

TEST_CASE("orthonormal rows and eigenvectors" * doctest::skip(!HasLapack())) {
  const Matrix a = Draw(4, 9, 11);
  Matrix q = a, l = Unit(4);
  REQUIRE(Compute("gelqf", {a}, {&q, &l}, "", 33 * 4 * 8) == 0);
  CHECK(Distance(Product(l, q), a) < 1e-12);
  CHECK(Distance(Product(q, Transposed(q)), Unit(4)) < 1e-12);
  CHECK(Distance(LowerOf(l), l) == 0);

  constexpr int64_t n = 40;
  const Matrix symmetric = Definite(n);
  Matrix u = symmetric, values = {1, n, std::vector<double>(n)};
  REQUIRE(Compute("syevd", {symmetric}, {&u, &values}, "",
                  (1 + 6 * n + 2 * n * n) * 8 + (3 + 5 * n) * 4) == 0);
  Matrix scaled = u;
  for (int64_t i = 0; i < n; ++i) {
    CHECK((i == 0 || values.values[i - 1] <= values.values[i]));
    double greatest = 0;
    for (int64_t j = 0; j < n; ++j) {
      scaled.at(i, j) *= values.values[i];
      if (std::abs(u.at(i, j)) > std::abs(greatest)) greatest = u.at(i, j);
    }
    CHECK(greatest > 0);
  }
  CHECK(Distance(Product(Transposed(u), scaled), symmetric) < 1e-10);
}

TEST_CASE("operands that a factorization cannot have are refused" *
          doctest::skip(!HasLapack())) {
  const Matrix square = Definite(4), wide = Draw(4, 5, 1);
  Matrix out = square;
  CHECK(Compute("potrf", {wide}, {&out}) == -1000);
  CHECK(Compute("potrf", {square, square}, {&out}) == -1000);
  CHECK(Compute("trsm", {square, Transposed(wide)}, {&out}) == -1000);
  Matrix l = square, q = wide;
  CHECK(Compute("gelqf", {Transposed(wide)}, {&q, &l}, "", 1 << 16) == -1000);
  CHECK(Compute("gelqf", {wide}, {&q, &l}, "", 8) == -1000);
  CHECK(Compute("syevd", {square}, {&out, &l}, "", 1 << 16) == -1000);
}

}  // namespace mxc::test
