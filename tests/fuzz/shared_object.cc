// SPDX-License-Identifier: Apache-2.0
// The machine code of an artifact, as it is read before it is loaded.
#include "runtime/artifact/shared_object.h"

#include <cstdint>
#include <cstring>

#include "tests/fuzz/target.h"
#include "tests/support/temporary_folder.h"

namespace mxc::fuzz {
namespace {

void RunSharedObject(Bytes input) {
  // In a file it begins on a page.
  std::vector<uint64_t> aligned((input.size() + 7) / 8);
  if (!input.empty()) {
    std::memcpy(aligned.data(), input.data(), input.size());
  }
  const Bytes bytes = std::as_bytes(std::span(aligned)).first(input.size());
  const auto object = runtime::SharedObject::Read(bytes);
  if (!object.ok()) return;
  for (const char* name : {"mxc_abi", "mxc_kernels", "mxc_limits"}) {
    const auto symbol = object->Find(name);
    if (symbol) Touch(symbol->bytes);
  }
  for (const auto& relocation : object->relocations()) {
    (void)object->IsExecutable(relocation.target);
  }
}

std::vector<std::string> SharedObjectSeeds() {
  return {test::TextOf(MXC_TEST_KERNELS)};
}

}  // namespace

extern const Target shared_object;
const Target shared_object = {
    .run = RunSharedObject,
    .seeds = SharedObjectSeeds,
    .most_bytes = 1 << 15,
    .words = {"mxc_abi", "mxc_kernels", "mxc_limits", "mxc_operands"}};

}  // namespace mxc::fuzz
