# SPDX-License-Identifier: Apache-2.0
"""Trains a network on made-up pictures: python train.py lenet.json"""
import sys

import numpy as np

import mxc

labels = np.arange(640) % 10
images = np.random.default_rng(7).normal(0, 0.1, (640, 1, 28, 28))
images[np.arange(640), 0, 2 * labels + 4, :] += 1  # the class is a bright row
model = mxc.compile(sys.argv[1], init="xavier", entries=["train", "score"],
                    shapes={"data": (64, 1, 28, 28)}, attributes={"momentum": 0.9})
trainer = model.trainer()
history = trainer.fit(images, labels, epochs=3, lr=0.1, validation=0.1)
print(history)
print("accuracy", trainer.accuracy(images, labels))
