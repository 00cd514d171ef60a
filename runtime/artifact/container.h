// SPDX-License-Identifier: Apache-2.0
// The file around an artifact: its trailer and its sections.
#pragma once

#include <array>
#include <functional>
#include <string>

#include "runtime/abi/abi.h"
#include "runtime/base/bytes.h"
#include "runtime/base/file.h"
#include "runtime/base/memory.h"
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
  // The same for a file's bytes in memory, of which it keeps a copy. `name` is
  // for messages.
  static StatusOr<Container> Copy(Bytes file, const std::string& name,
                                  const Approval& approve = {});

  Bytes section(mxc_section_kind kind) const;
  Bytes bytes() const { return bytes_; }
  Status CheckSection(mxc_section_kind kind) const;
  // Refuses anything but zeros outside of the sections.
  Status CheckGaps() const;
  // As MappedFile's; a copy stays.
  void Forget(Bytes part) const {
    if (file() != nullptr) mapping_.Forget(part);
  }

  const mxc_trailer& trailer() const { return trailer_; }
  // Null for a copy.
  const Descriptor* file() const { return file_.get() < 0 ? nullptr : &file_; }

 private:
  Status Check(const Approval& approve);
  Status ReadTrailer();
  Status CheckPlaces() const;
  std::array<mxc_section, MXC_SECTION_COUNT> InOrder() const;

  Descriptor file_;
  MappedFile mapping_;
  Region copy_;
  Bytes bytes_;
  mxc_trailer trailer_{};
};

}  // namespace mxc::runtime
