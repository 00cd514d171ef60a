# SPDX-License-Identifier: Apache-2.0
"""Changes of pictures: (H, W, C), or (N, H, W, C), before ToTensor; (C, H, W) after."""
import random

import numpy as np

from .... import image, ndarray
from ...block import Block, HybridBlock
from ...nn import HybridSequential, Sequential

__all__ = ["Compose", "HybridCompose", "Cast", "ToTensor", "Normalize", "RandomResizedCrop",
           "CropResize", "CenterCrop", "Resize", "RandomFlipLeftRight", "RandomFlipTopBottom",
           "RandomBrightness", "RandomContrast", "RandomSaturation", "RandomHue",
           "RandomColorJitter", "RandomLighting", "RandomApply", "HybridRandomApply", "Rotate",
           "RandomRotation"]


class Compose(Sequential):
    """Changes one after the other.

    They run operator by operator, for each picture has a shape of its own."""

    def __init__(self, transforms):
        super().__init__()
        self.add(*transforms)


class HybridCompose(HybridSequential):
    """Hybrid changes one after the other, one program for pictures of one shape."""

    def __init__(self, transforms):
        super().__init__()
        for each in transforms:
            if not isinstance(each, HybridBlock):
                raise ValueError(f"{each!r} is no HybridBlock: Compose takes others.")
        self.add(*transforms)
        self.hybridize()


class Cast(HybridBlock):
    """Another type of elements."""

    def __init__(self, dtype="float32"):
        super().__init__()
        self._dtype = dtype

    def hybrid_forward(self, F, x):
        return F.cast(x, self._dtype)


class RandomApply(Sequential):
    """`transforms` with probability `p`."""

    def __init__(self, transforms, p=0.5):
        super().__init__()
        self.transforms = transforms
        self.p = p

    def forward(self, x, *args):
        return x if self.p < random.random() else self.transforms(x)


class HybridRandomApply(HybridSequential):
    """`transforms`, a hybrid block, with probability `p`."""

    def __init__(self, transforms, p=0.5):
        super().__init__()
        assert isinstance(transforms, HybridBlock), "transforms is a HybridBlock."
        self.transforms = transforms
        self.p = p

    def hybrid_forward(self, F, x, *args):
        return F.where(F.random.uniform(shape=(1,)) > self.p, x, self.transforms(x))


class ToTensor(HybridBlock):
    """(H, W, C) from 0 to 255 as (C, H, W) float32 from 0 to 1."""

    def hybrid_forward(self, F, x):
        return F.image.to_tensor(x)


class Normalize(HybridBlock):
    """(x - mean) / std of each channel."""

    def __init__(self, mean=0.0, std=1.0):
        super().__init__()
        self._mean = mean
        self._std = std

    def hybrid_forward(self, F, x):
        return F.image.normalize(x, self._mean, self._std)


class Rotate(Block):
    """Turns (C, H, W) float32 by `rotation_degrees`; see `mx.image.imrotate`."""

    def __init__(self, rotation_degrees, zoom_in=False, zoom_out=False):
        super().__init__()
        self._args = (rotation_degrees, zoom_in, zoom_out)

    def forward(self, x):
        _must_be_float(x)
        return image.imrotate(x, *self._args)


class RandomRotation(Block):
    """Turns by an angle within `angle_limits`, with probability `rotate_with_proba`."""

    def __init__(self, angle_limits, zoom_in=False, zoom_out=False, rotate_with_proba=1.0):
        super().__init__()
        low, high = angle_limits
        if low >= high:
            raise ValueError(f"angle_limits are (lower, upper), not {angle_limits}.")
        if not 0 <= rotate_with_proba <= 1:
            raise ValueError(f"rotate_with_proba is from 0 to 1, not {rotate_with_proba}.")
        self._args = (angle_limits, zoom_in, zoom_out)
        self._rotate_with_proba = rotate_with_proba

    def forward(self, x):
        if np.random.random() > self._rotate_with_proba:
            return x
        _must_be_float(x)
        return image.random_rotate(x, *self._args)


def _must_be_float(x):
    if np.dtype(x.dtype) != np.float32:
        raise TypeError("A picture is turned as float32, after ToTensor, not as "
                        f"{np.dtype(x.dtype).name}.")


