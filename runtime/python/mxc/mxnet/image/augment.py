# SPDX-License-Identifier: Apache-2.0
"""Augmenters: changes of pictures, drawn at random or not."""
import json
import random

import numpy as np

from .. import ndarray
from ..ndarray import NDArray
from .image import (center_crop, color_normalize, imresize, random_crop,
                    random_size_crop, resize_short)

__all__ = ["Augmenter", "SequentialAug", "ResizeAug", "ForceResizeAug", "RandomCropAug",
           "RandomSizedCropAug", "CenterCropAug", "RandomOrderAug", "BrightnessJitterAug",
           "ContrastJitterAug", "SaturationJitterAug", "HueJitterAug", "ColorJitterAug",
           "LightingAug", "ColorNormalizeAug", "RandomGrayAug", "HorizontalFlipAug", "CastAug",
           "CreateAugmenter"]

_GREY = np.array([0.299, 0.587, 0.114], dtype=np.float32)


def _plain(value):
    """`value` as JSON has it."""
    if isinstance(value, NDArray):
        value = value.asnumpy()
    return value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value


class Augmenter:
    """A change of a picture (H, W, C): called, it returns another one."""

    def __init__(self, **kwargs):
        self._kwargs = {key: _plain(value) for key, value in kwargs.items()}

    def dumps(self):
        """Its name and settings as JSON."""
        return json.dumps([type(self).__name__.lower(), self._kwargs])

    def __call__(self, src):
        raise NotImplementedError(f"{type(self).__name__} has no __call__.")


def _changed(src, change):
    """`change` of the values as float32, in the type that `src` has."""
    values = src.asnumpy()
    result = change(values.astype(np.float32))
    return ndarray.array(result.astype(values.dtype), dtype=values.dtype, ctx=src.context)


class SequentialAug(Augmenter):
    """Augmenters one after the other."""

    def __init__(self, ts):
        super().__init__()
        self.ts = ts

    def dumps(self):
        return [type(self).__name__.lower(), [each.dumps() for each in self.ts]]

    def __call__(self, src):
        for each in self.ts:
            src = each(src)
        return src


class RandomOrderAug(SequentialAug):
    """Augmenters in an order that is drawn."""

    def __call__(self, src):
        random.shuffle(self.ts)
        return super().__call__(src)


class ResizeAug(Augmenter):
    """The shorter side becomes `size`."""

    def __init__(self, size, interp=2):
        super().__init__(size=size, interp=interp)
        self.size = size
        self.interp = interp

    def __call__(self, src):
        return resize_short(src, self.size, self.interp)


class ForceResizeAug(Augmenter):
    """To `size` (width, height), whatever the ratio."""

    def __init__(self, size, interp=2):
        super().__init__(size=size, interp=interp)
        self.size = size
        self.interp = interp

    def __call__(self, src):
        return imresize(src, *self.size, interp=self.interp)


class RandomCropAug(Augmenter):
    """`random_crop`."""

    def __init__(self, size, interp=2):
        super().__init__(size=size, interp=interp)
        self.size = size
        self.interp = interp

    def __call__(self, src):
        return random_crop(src, self.size, self.interp)[0]


class RandomSizedCropAug(Augmenter):
    """`random_size_crop`."""

    def __init__(self, size, area, ratio, interp=2, **kwargs):
        area = kwargs.pop("min_area", area)
        super().__init__(size=size, area=area, ratio=ratio, interp=interp)
        self.size = size
        self.area = area
        self.ratio = ratio
        self.interp = interp

    def __call__(self, src):
        return random_size_crop(src, self.size, self.area, self.ratio, self.interp)[0]


class CenterCropAug(Augmenter):
    """`center_crop`."""

    def __init__(self, size, interp=2):
        super().__init__(size=size, interp=interp)
        self.size = size
        self.interp = interp

    def __call__(self, src):
        return center_crop(src, self.size, self.interp)[0]


class BrightnessJitterAug(Augmenter):
    """Times a number from 1 - brightness to 1 + brightness."""

    def __init__(self, brightness):
        super().__init__(brightness=brightness)
        self.brightness = brightness

    def __call__(self, src):
        alpha = 1.0 + random.uniform(-self.brightness, self.brightness)
        return _changed(src, lambda values: values * alpha)


class ContrastJitterAug(Augmenter):
    """Between the picture and its mean grey."""

    def __init__(self, contrast):
        super().__init__(contrast=contrast)
        self.contrast = contrast

    def __call__(self, src):
        alpha = 1.0 + random.uniform(-self.contrast, self.contrast)
        return _changed(src, lambda values: values * alpha +
                        (1.0 - alpha) * (values * _GREY).sum(axis=2).mean())


class SaturationJitterAug(Augmenter):
    """Between the picture and its grey."""

    def __init__(self, saturation):
        super().__init__(saturation=saturation)
        self.saturation = saturation

    def __call__(self, src):
        alpha = 1.0 + random.uniform(-self.saturation, self.saturation)
        return _changed(src, lambda values: values * alpha +
                        (1.0 - alpha) * (values * _GREY).sum(axis=2, keepdims=True))


