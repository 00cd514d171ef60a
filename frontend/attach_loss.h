// SPDX-License-Identifier: Apache-2.0
// A loss for networks whose files have none, as exported ones do.
#pragma once

#include <string>
#include <vector>

#include "ir/graph/graph.h"
#include "ir/support/result.h"

namespace mxc {

// "softmax_cross_entropy", "mse" …: what AttachLoss knows, in its order.
std::vector<std::string> LossNames();

// Makes a loss head of one output, which is the only one then: its value is the
// prediction, its gradient that of the loss, as MXNet's heads have it. `loss` is
// one of LossNames, or NAME:OUTPUT where the network has several outputs. A
// softmax or sigmoid that the head computes itself is left out. The label is a
// new input, "<head>_label".
//   softmax_cross_entropy   SoftmaxOutput, over axis 1 of [N, K] and of pictures
//                           [N, K, H, W], over the last axis of [N, T, K]; or as
//                           the network's own softmax has it
//   binary_cross_entropy    LogisticRegressionOutput
//   mse, mae                LinearRegressionOutput, MAERegressionOutput
//   hinge                   SVMOutput
// Fails where the output does not exist, and where it is a loss already.
Status AttachLoss(const std::string& loss, Graph& graph);

}  // namespace mxc
