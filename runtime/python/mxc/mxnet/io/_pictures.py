# SPDX-License-Identifier: Apache-2.0
"""Options of ImageRecordIter that the source of pictures has in another form."""

import numpy as np

# Of the colours of ImageNet's pictures: by how much they vary, and along what
# (A. Krizhevsky, I. Sutskever, G. Hinton: ImageNet Classification with Deep
# Convolutional Neural Networks, 4.1).
_VARIANCES = np.array([55.46, 4.794, 1.148])
_DIRECTIONS = np.array([[-0.5675, 0.7192, 0.4009],
                        [-0.5808, -0.0045, -0.8140],
                        [-0.5836, -0.6948, 0.4203]])


def with_aspects(options):
    """max_aspect_ratio alone is a distance from 1 either way; 0 changes nothing."""
    options = dict(options)
    least, most = (options.pop(name, None) for name in
                   ("min_aspect_ratio", "max_aspect_ratio"))
    if least is None:
        if not most:
            return options
        least, most = 1 - most, 1 + most
    if not options.get("random_resized_crop"):
        raise NotImplementedError("aspect ratios are drawn with random_resized_crop "
                                  "alone")
    return {**options, "min_aspect_ratio": least,
            "max_aspect_ratio": 1 if most is None else most}


def lighting(deviation, options):
    """What adds to the colours of each picture of a batch (samples, 3, height, width)
    numbers of this deviation along their directions."""
    factors = np.array([options.get("scale", 1) / options.get(f"std_{color}", 1)
                        for color in "rgb"])
    draw = np.random.RandomState(options.get("seed_aug") or options.get("seed") or 0)

    def finish(batch):
        if batch.shape[1] != 3:
            return batch
        drawn = draw.normal(0, deviation, (batch.shape[0], 3)) * _VARIANCES
        added = drawn @ _DIRECTIONS.T * factors
        return (batch + added[:, :, None, None]).astype(batch.dtype)
    return finish
