// SPDX-License-Identifier: Apache-2.0
// What mxc-run writes to a terminal goes through here, so that no name in a
// file can talk to it (runtime/base/visible.h).
#pragma once

#include <nlohmann/json.hpp>

namespace mxc::run {

// As printf, to stdout and to stderr. Line feeds in texts are printed: a name
// that stands for one thing in one line is made Visible before.
void PrintOut(const char* format, ...) __attribute__((format(printf, 1, 2)));
void PrintErr(const char* format, ...) __attribute__((format(printf, 1, 2)));

// Indented, to stdout. A name may hold anything: what is no UTF-8 becomes
// U+FFFD.
void PrintJson(const nlohmann::ordered_json& json);

}  // namespace mxc::run
