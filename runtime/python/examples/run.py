# SPDX-License-Identifier: Apache-2.0
"""Compiles a network and runs it: python run.py lenet.json"""
import sys

import numpy as np

import mxc

model = mxc.compile(sys.argv[1], init="xavier", seed=7)
image = np.zeros(model.entries[0].inputs[0].shape, np.float32)
probabilities = model(image)
print(probabilities.shape, round(float(probabilities.sum()), 3))
