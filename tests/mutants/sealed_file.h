// SPDX-License-Identifier: Apache-2.0
// An artifact taken apart, to be changed and put together again with all
// checksums and digests right, as somebody would who means harm.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "runtime/abi/abi.h"

namespace mxc::test {

struct SealedFile {
  std::array<std::string, MXC_SECTION_COUNT> sections;

  // `bytes` are those of a good artifact.
  explicit SealedFile(const std::string& bytes);

  // Sections on pages, the tables' checksum in the code, SHA-256 in the
  // manifest, the trailer. `change` may spoil the trailer before its own
  // checksum is computed.
  template <class Change>
  std::string Seal(Change change) const {
    mxc_trailer trailer = {};
    std::string file = Content(trailer);
    change(trailer);
    return file + Close(trailer);
  }
  std::string Seal() const {
    return Seal([](mxc_trailer&) {});
  }

  // The parts of the code that are no instructions and no constants of these:
  // what a reader or the dynamic linker believes. Begin and size. Where kernels
  // begin is not among them: that is what the code does.
  std::vector<std::pair<size_t, size_t>> PartsOfCode() const;

 private:
  std::string Content(mxc_trailer& trailer) const;
  static std::string Close(mxc_trailer& trailer);
};

}  // namespace mxc::test
