// SPDX-License-Identifier: Apache-2.0
// NumPy's .npz: a zip archive of .npy members, stored without compression, as
// numpy.savez writes it. Dates are fixed, so equal arrays give equal bytes.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "runtime/base/status.h"
#include "runtime/formats/array.h"

namespace mxc::runtime {

// Members are called NAME.npy; of a name '/', '\\' and '%' are written %2F, %5C
// and %25, and what is hidden as Visible shows it (runtime/base/visible.h).
//
// Refuses bfloat16, which NumPy lacks, names that appear twice, and archives of
// 4 GiB or more.
Status WriteNpz(const std::string& path, std::span<const NamedArray> arrays);

// The name whose member is called so: without .npy, %2F, %5C and %25 undone.
std::string NameOfMember(std::string_view member);

}  // namespace mxc::runtime
