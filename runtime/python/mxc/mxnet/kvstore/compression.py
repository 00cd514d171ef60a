# SPDX-License-Identifier: Apache-2.0
"""What compression makes of a worker's gradients."""

from .. import ndarray as nd


class TwoBits:
    """Three values are left of an element: threshold, 0, -threshold. What is lost is
    added to the key's next gradient."""

    def __init__(self, threshold):
        if threshold <= 0:
            raise ValueError(f"a threshold of {threshold}; expected more than 0")
        self._threshold, self._rest = threshold, {}

    def __call__(self, key, gradient):
        whole = gradient + self._rest[key] if key in self._rest else gradient
        sent = self._threshold * ((whole >= self._threshold)
                                  - (whole <= -self._threshold))
        self._rest[key] = whole - sent
        return nd.cast(sent, dtype=gradient.dtype)
