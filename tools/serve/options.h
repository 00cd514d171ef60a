// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <cstddef>
#include <cstdint>
#include <string>

#include "tools/run/picture_input.h"
#include "tools/run/session.h"

namespace mxc::serve {

struct ServeOptions {
  run::SessionOptions session;
  run::PictureOptions pictures;
  std::string host = "127.0.0.1";
  int port = 8080;                 // 0: any that is free
  size_t workers = 1;              // requests at once
  size_t most_waiting = 16384;     // requests
  uint64_t most_bytes = 64 << 20;  // of a body
  int request_seconds = 60;        // until a request is whole
  bool quiet = false;              // no line for each request
};

void DeclareServe(CLI::App& app, ServeOptions& options);

}  // namespace mxc::serve
