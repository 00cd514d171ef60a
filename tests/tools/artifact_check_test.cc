// SPDX-License-Identifier: Apache-2.0
// An artifact that somebody changed and made all checksums of right again.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

#include "tests/mutants/sealed_file.h"
#include "tests/runtime/test_artifact.h"
#include "tests/support/temporary_folder.h"

namespace mxc::test {
namespace {

// A network with weights, the digests of its sections and a golden one.
std::string CompiledFile(const TemporaryFolder& folder,
                         const std::string& network,
                         const std::string& options = "") {
  WriteText(folder.File("net.json"), network);
  const std::string path = folder.File("net.mxa");
  const std::string command = std::string(MXC_BIN) + " compile " +
                              folder.File("net.json") + " -o " + path +
                              " --init one --target x86-64-v2 --golden on "
                              "--object-cache off --quiet " +
                              options;
  REQUIRE(std::system(command.c_str()) == 0);
  return TextOf(path);
}

bool Passes(const std::string& path, const std::string& check) {
  const std::string command =
      std::string(MXC_BIN) + " inspect " + path + " " + check;
  return std::system((command + " >/dev/null 2>&1").c_str()) == 0;
}

void Replace(std::string& text, const std::string& from,
             const std::string& to) {
  const size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  text.replace(at, from.size(), to);
}

}  // namespace

TEST_CASE("bytes between sections, which no checksum covers, are told") {
  const TemporaryFolder folder("gaps");
  const std::string good =
      CompiledFile(folder, R"({"mxc": 1, "inputs": {"data": [1, 4]}, "nodes":
                               [{"op": "FullyConnected", "num_hidden": 3}]})");
  mxc_trailer trailer;
  std::memcpy(&trailer, good.data() + good.size() - sizeof trailer,
              sizeof trailer);
  int gaps = 0;
  for (const mxc_section& section : trailer.sections) {
    const uint64_t end = section.offset + section.size;
    if (end % MXC_PAGE == 0 || good.size() - end == sizeof trailer) continue;
    ++gaps;
    for (const uint64_t at : {end, (end / MXC_PAGE + 1) * MXC_PAGE - 1}) {
      std::string hiding = good;
      hiding[at] = 'x';
      CHECK_FALSE(Passes(WriteTemporary("hiding.mxa", hiding), "--check"));
    }
  }
  CHECK(gaps >= 3);
}

TEST_CASE("digests tell what checksums do not") {
  const TemporaryFolder folder("check");
  const std::string good =
      CompiledFile(folder, R"({"mxc": 1, "inputs": {"data": [1, 4]}, "nodes":
                               [{"op": "FullyConnected", "num_hidden": 3}]})");
  const auto check = [&](bool sound, bool golden,
                         const std::function<void(SealedFile&)>& change) {
    SealedFile file(good);
    change(file);
    const std::string path = WriteTemporary("resealed.mxa", file.Seal());
    CHECK(Passes(path, "--check") == sound);
    CHECK(Passes(path, "--check --run") == golden);
  };
  check(true, true, [](SealedFile&) {});
  // All is right but what it computes.
  check(true, false, [](SealedFile& file) {
    // The first number is 0 or 1, and 2 or infinite then.
    file.sections[MXC_SECTION_WEIGHTS][3] ^= 0x40;
  });
  check(true, false, [](SealedFile& file) {
    std::string& manifest = file.sections[MXC_SECTION_MANIFEST];
    const size_t at = manifest.find("golden: ") + 8;
    manifest[at] = manifest[at] == '0' ? '1' : '0';
  });
  // A digest that is gone, so that nobody makes it right.
  for (const char* key :
       {"sha256_code", "sha256_weights", "sha256_tables", "sha256_symbol"}) {
    CAPTURE(std::string(key));
    check(false, false, [&](SealedFile& file) {
      Replace(file.sections[MXC_SECTION_MANIFEST], key, "sha512");
    });
  }
}

// The golden digest needs a run of the entry that trains: it must not change
// what the file says that parameters are before the first one.
TEST_CASE("a file that was run when it was made holds its initial values") {
  constexpr int kOutputs = 64, kInputs = 64;
  const TemporaryFolder folder("check");
  const SealedFile file(
      CompiledFile(folder, R"({"mxc": 1, "inputs": {"data": [2, 64]}, "nodes": [
                  {"op": "FullyConnected", "num_hidden": 64, "no_bias": true},
                  {"op": "SoftmaxOutput", "name": "softmax"}]})",
                   "--entry train,score"));
  const std::string& weights = file.sections[MXC_SECTION_WEIGHTS];
  std::vector<float> values(kOutputs * kInputs);
  REQUIRE(weights.size() >= values.size() * sizeof(float));
  std::memcpy(values.data(), weights.data(), values.size() * sizeof(float));
  CHECK(std::ranges::count(values, 1.0f) == std::ssize(values));
}

}  // namespace mxc::test
