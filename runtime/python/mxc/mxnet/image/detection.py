# SPDX-License-Identifier: Apache-2.0
"""Pictures with boxes: augmenters that change both, and ImageDetIter.

A label has a row for each object: class, then left, top, right, bottom from 0 to 1."""
import json
import random
from numbers import Number

import numpy as np

from .. import ndarray
from .augment import (Augmenter, CastAug, ForceResizeAug, ResizeAug, colouring, normalizing)
from .image import copyMakeBorder, fixed_crop
from .iterator import ImageIter

__all__ = ["DetAugmenter", "DetBorrowAug", "DetRandomSelectAug", "DetHorizontalFlipAug",
           "DetRandomCropAug", "DetRandomPadAug", "CreateMultiRandCropAugmenter",
           "CreateDetAugmenter", "ImageDetIter"]


class DetAugmenter(Augmenter):
    """A change of a picture and its label: called, it returns both."""

    def __call__(self, src, label):
        raise NotImplementedError(f"{type(self).__name__} has no __call__.")


class DetBorrowAug(DetAugmenter):
    """An augmenter that moves nothing, of the picture alone."""

    def __init__(self, augmenter):
        if not isinstance(augmenter, Augmenter):
            raise TypeError(f"DetBorrowAug wants an Augmenter, not {augmenter!r}.")
        super().__init__(augmenter=augmenter.dumps())
        self.augmenter = augmenter

    def __call__(self, src, label):
        return self.augmenter(src), label


class DetRandomSelectAug(DetAugmenter):
    """One of `aug_list`, or with probability `skip_prob` none."""

    def __init__(self, aug_list, skip_prob=0):
        super().__init__(skip_prob=skip_prob)
        aug_list = aug_list if isinstance(aug_list, (list, tuple)) else [aug_list]
        for each in aug_list:
            if not isinstance(each, DetAugmenter):
                raise ValueError(f"DetRandomSelectAug wants DetAugmenters; {each!r} is none.")
        self.aug_list = aug_list
        self.skip_prob = skip_prob if aug_list else 1

    def dumps(self):
        return json.dumps([type(self).__name__.lower(), [each.dumps() for each in self.aug_list]])

    def __call__(self, src, label):
        if random.random() < self.skip_prob:
            return src, label
        return random.choice(self.aug_list)(src, label)


class DetHorizontalFlipAug(DetAugmenter):
    """Mirrored, with probability `p`."""

    def __init__(self, p):
        super().__init__(p=p)
        self.p = p

    def __call__(self, src, label):
        if random.random() >= self.p:
            return src, label
        label = label.copy()
        label[:, 1], label[:, 3] = 1.0 - label[:, 3], 1.0 - label[:, 1]
        return ndarray.flip(src, axis=1), label


def _areas(boxes):
    return np.maximum(0, boxes[:, 2] - boxes[:, 0]) * np.maximum(0, boxes[:, 3] - boxes[:, 1])


def _limits(value):
    return (value, 1.0) if isinstance(value, Number) else tuple(value)


class DetRandomCropAug(DetAugmenter):
    """A random part that shows at least `min_object_covered` of an object.

    Its share of the area is within `area_range`, width by height within
    `aspect_ratio_range`. Objects of which less than `min_eject_coverage` is left go.
    `max_attempts` draws are made."""

    def __init__(self, min_object_covered=0.1, aspect_ratio_range=(0.75, 1.33),
                 area_range=(0.05, 1.0), min_eject_coverage=0.3, max_attempts=50):
        aspect_ratio_range = _limits(aspect_ratio_range)
        area_range = _limits(area_range)
        super().__init__(min_object_covered=min_object_covered,
                         aspect_ratio_range=aspect_ratio_range, area_range=area_range,
                         min_eject_coverage=min_eject_coverage, max_attempts=max_attempts)
        self.min_object_covered = min_object_covered
        self.min_eject_coverage = min_eject_coverage
        self.max_attempts = max_attempts
        self.aspect_ratio_range = aspect_ratio_range
        self.area_range = area_range
        self.enabled = 0 < area_range[0] <= area_range[1] and \
            0 < aspect_ratio_range[0] <= aspect_ratio_range[1]

    def __call__(self, src, label):
        height, width = src.shape[:2]
        found = self._draw(label, height, width) if self.enabled else None
        if found is None:
            return src, label
        x, y, w, h, label = found
        return fixed_crop(src, x, y, w, h, None), label

    def _draw(self, label, height, width):
        """(x, y, w, h, label) of a part that will do, or None."""
        for _ in range(self.max_attempts):
            ratio = random.uniform(*self.aspect_ratio_range)
            area = random.uniform(*self.area_range) * height * width
            w, h = int(round(np.sqrt(area * ratio))), int(round(np.sqrt(area / ratio)))
            if not 0 < w <= width or not 0 < h <= height or w * h < 2:
                continue
            x, y = random.randint(0, width - w), random.randint(0, height - h)
            part = (x / width, y / height, (x + w) / width, (y + h) / height)
            left = self._labels(label, part)
            if left is not None:
                return x, y, w, h, left
        return None

    def _labels(self, label, part):
        """The label within `part`, or None where it shows too little."""
        boxes = label[:, 1:5]
        clipped = np.concatenate([np.maximum(boxes[:, :2], part[:2]),
                                  np.minimum(boxes[:, 2:], part[2:])], axis=1)
        before = _areas(boxes)
        shown = np.where(before > 0, _areas(clipped) / np.maximum(before, 1e-12), 0)
        if not (shown > 0).any() or shown[shown > 0].min() < self.min_object_covered:
            return None
        kept = shown > self.min_eject_coverage
        if not kept.any():
            return None
        out = label[kept].copy()
        size = np.array([part[2] - part[0], part[3] - part[1]] * 2)
        out[:, 1:5] = np.clip((clipped[kept] - np.array(part[:2] * 2)) / size, 0, 1)
        return out


