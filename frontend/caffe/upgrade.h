// SPDX-License-Identifier: Apache-2.0
// Definitions of every generation → the newest one. Source:
// src/caffe/util/upgrade_proto.cpp of BVLC/caffe, whose order counts:
//   V0   `layers { layer { type: "conv" … } }`: layers that only pad become the
//        padding of the next one; fields move to the messages of their types
//   what sources crop moves to transform_param
//   V1   `layers { type: CONVOLUTION … }` become `layer { type: "Convolution" }`
//   net  `input`, `input_dim` and `input_shape` become a layer of type Input
#pragma once

#include <memory>

#include "frontend/caffe/schema.h"
#include "ir/support/diagnostic.h"
#include "ir/support/result.h"

namespace mxc::caffe {

// What Caffe passes over as well becomes a note. `source` is where places point.
Status UpgradeNet(NetParameter& net,
                  const std::shared_ptr<const SourceFile>& source,
                  Diagnostics& notes);

// V0 → V1 alone; nothing where the net is no V0.
Status UpgradeV0(NetParameter& net,
                 const std::shared_ptr<const SourceFile>& source,
                 Diagnostics& notes);

}  // namespace mxc::caffe
