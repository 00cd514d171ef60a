// SPDX-License-Identifier: Apache-2.0
// Options of `mxc serve`.
#pragma once

#include <CLI/CLI.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tools/run/picture_input.h"
#include "tools/run/session.h"

namespace mxc::serve {

struct ServeOptions {
  run::SessionOptions session;
  run::PictureOptions pictures;
  std::vector<std::string> models;  // further ones, NAME=FILE
  std::string web;                  // a page's folder, instead of networks
  std::string host = "127.0.0.1";
  int port = 8080;                 // 0: any that is free
  size_t workers = 1;              // requests at once
  size_t most_waiting = 16384;     // requests
  uint64_t most_bytes = 64 << 20;  // of a body
  int request_seconds = 60;        // until a request is whole
  int queue_seconds = 60;          // that a request may wait for a worker
  int batch_delay = 0;             // milliseconds that it waits for others
  size_t client_connections = 0;   // of one address; 0: any number
  double client_rate = 0;          // requests a second; 0: any number
  std::string key_file;            // "": nobody is asked for a key
  std::string certificate, private_key;  // "": no TLS
  std::string log;                       // "": stderr
  bool quiet = false;                    // no line for each request there
};

void DeclareServe(CLI::App& app, ServeOptions& options);

}  // namespace mxc::serve
