// SPDX-License-Identifier: Apache-2.0
// The file around an artifact: its trailer and its sections.
#pragma once

#include <string>

#include "runtime/abi/abi.h"
#include "runtime/base/bytes.h"
#include "runtime/base/file.h"
#include "runtime/base/status.h"

namespace mxc::runtime {

class Container {
 public:
  // Checks the trailer, where the sections lie, and the checksums of code,
  // tables and manifest: what every load relies on.
  static StatusOr<Container> Open(const std::string& path);

  Bytes section(mxc_section_kind kind) const;
  Status CheckSection(mxc_section_kind kind) const;

  const mxc_trailer& trailer() const { return trailer_; }
  const Descriptor& file() const { return file_; }
  // As it was opened by.
  const std::string& path() const { return path_; }

 private:
  Status ReadTrailer();
  Status CheckPlaces() const;
  Status CheckMachine() const;

  std::string path_;
  Descriptor file_;
  MappedFile mapping_;
  mxc_trailer trailer_{};
};

}  // namespace mxc::runtime