class DetRandomPadAug(DetAugmenter):
    """The picture somewhere in a larger one of `pad_val`.

    The larger one's area is `area_range` times it, width by height `aspect_ratio_range`
    times its."""

    def __init__(self, aspect_ratio_range=(0.75, 1.33), area_range=(1.0, 3.0), max_attempts=50,
                 pad_val=(128, 128, 128)):
        if isinstance(area_range, Number):
            area_range = (1.0, area_range)
        aspect_ratio_range = _limits(aspect_ratio_range)
        pad_val = (pad_val,) if isinstance(pad_val, Number) else tuple(pad_val)
        super().__init__(aspect_ratio_range=aspect_ratio_range, area_range=area_range,
                         max_attempts=max_attempts, pad_val=pad_val)
        self.pad_val = pad_val
        self.aspect_ratio_range = aspect_ratio_range
        self.area_range = area_range
        self.max_attempts = max_attempts
        self.enabled = area_range[1] > 1.0 and area_range[0] <= area_range[1] and \
            0 < aspect_ratio_range[0] <= aspect_ratio_range[1]

    def __call__(self, src, label):
        height, width = src.shape[:2]
        found = self._draw(height, width) if self.enabled else None
        if found is None:
            return src, label
        x, y, w, h = found
        label = label.copy()
        label[:, (1, 3)] = (label[:, (1, 3)] * width + x) / w
        label[:, (2, 4)] = (label[:, (2, 4)] * height + y) / h
        return copyMakeBorder(src, y, h - y - height, x, w - x - width, type=0,
                              values=self.pad_val), label

    def _draw(self, height, width):
        """(x, y, w, h) of the larger picture, or None."""
        for _ in range(self.max_attempts):
            ratio = random.uniform(*self.aspect_ratio_range)
            area = random.uniform(*self.area_range) * height * width
            w, h = int(round(np.sqrt(area * ratio))), int(round(np.sqrt(area / ratio)))
            if w >= width and h >= height and (w, h) != (width, height):
                return random.randint(0, w - width), random.randint(0, h - height), w, h
        return None


def CreateMultiRandCropAugmenter(min_object_covered=0.1, aspect_ratio_range=(0.75, 1.33),
                                 area_range=(0.05, 1.0), min_eject_coverage=0.3,
                                 max_attempts=50, skip_prob=0):
    """One of several DetRandomCropAugs: each setting is one, or a list of them."""
    settings = [min_object_covered, aspect_ratio_range, area_range, min_eject_coverage,
                max_attempts]
    lists = [each if isinstance(each, list) else [each] for each in settings]
    count = max(map(len, lists))
    for each in lists:
        assert len(each) in (1, count), f"Settings are one, or {count} each."
    lists = [each * count if len(each) == 1 else each for each in lists]
    return DetRandomSelectAug([DetRandomCropAug(*each) for each in zip(*lists)], skip_prob)


def CreateDetAugmenter(data_shape, resize=0, rand_crop=0, rand_pad=0, rand_gray=0,
                       rand_mirror=False, mean=None, std=None, brightness=0, contrast=0,
                       saturation=0, pca_noise=0, hue=0, inter_method=2, min_object_covered=0.1,
                       aspect_ratio_range=(0.75, 1.33), area_range=(0.05, 3.0),
                       min_eject_coverage=0.3, max_attempts=50, pad_val=(127, 127, 127)):
    """The list of augmenters that these settings mean; `rand_crop` and `rand_pad` are
    probabilities."""
    found = [DetBorrowAug(ResizeAug(resize, inter_method))] if resize > 0 else []
    if rand_crop > 0:
        found.append(CreateMultiRandCropAugmenter(
            min_object_covered, aspect_ratio_range, (area_range[0], min(1.0, area_range[1])),
            min_eject_coverage, max_attempts, skip_prob=1 - rand_crop))
    if rand_mirror:
        found.append(DetHorizontalFlipAug(0.5))
    if rand_pad > 0:
        found.append(DetRandomSelectAug(
            [DetRandomPadAug(aspect_ratio_range, (1.0, max(1.0, area_range[1])), max_attempts,
                             pad_val)], 1 - rand_pad))
    plain = [ForceResizeAug((data_shape[2], data_shape[1]), inter_method), CastAug()]
    plain += colouring(brightness, contrast, saturation, hue, pca_noise, rand_gray)
    return found + [DetBorrowAug(each) for each in plain + normalizing(mean, std)]


