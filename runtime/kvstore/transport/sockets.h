// SPDX-License-Identifier: Apache-2.0
// TCP ("10.0.0.7:4711", "[::1]:4711", "host:4711") and sockets of this machine
// ("unix:/run/job/server-0"). A port of 0 is chosen by the system; "fd:3" is a
// socket that listens already, from the parent process.
#pragma once

#include <memory>

#include "runtime/kvstore/transport/transport.h"

namespace mxc::kvstore {

// Bytes that the other end's machine has not confirmed break the connection
// after `silence`, as probes that nobody answers do.
StatusOr<std::unique_ptr<Transport>> MakeSockets(Time silence = 5 * kSecond);

}  // namespace mxc::kvstore
