// SPDX-License-Identifier: Apache-2.0
// What `serve` is told: mxc-run parses it for help and mistakes, mxc-serve to
// obey it.
#pragma once

#include <CLI/CLI.hpp>
#include <cstddef>
#include <cstdint>
#include <string>

#include "tools/run/picture_input.h"
#include "tools/run/session.h"

namespace mxc::run {

struct ServeOptions {
  SessionOptions session;
  PictureOptions pictures;
  std::string host = "127.0.0.1";
  int port = 8080;                 // 0: any that is free
  size_t workers = 1;              // requests at once
  uint64_t most_bytes = 64 << 20;  // of a body
  bool quiet = false;              // no line for each request
};

void DeclareServe(CLI::App& app, ServeOptions& options);

}  // namespace mxc::run
