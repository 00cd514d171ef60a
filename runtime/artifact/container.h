// SPDX-License-Identifier: Apache-2.0
// The file around an artifact: its trailer and its sections.
#pragma once

#include <array>
#include <functional>
#include <string>

#include "runtime/abi/abi.h"
#include "runtime/base/bytes.h"
#include "runtime/base/file.h"
#include "runtime/base/status.h"

namespace mxc::runtime {

// What a caller thinks of a file, which is there as a whole; a status that is
// not ok is a refusal. May be empty.
using Approval = std::function<Status(Bytes file)>;

class Container {
 public:
  // Checks the trailer, asks for approval, checks where the sections lie, and
  // the checksums of code, tables and manifest: what every load relies on.
  static StatusOr<Container> Open(const std::string& path,
                                  const Approval& approve = {});

  Bytes section(mxc_section_kind kind) const;
  Bytes bytes() const { return mapping_.bytes(); }
  Status CheckSection(mxc_section_kind kind) const;
  // Refuses anything but zeros outside of the sections.
  Status CheckGaps() const;
  // As MappedFile's.
  void Forget(Bytes part) const { mapping_.Forget(part); }

  const mxc_trailer& trailer() const { return trailer_; }
  const Descriptor& file() const { return file_; }
  // As it was opened by.
  const std::string& path() const { return path_; }

 private:
  Status ReadTrailer();
  Status CheckPlaces() const;
  std::array<mxc_section, MXC_SECTION_COUNT> InOrder() const;

  std::string path_;
  Descriptor file_;
  MappedFile mapping_;
  mxc_trailer trailer_{};
};

}  // namespace mxc::runtime
