// SPDX-License-Identifier: Apache-2.0
// One target as a program of libFuzzer's; MXC_FUZZ_TARGET names it.
//
//   fuzz_TARGET --make FOLDER      writes FOLDER/seeds and FOLDER/words
//   fuzz_TARGET CORPUS -dict=…     fuzzes; libFuzzer's options
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "tests/fuzz/corpus.h"
#include "tests/fuzz/target.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t most);

namespace mxc::fuzz {

extern const Target MXC_FUZZ_TARGET;

namespace {

Bytes BytesAt(const uint8_t* data, size_t size) {
  return std::as_bytes(std::span(data, size));
}

}  // namespace
}  // namespace mxc::fuzz

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  if (*argc == 3 && std::string_view((*argv)[1]) == "--make") {
    mxc::fuzz::MakeCorpus(mxc::fuzz::MXC_FUZZ_TARGET, (*argv)[2]);
    std::exit(0);
  }
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  mxc::fuzz::MXC_FUZZ_TARGET.run(mxc::fuzz::BytesAt(data, size));
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size,
                                          size_t most, unsigned seed) {
  size = LLVMFuzzerMutate(data, size, most);
  // Some keep a wrong checksum: that, too, is read.
  const auto seal = mxc::fuzz::MXC_FUZZ_TARGET.seal;
  if (seal != nullptr && seed % 16 != 0) {
    seal(std::as_writable_bytes(std::span(data, size)));
  }
  return size;
}