def _size(size):
    return (size, size) if isinstance(size, (int, float)) else tuple(size)


class RandomResizedCrop(Block):
    """A random part (`scale`: of the area, `ratio`: width by height), resized to `size`."""

    def __init__(self, size, scale=(0.08, 1.0), ratio=(3.0 / 4.0, 4.0 / 3.0), interpolation=1):
        super().__init__()
        self._args = (_size(size), scale, ratio, interpolation)

    def forward(self, x):
        return image.random_size_crop(x, *self._args)[0]


class CropResize(HybridBlock):
    """`width` x `height` pixels from (x, y), resized to `size` if given."""

    def __init__(self, x, y, width, height, size=None, interpolation=None):
        super().__init__()
        self._crop = {"x": x, "y": y, "width": width, "height": height}
        self._size = size
        self._interpolation = interpolation

    def hybrid_forward(self, F, x):
        out = F.image.crop(x, **self._crop)
        if self._size:
            resize = image.image.resize if F is ndarray else F.image.resize
            out = resize(out, self._size, False,
                         1 if self._interpolation is None else self._interpolation)
        return out


class CenterCrop(Block):
    """The middle, `size` = number or (width, height); what is smaller is enlarged."""

    def __init__(self, size, interpolation=1):
        super().__init__()
        self._args = (_size(size), interpolation)

    def forward(self, x):
        return image.center_crop(x, *self._args)[0]


class Resize(HybridBlock):
    """To `size`: (width, height), or a number; with `keep_ratio` that of the shorter side."""

    def __init__(self, size, keep_ratio=False, interpolation=1):
        super().__init__()
        self._keep = keep_ratio
        self._size = size
        self._interpolation = interpolation

    def hybrid_forward(self, F, x):
        if F is ndarray and self._interpolation > 1:
            return image.image.resize(x, self._size, self._keep, self._interpolation)
        return F.image.resize(x, self._size, self._keep, self._interpolation)


class RandomFlipLeftRight(HybridBlock):
    """Mirrored, every other time."""

    def hybrid_forward(self, F, x):
        return F.image.random_flip_left_right(x)


class RandomFlipTopBottom(HybridBlock):
    """Upside down, every other time."""

    def hybrid_forward(self, F, x):
        return F.image.random_flip_top_bottom(x)


def _limits(amount):
    return max(0, 1 - amount), 1 + amount


class RandomBrightness(HybridBlock):
    """Times a number from 1 - brightness to 1 + brightness."""

    def __init__(self, brightness):
        super().__init__()
        self._args = _limits(brightness)

    def hybrid_forward(self, F, x):
        return F.image.random_brightness(x, *self._args)


class RandomContrast(HybridBlock):
    """Contrast from 1 - contrast to 1 + contrast."""

    def __init__(self, contrast):
        super().__init__()
        self._args = _limits(contrast)

    def hybrid_forward(self, F, x):
        return F.image.random_contrast(x, *self._args)


class RandomSaturation(HybridBlock):
    """Saturation from 1 - saturation to 1 + saturation."""

    def __init__(self, saturation):
        super().__init__()
        self._args = _limits(saturation)

    def hybrid_forward(self, F, x):
        return F.image.random_saturation(x, *self._args)


class RandomHue(HybridBlock):
    """Hue from 1 - hue to 1 + hue."""

    def __init__(self, hue):
        super().__init__()
        self._args = _limits(hue)

    def hybrid_forward(self, F, x):
        return F.image.random_hue(x, *self._args)


class RandomColorJitter(HybridBlock):
    """Brightness, contrast, saturation and hue, in a random order."""

    def __init__(self, brightness=0, contrast=0, saturation=0, hue=0):
        super().__init__()
        self._args = (brightness, contrast, saturation, hue)

    def hybrid_forward(self, F, x):
        return F.image.random_color_jitter(x, *self._args)


class RandomLighting(HybridBlock):
    """AlexNet's noise along the colours' principal components, of deviation `alpha`."""

    def __init__(self, alpha):
        super().__init__()
        self._alpha = alpha

    def hybrid_forward(self, F, x):
        return F.image.random_lighting(x, self._alpha)
