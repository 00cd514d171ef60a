// SPDX-License-Identifier: Apache-2.0
// What `mxc compile` is told of pictures and keeps in the artifact.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace mxc {

struct PictureSettings {
  std::string words;   // CompileRequest::pictures
  std::string labels;  // a file; empty: not said
};

// --mean, --std, --scale, --order, --orientation, --labels as `mxc run` has
// them, and --resize of the shorter side, or to stretch.
void AddPictureOptions(CLI::App& app, PictureSettings& settings);

}  // namespace mxc
