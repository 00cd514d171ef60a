// SPDX-License-Identifier: Apache-2.0
// --functions: libraries of functions that networks call (mxc_load_functions).
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "runtime/mxc.h"

namespace mxc {

// Loads them while the command line is parsed. They stay loaded.
inline void DeclareFunctions(CLI::App& app) {
  app.add_option_function<std::vector<std::string>>(
         "--functions",
         [](const std::vector<std::string>& files) {
           for (const std::string& file : files) {
             mxc_status* status = mxc_load_functions(file.c_str());
             if (status == nullptr) continue;
             const std::string message = mxc_status_message(status);
             mxc_status_release(status);
             throw CLI::ValidationError("--functions", message);
           }
         },
         "a shared library of the functions that a network calls; it runs as "
         "part of the command")
      ->allow_extra_args(false)
      ->type_name("FILE");
}

}  // namespace mxc
