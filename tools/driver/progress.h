// SPDX-License-Identifier: Apache-2.0
// What a compilation says while it runs.
#pragma once

#include <optional>
#include <string_view>

namespace mxc {

// Hears everything and passes nothing on. All calls come from the thread that
// compiles.
class Progress {
 public:
  virtual ~Progress() = default;
  // A phase has ended: "read", "437 nodes, 161 parameters, 97.5 MiB". Without
  // seconds it is a remark.
  virtual void Phase(std::string_view name, std::string_view text,
                     std::optional<double> seconds = {}) {
    (void)name, (void)text, (void)seconds;
  }
  // Nothing is wrong, but the user may have meant something else.
  virtual void Warning(std::string_view text) { (void)text; }
  // What is measured now; empty: nothing any more.
  virtual void Measuring(std::string_view text) { (void)text; }
};

}  // namespace mxc
