#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# version: MXNet 1.9.1 with NumPy 1.23.5, from PyPI
# expected: random_saturation, of which gluon's RandomSaturation and
#   RandomColorJitter are made, moves each pixel to or from its grey,
#   0.299 R + 0.587 G + 0.114 B, so that factor 0 gives a grey picture as bright
# seen: it moves them to 0.114 B alone: the pixel (200, 100, 50), whose grey is
#   124.2, becomes 5.7 in each channel. Less saturation is a darker picture, the
#   more so the less blue it has. SaturationJitterAug of mx.image does it right.
. "$(dirname "${BASH_SOURCE[0]}")/prepare.bash"

install_python mxnet==1.9.1 numpy==1.23.5
seen=$(run_python <<'END'
import random

import mxnet

picture = mxnet.nd.array([[[200, 100, 50]]])
random.uniform = lambda low, high: low  # the augmenter's factor: 1 - 1
augmenter = mxnet.image.SaturationJitterAug(1)
operator = mxnet.nd.image.random_saturation
for grey in operator(picture, 0, 0), augmenter(picture):
    print(*(f"{each:.1f}" for each in grey.asnumpy().ravel()))
END
)
same "$seen" "5.7 5.7 5.7
124.2 124.2 124.2"
