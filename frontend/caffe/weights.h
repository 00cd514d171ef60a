// SPDX-License-Identifier: Apache-2.0
// The blobs of a .caffemodel as arrays with the names that the importer gives to
// parameters: NAME_weight, NAME_bias and so on, by the type of the layer.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "frontend/caffe/schema.h"
#include "frontend/frontend.h"

namespace mxc::caffe {

// Of a net of the newest generation. Blobs that layers share are there once, for
// the first of them; sums of a BatchNorm are divided by their factor. Where
// blobs have four axes whatever they are, as those of older generations, they
// get those that their layer has. `path` is for messages.
Result<ParameterArrays> ArraysOf(const NetParameter& net,
                                 const std::string& path);

// Of a file's bytes. Settings of layers are not looked at, so that the weights of
// every fork are read.
Result<ParameterArrays> ReadWeights(std::span<const std::byte> bytes,
                                    const std::string& path);

}  // namespace mxc::caffe