class HueJitterAug(Augmenter):
    """Colours turned in YIQ, by up to `hue` half turns."""

    _TO_YIQ = np.array([[0.299, 0.587, 0.114], [0.596, -0.274, -0.321], [0.211, -0.523, 0.311]])
    _FROM_YIQ = np.array([[1.0, 0.956, 0.621], [1.0, -0.272, -0.647], [1.0, -1.107, 1.705]])

    def __init__(self, hue):
        super().__init__(hue=hue)
        self.hue = hue

    def __call__(self, src):
        angle = random.uniform(-self.hue, self.hue) * np.pi
        cos, sin = np.cos(angle), np.sin(angle)
        turn = np.array([[1.0, 0.0, 0.0], [0.0, cos, -sin], [0.0, sin, cos]])
        matrix = (self._FROM_YIQ @ turn @ self._TO_YIQ).T
        return _changed(src, lambda values: values @ matrix)


class ColorJitterAug(RandomOrderAug):
    """Brightness, contrast and saturation, in a random order."""

    def __init__(self, brightness, contrast, saturation):
        super().__init__([kind(amount) for kind, amount in (
            (BrightnessJitterAug, brightness), (ContrastJitterAug, contrast),
            (SaturationJitterAug, saturation)) if amount > 0])


class LightingAug(Augmenter):
    """Noise of deviation `alphastd` along the colours' principal components."""

    def __init__(self, alphastd, eigval, eigvec):
        super().__init__(alphastd=alphastd, eigval=eigval, eigvec=eigvec)
        self.alphastd = alphastd
        self.eigval = eigval
        self.eigvec = eigvec

    def __call__(self, src):
        alpha = np.random.normal(0, self.alphastd, size=(3,))
        noise = np.dot(np.asarray(self.eigvec) * alpha, np.asarray(self.eigval))
        return _changed(src, lambda values: values + noise)


class ColorNormalizeAug(Augmenter):
    """(src - mean) / std of each channel."""

    def __init__(self, mean, std):
        super().__init__(mean=mean, std=std)
        self.mean = _array(mean)
        self.std = _array(std)

    def __call__(self, src):
        return color_normalize(src, self.mean, self.std)


def _array(value):
    return value if value is None or isinstance(value, NDArray) else ndarray.array(value)


class RandomGrayAug(Augmenter):
    """Grey, with probability `p`."""

    _WEIGHTS = np.array([[0.21], [0.72], [0.07]], dtype=np.float32)

    def __init__(self, p):
        super().__init__(p=p)
        self.p = p

    def __call__(self, src):
        if random.random() >= self.p:
            return src
        return _changed(src, lambda values: np.repeat(values @ self._WEIGHTS, 3, axis=2))


class HorizontalFlipAug(Augmenter):
    """Mirrored, with probability `p`."""

    def __init__(self, p):
        super().__init__(p=p)
        self.p = p

    def __call__(self, src):
        return ndarray.flip(src, axis=1) if random.random() < self.p else src


class CastAug(Augmenter):
    """Another type of elements."""

    def __init__(self, typ="float32"):
        super().__init__(type=typ)
        self.typ = typ

    def __call__(self, src):
        return src.astype(self.typ)


_MEAN, _STD = np.array([123.68, 116.28, 103.53]), np.array([58.395, 57.12, 57.375])
_EIGENVALUES = np.array([55.46, 4.794, 1.148])
_EIGENVECTORS = np.array([[-0.5675, 0.7192, 0.4009], [-0.5808, -0.0045, -0.8140],
                          [-0.5836, -0.6948, 0.4203]])


def normalizing(mean, std):
    """The augmenters of `mean` and `std`: True for those of ImageNet, None for none."""
    mean = _MEAN if mean is True else mean
    std = _STD if std is True else std
    for what, value in (("mean", mean), ("std", std)):
        assert value is None or np.shape(value)[0] in (1, 3), (
            f"{what} has one number, or three, not {np.shape(value)}.")
    return [] if mean is None and std is None else [ColorNormalizeAug(mean, std)]


def colouring(brightness, contrast, saturation, hue, pca_noise, rand_gray):
    """The augmenters of colours, those whose amount is not 0."""
    found = []
    if brightness or contrast or saturation:
        found.append(ColorJitterAug(brightness, contrast, saturation))
    if hue:
        found.append(HueJitterAug(hue))
    if pca_noise > 0:
        found.append(LightingAug(pca_noise, _EIGENVALUES, _EIGENVECTORS))
    if rand_gray > 0:
        found.append(RandomGrayAug(rand_gray))
    return found


def CreateAugmenter(data_shape, resize=0, rand_crop=False, rand_resize=False, rand_mirror=False,
                    mean=None, std=None, brightness=0, contrast=0, saturation=0, hue=0,
                    pca_noise=0, rand_gray=0, inter_method=2):
    """The list of augmenters that these settings mean, for pictures of `data_shape` (C, H, W).

    `resize`: of the shorter side first; `rand_resize` crops a random size, too."""
    found = [ResizeAug(resize, inter_method)] if resize > 0 else []
    size = (data_shape[2], data_shape[1])
    if rand_resize:
        assert rand_crop, "rand_resize is of a random crop: rand_crop=True."
        found.append(RandomSizedCropAug(size, 0.08, (3.0 / 4.0, 4.0 / 3.0), inter_method))
    elif rand_crop:
        found.append(RandomCropAug(size, inter_method))
    else:
        found.append(CenterCropAug(size, inter_method))
    if rand_mirror:
        found.append(HorizontalFlipAug(0.5))
    found.append(CastAug())
    found += colouring(brightness, contrast, saturation, hue, pca_noise, rand_gray)
    return found + normalizing(mean, std)
