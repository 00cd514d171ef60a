// SPDX-License-Identifier: Apache-2.0
// What a program is, and what it runs on.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace mxc {

// {"version": "0.1.0", "commit": "9350253ab12c", "cpu": {"model": …, "level":
// "x86-64-v3", "features": "SSE4.2, AVX2 with FMA"}}. The level is the highest
// target whose code this processor runs; MXC_MAX_CPU holds it down.
nlohmann::ordered_json VersionReport();

// The report for people: "mxc 0.1.0", then a line for each other key.
std::string VersionText(const std::string& program,
                        const nlohmann::ordered_json& report);

}  // namespace mxc
