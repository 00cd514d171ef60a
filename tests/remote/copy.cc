// SPDX-License-Identifier: Apache-2.0
// usage: mxc-copy URL…: the path of a copy of each, or why there is none.
#include <cstdio>

#include "runtime/remote/remote.h"

int main(int count, char** words) {
  int failures = 0;
  for (int i = 1; i < count; ++i) {
    const auto path = mxc::remote::LocalCopy(words[i]);
    if (!path.ok()) ++failures;
    std::puts(path.ok() ? path->c_str() : path.status().message().c_str());
  }
  return failures == 0 ? 0 : 1;
}