class ImageDetIter(ImageIter):
    """Batches of pictures with labels (N, most objects, numbers of each), -1 where none is.

    A label in a file or list: length of the head, numbers of each object, the head's rest,
    then the objects. Further arguments are `CreateDetAugmenter`'s."""

    def __init__(self, batch_size, data_shape, path_imgrec=None, path_imglist=None,
                 path_root=None, path_imgidx=None, shuffle=False, part_index=0, num_parts=1,
                 aug_list=None, imglist=None, data_name="data", label_name="label",
                 last_batch_handle="pad", **kwargs):
        self.label_shape = None
        super().__init__(batch_size=batch_size, data_shape=data_shape, path_imgrec=path_imgrec,
                         path_imglist=path_imglist, path_root=path_root, path_imgidx=path_imgidx,
                         shuffle=shuffle, part_index=part_index, num_parts=num_parts,
                         aug_list=[], imglist=imglist, data_name=data_name,
                         label_name=label_name, last_batch_handle=last_batch_handle)
        self.auglist = CreateDetAugmenter(data_shape, **kwargs) if aug_list is None else aug_list
        self._label_name = label_name
        self._set_label_shape(self._estimate_label_shape())

    def _set_label_shape(self, shape):
        self.label_shape = shape
        self.provide_label = [(self._label_name, (self.batch_size, *shape))]

    def _estimate_label_shape(self):
        """(most objects, numbers of each) over all samples."""
        most, width = 0, 0
        self.reset()
        while True:
            try:
                label = self._parse_label(self.next_sample()[0])
            except StopIteration:
                break
            most, width = max(most, label.shape[0]), label.shape[1]
        self.reset()
        return most, width

    def _parse_label(self, label):
        """The objects of a label, without those that have no area."""
        raw = np.asarray(label.asnumpy() if hasattr(label, "asnumpy") else label).ravel()
        if raw.size < 7:
            raise RuntimeError(f"A label has at least 7 numbers, this one {raw.size}.")
        head, width = int(raw[0]), int(raw[1])
        if width < 5 or (raw.size - head) % width != 0:
            raise RuntimeError(f"A label of {raw.size} numbers has a head of {head} and objects "
                               f"of {width}, which does not fit.")
        objects = raw[head:].reshape(-1, width)
        valid = (objects[:, 3] > objects[:, 1]) & (objects[:, 4] > objects[:, 2])
        if not valid.any():
            raise RuntimeError("A label has no object with an area.")
        return objects[valid]

    def reshape(self, data_shape=None, label_shape=None):
        """Changes the shapes of pictures and labels."""
        if data_shape is not None:
            self.check_data_shape(data_shape)
            self.provide_data = [(self.provide_data[0][0], (self.batch_size, *data_shape))]
            self.data_shape = tuple(data_shape)
        if label_shape is not None:
            self.check_label_shape(label_shape)
            self._set_label_shape(tuple(label_shape))

    def check_label_shape(self, label_shape):
        """A ValueError where objects would not fit into `label_shape`."""
        if len(label_shape) != 2 or label_shape[0] < self.label_shape[0] or \
                label_shape[1] != self.label_shape[1]:
            raise ValueError(f"label_shape is (at least {self.label_shape[0]}, "
                             f"{self.label_shape[1]}), not {label_shape}.")

    def sync_label_shape(self, it, verbose=False):
        """Gives this and another ImageDetIter the larger of their label shapes; returns it."""
        assert isinstance(it, ImageDetIter), f"{it!r} is no ImageDetIter."
        assert self.label_shape[1] == it.label_shape[1], (
            f"Objects have {self.label_shape[1]} numbers here and {it.label_shape[1]} there.")
        most = max(self.label_shape[0], it.label_shape[0])
        for each in (self, it):
            each.reshape(None, (most, each.label_shape[1]))
        if verbose:
            print(f"Labels have {most} rows.")
        return it

    def augmentation_transform(self, data, label):
        """The picture and its label, changed by all augmenters."""
        for augmenter in self.auglist:
            data, label = augmenter(data, label)
        return data, label

    def _sample(self):
        label, data = self.next_sample()
        data = self.imdecode(data)
        self.check_valid_image([data])
        data, label = self.augmentation_transform(data, self._parse_label(label))
        return self.postprocess_data(data).asnumpy(), label

    def _batch(self, samples):
        labels = np.full((self.batch_size, *self.label_shape), -1, dtype=np.float32)
        for i, (_, label) in enumerate(samples):
            rows = min(len(label), self.label_shape[0])
            labels[i, :rows] = label[:rows]
        return np.stack([values for values, _ in samples]), labels
