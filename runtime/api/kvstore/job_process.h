// SPDX-License-Identifier: Apache-2.0
// What mxc_kvstore_options say of a process.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runtime/kvstore/settings.h"
#include "runtime/kvstore/transport/tls.h"
#include "runtime/mxc_kvstore.h"

namespace mxc::kvstore {

// A process of a job.
struct JobProcess {
  KeyTable keys;  // those of the program, then a mesh's
  Settings settings;
  std::vector<std::string> servers;
  std::unique_ptr<Transport> transport;
  std::unique_ptr<Tls> tls;
};

// "options without 'keys'".
Status Lacks(const char* what);
StatusOr<KeyTable> KeysOf(const mxc_kvstore_options& options);
// Returns whether workers sum among themselves.
bool Reduces(const mxc_kvstore_options& options);
StatusOr<JobProcess> MakeNode(const mxc_kvstore_options& options,
                              const KeyTable& keys, Side side);

}  // namespace mxc::kvstore
