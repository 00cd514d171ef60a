// SPDX-License-Identifier: Apache-2.0
// Names of files that are being written, for a process that a signal ends
// meanwhile.
#pragma once

#include <string>

namespace mxc::runtime {

// Registers a name in a folder; the file itself is its owner's. Any thread.
class UnfinishedName {
 public:
  // `folder` is a descriptor that stays open as long; `name` has up to 255
  // bytes. Where too many names are registered, this one is not.
  UnfinishedName(int folder, const std::string& name);
  ~UnfinishedName();
  UnfinishedName(const UnfinishedName&) = delete;
  UnfinishedName& operator=(const UnfinishedName&) = delete;

 private:
  int slot_ = -1;
};

// For main: signals that end a process (SIGINT, SIGTERM, SIGHUP …) first remove
// the files whose names are registered, then do what they did. Those that are
// ignored or handled already are left alone. A file that grows beyond its limit
// (ulimit -f) becomes an error of the writing instead of SIGXFSZ.
void RemoveUnfinishedAtSignals();

// Removes them now, for a process that ends without its destructors. It takes
// no memory and no lock.
void RemoveUnfinished();

}  // namespace mxc::runtime
