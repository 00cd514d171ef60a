# SPDX-License-Identifier: Apache-2.0
"""Regions, boxes, sampling and images."""
import numpy as np

from rules_layers import convolution
from rules import rule, window


@rule("_contrib_DeformableConvolution")
def contrib_deformable_convolution(draw):
    convolution(draw)
    window(draw, 2)
    groups = draw.attributes["num_group"]
    deformable = draw.pick(1, 2)
    draw.base = (draw.pick(1, 2), groups * 2) + draw.shape(2, 4, 8)
    draw.set(num_deformable_group=deformable)
    kernel, size = draw.attributes["kernel"], []
    for k in range(2):
        reach = (kernel[k] - 1) * draw.attributes.get("dilate", (1, 1))[k] + 1
        size.append((draw.base[2 + k] + 2 * draw.attributes.get("pad", (0, 0))[k] - reach)
                    // draw.attributes.get("stride", (1, 1))[k] + 1)
    taps = kernel[0] * kernel[1] * deformable
    draw.given["offset"] = (draw.base[0], 2 * taps) + tuple(size)
    draw.given["mask"] = (draw.base[0], taps) + tuple(size)


@rule("_contrib_ModulatedDeformableConvolution")
def contrib_modulated_deformable_convolution(draw):
    contrib_deformable_convolution(draw)
    draw.forget("im2col_step")


@rule("BilinearSampler")
def bilinear_sampler(draw):
    draw.type = "float32"
    draw.base = draw.shape(2, 1, 3) + draw.shape(2, 2, 6)
    draw.given["grid"] = (draw.base[0], 2) + draw.shape(2, 1, 5)
    draw.given["="] = {"grid": lambda shape: draw.numpy.uniform(
        -1.4, 1.4, size=shape).round(3).astype("float32")}


@rule("GridGenerator")
def grid_generator(draw):
    affine = draw.attributes["transform_type"] == "affine"
    draw.base = (draw.pick(1, 2), 6) if affine else (draw.pick(1, 2), 2) + draw.shape(2, 2, 5)
    draw.set(target_shape=draw.shape(2, 2, 5))
    draw.type = "float32"


@rule("SpatialTransformer")
def spatial_transformer(draw):
    draw.base = draw.shape(2, 1, 3) + draw.shape(2, 2, 6)
    draw.set(target_shape=draw.shape(2, 2, 5))
    draw.type = "float32"
    draw.given["loc"] = (draw.base[0], 6)
    draw.given["="] = {"loc": lambda shape: draw.numpy.uniform(
        -1, 1, size=shape).round(3).astype("float32")}


def rois(draw, data, size):
    """Corners in pixels of the picture before it was scaled by `spatial_scale`."""
    scale = draw.pick(1, 0.5, 0.25)
    draw.base, draw.type = data, "float32"
    draw.set(spatial_scale=scale)
    count = draw.random.randint(1, 4)
    draw.given["rois"] = (count, size)

    def boxes(shape):
        height, width = data[2] / scale, data[3] / scale
        rows = []
        for _ in range(shape[0]):
            x = sorted(draw.numpy.uniform(-1, width + 1, 2))
            y = sorted(draw.numpy.uniform(-1, height + 1, 2))
            row = [draw.random.randrange(data[0]), x[0], y[0], x[1], y[1]]
            if size == 6:
                row = [row[0], (x[0] + x[1]) / 2, (y[0] + y[1]) / 2, x[1] - x[0], y[1] - y[0],
                       draw.random.uniform(-90, 90)]
            rows.append(row)
        return np.array(rows).round(2).astype("float32")

    draw.given["="] = {"rois": boxes}


@rule("ROIPooling")
def roipooling(draw):
    draw.set(pooled_size=draw.shape(2, 1, 4))
    rois(draw, draw.shape(2, 1, 3) + draw.shape(2, 4, 9), 5)


@rule("_contrib_ROIAlign")
def contrib_roialign(draw):
    size = draw.shape(2, 1, 3)
    draw.set(pooled_size=size, sample_ratio=draw.pick(-1, 1, 2, 3))
    channels = 2 * (size[0] * size[1] if draw.attributes.get("position_sensitive") else 1)
    rois(draw, (draw.pick(1, 2), channels) + draw.shape(2, 4, 9), 5)


@rule("_contrib_RROIAlign")
def contrib_rroialign(draw):
    draw.set(pooled_size=draw.shape(2, 1, 3), sampling_ratio=draw.pick(-1, 1, 2, 3))
    rois(draw, draw.shape(2, 1, 3) + draw.shape(2, 4, 9), 6)


@rule("_contrib_PSROIPooling")
def contrib_psroipooling(draw):
    size, outputs = draw.random.randint(1, 3), draw.random.randint(1, 3)
    draw.set(pooled_size=size, group_size=draw.pick(0, size), output_dim=outputs)
    rois(draw, (draw.pick(1, 2), outputs * size * size) + draw.shape(2, 4, 9), 5)


@rule("_contrib_DeformablePSROIPooling")
def contrib_deformable_psroipooling(draw):
    size, outputs = draw.random.randint(1, 3), draw.random.randint(1, 3)
    draw.set(pooled_size=size, group_size=size, output_dim=outputs, part_size=draw.pick(0, size),
             sample_per_part=draw.pick(1, 2, 3), trans_std=draw.pick(0, 0.1))
    rois(draw, (draw.pick(1, 2), outputs * size * size) + draw.shape(2, 4, 9), 5)
    count = draw.given["rois"][0]
    draw.given["trans"] = (count, 2, size, size)


@rule("_contrib_MultiBoxPrior")
def contrib_multi_box_prior(draw):
    draw.base = draw.shape(2, 1, 3) + draw.shape(2, 1, 5)
    if "steps" in draw.attributes:
        draw.set(steps=draw.pick((-1, -1), (0.1, 0.2)))
    if "offsets" in draw.attributes:
        draw.set(offsets=draw.pick((0.5, 0.5), (0.25, 0.75), (0, 0)))


@rule("Correlation")
def correlation(draw):
    draw.base = draw.shape(2, 1, 3) + draw.shape(2, 4, 9)
    draw.set(kernel_size=draw.pick(1, 3), max_displacement=draw.random.randint(0, 3),
             stride1=draw.pick(1, 2), stride2=draw.pick(1, 2), pad_size=draw.random.randint(0, 4))
    draw.given["data2"] = draw.base
    draw.type = "float32"


def boxes(draw, shape, center=False):
    low = draw.numpy.uniform(0, 0.7, size=shape[:-1] + (2,))
    size = draw.numpy.uniform(0.05, 0.6, size=shape[:-1] + (2,))
    parts = (low + size / 2, size) if center else (low, low + size)
    return np.concatenate(parts, -1).round(3).astype("float32")


@rule("_contrib_box_iou")
def contrib_box_iou(draw):
    center = draw.attributes.get("format") == "center"
    draw.base = draw.shape(draw.pick(1, 2)) + (4,)
    draw.given["rhs"] = draw.shape(draw.pick(1, 2)) + (4,)
    draw.given["="] = {name: lambda shape: boxes(draw, shape, center) for name in ("lhs", "rhs")}


@rule("_contrib_box_decode")
def contrib_box_decode(draw):
    count = draw.random.randint(1, 5)
    draw.base = (draw.pick(1, 2), count, 4)
    draw.given["anchors"] = (1, count, 4)
    draw.set(clip=draw.pick(-1, 1, 0.5))


@rule("_contrib_box_encode")
def contrib_box_encode(draw):
    batch, count, truths = draw.pick(1, 2), draw.random.randint(1, 5), draw.random.randint(1, 4)
    draw.base = (batch, count)
    draw.type = "float32"
    draw.given.update(matches=(batch, count), anchors=(batch, count, 4), refs=(batch, truths, 4),
                      means=(4,), stds=(4,))
    draw.given["="] = {
        "samples": lambda shape: draw.numpy.randint(-1, 2, size=shape).astype("float32"),
        "matches": lambda shape: draw.numpy.randint(0, truths, size=shape).astype("float32"),
        "anchors": lambda shape: boxes(draw, shape), "refs": lambda shape: boxes(draw, shape),
        "stds": lambda shape: draw.numpy.uniform(0.1, 1, size=shape).astype("float32")}


@rule("_contrib_box_nms")
def contrib_box_nms(draw):
    count, classed = draw.random.randint(1, 9), draw.chance(0.6)
    width = 6 if classed else draw.pick(5, 6, 7)
    draw.base = draw.pick((count, width), (2, count, width))
    draw.set(coord_start=2 if classed else width - 4, score_index=1 if classed else 0,
             overlap_thresh=draw.pick(0.3, 0.5, 0.7), valid_thresh=draw.pick(0, 0.2, 0.5),
             topk=draw.pick(-1, -1, 2, 4))
    draw.forget("id_index", "background_id")
    if classed:
        draw.set(id_index=0)
        if draw.chance(0.4):
            draw.set(background_id=0)
    center = draw.attributes.get("in_format") == "center"

    def rows(shape):
        scores = draw.numpy.permutation(int(np.prod(shape[:-1]))).reshape(shape[:-1] + (1,))
        scores = scores / scores.size
        start = draw.attributes["coord_start"]
        parts = [draw.numpy.randint(0, 3, size=shape[:-1] + (1,)), scores] if classed else [
            scores, draw.numpy.uniform(0, 1, size=shape[:-1] + (start - 1,))]
        found = np.concatenate(parts + [boxes(draw, shape, center)], -1)
        return found.astype("float32")

    draw.given["="] = {"data": rows}


@rule("_contrib_MultiBoxDetection")
def contrib_multi_box_detection(draw):
    batch, classes, count = draw.pick(1, 2), draw.random.randint(2, 4), draw.random.randint(1, 7)
    draw.base, draw.type = (batch, classes, count), "float32"
    draw.given.update(loc_pred=(batch, count * 4), anchor=(1, count, 4))
    draw.set(background_id=0, threshold=draw.pick(0.01, 0.3), nms_threshold=draw.pick(0.3, 0.5, 0.9),
             nms_topk=draw.pick(-1, 2, 3))
    draw.forget("variances")

    def probabilities(shape):
        found = draw.numpy.uniform(0, 1, size=shape)
        return (found / found.sum(1, keepdims=True)).astype("float32")

    draw.given["="] = {"cls_prob": probabilities, "anchor": lambda shape: boxes(draw, shape)}


@rule("_contrib_MultiBoxTarget")
def contrib_multi_box_target(draw):
    batch, classes, count = draw.pick(1, 2), draw.random.randint(2, 4), draw.random.randint(1, 9)
    truths = draw.random.randint(1, 3)
    draw.base, draw.type = (1, count, 4), "float32"
    draw.given.update(label=(batch, truths, 5), cls_pred=(batch, classes, count))
    draw.set(overlap_threshold=draw.pick(0.3, 0.5), negative_mining_ratio=draw.pick(-1, 1, 3),
             negative_mining_thresh=draw.pick(0.3, 0.5), minimum_negative_samples=draw.pick(0, 1))
    draw.forget("variances")

    def labels(shape):
        found = np.concatenate([draw.numpy.randint(0, classes - 1, size=shape[:-1] + (1,)),
                                boxes(draw, shape)], -1)
        for each in found:
            each[draw.random.randint(1, shape[1]):] = -1
        return found.astype("float32")

    draw.given["="] = {"anchor": lambda shape: boxes(draw, shape), "label": labels}


@rule("_contrib_bipartite_matching")
def contrib_bipartite_matching(draw):
    draw.base = draw.shape(draw.pick(2, 3))
    draw.set(threshold=draw.pick(0.1, 0.5, -5))
    draw.given["="] = {"data": lambda shape: (draw.numpy.permutation(
        int(np.prod(shape))).reshape(shape) / np.prod(shape)).astype("float32")}


@rule("_contrib_Proposal", "_contrib_MultiProposal")
def proposal(draw):
    ratios, scales = draw.pick((0.5, 1, 2), (1,)), draw.pick((2,), (1, 4))
    anchors = len(ratios) * len(scales)
    height, width = draw.random.randint(2, 5), draw.random.randint(2, 5)
    batch = 1 if draw.operator == "_contrib_Proposal" else draw.pick(1, 2)
    stride = draw.pick(8, 16)
    draw.type = "float32"
    draw.base = (batch, 2 * anchors, height, width)
    draw.given.update(bbox_pred=(batch, 4 * anchors, height, width), im_info=(batch, 3))
    draw.set(ratios=ratios, scales=scales, rpn_pre_nms_top_n=draw.pick(6, 12, 6000),
             rpn_post_nms_top_n=draw.pick(3, 6), threshold=draw.pick(0.5, 0.7),
             rpn_min_size=draw.pick(1, 4, 16), feature_stride=stride)
    draw.given["="] = {
        "cls_prob": lambda shape: (draw.numpy.permutation(int(np.prod(shape))).reshape(shape)
                                   / np.prod(shape)).astype("float32"),
        "bbox_pred": lambda shape: draw.numpy.uniform(-0.3, 0.3, size=shape).astype("float32"),
        "im_info": lambda shape: np.array(
            [[height * stride, width * stride, 1]] * batch, "float32")}


@rule("_image_normalize")
def image_normalize(draw):
    draw.base = draw.pick((3,), (1,), (2, 3)) + draw.shape(2)
    channels = draw.base[-3]
    draw.set(mean=tuple(round(draw.random.random(), 2) for _ in range(channels)),
             std=tuple(round(draw.random.uniform(0.2, 1), 2) for _ in range(channels)))


@rule("_contrib_BilinearResize2D")
def contrib_bilinear_resize2_d(draw):
    draw.base = draw.shape(2, 1, 3) + draw.shape(2, 1, 6)
    mode = draw.attributes.get("mode", "size")
    draw.forget("scale_height", "scale_width", "height", "width")
    if mode == "size":
        draw.set(height=draw.random.randint(1, 8), width=draw.random.randint(1, 8))
    elif mode in ("odd_scale",):
        draw.set(scale_height=draw.pick(0.5, 1, 2), scale_width=draw.pick(0.5, 1, 2, 3))
    draw.given["like"] = draw.base[:2] + draw.shape(2, 1, 7)
    draw.type = "float32"


@rule("_contrib_AdaptiveAvgPooling2D")
def contrib_adaptive_avg_pooling2_d(draw):
    draw.base = draw.shape(2, 1, 3) + draw.shape(2, 1, 8)
    draw.set(output_size=draw.shape(draw.pick(1, 2), 1, 8))
    draw.type = "float32"


def pictures(draw):
    draw.type = draw.pick("float32", "uint8")
    draw.base = draw.shape(draw.pick(0, 0, 1)) + draw.shape(2, 2, 9) + (draw.pick(1, 3),)


@rule("_image_crop")
def image_crop(draw):
    pictures(draw)
    height, width = draw.base[-3:-1]
    x, y = draw.random.randint(0, width - 1), draw.random.randint(0, height - 1)
    draw.set(x=x, y=y, width=draw.random.randint(1, width - x),
             height=draw.random.randint(1, height - y))


@rule("_image_resize")
def image_resize(draw):
    pictures(draw)
    draw.type = "float32"  # of bytes OpenCV rounds twice
    draw.set(size=draw.shape(draw.pick(1, 2), 2, 12), interp=draw.pick(0, 1))


@rule("_image_flip_left_right", "_image_flip_top_bottom")
def image_flip(draw):
    pictures(draw)
    height, width, channels = draw.base[-3:]  # MXNet leaves a middle row unset
    draw.base = draw.base[:-3] + (height + height % 2, width + width % 2, channels)


@rule("_image_random_brightness", "_image_random_contrast", "_image_random_saturation",
      "_image_random_hue", "_image_random_lighting", "_image_adjust_lighting")
def image_color(draw):
    """One factor alone can be drawn; MXNet leaves the hues of grey as memory is."""
    grey = not draw.operator.endswith(("hue", "lighting")) and draw.chance(0.3)
    draw.base = draw.shape(2) + (1 if grey else 3,)
    draw.type = "float32"
    if draw.operator == "_image_random_brightness":
        draw.type = draw.pick("float32", "uint8", "int32")
    factor = draw.pick(0, 0.25, 0.5, 1, 1.5, 2)
    if "lighting" not in draw.operator:
        draw.set(min_factor=factor, max_factor=factor)
    elif draw.operator == "_image_random_lighting":
        draw.set(alpha_std=0)
    else:
        draw.set(alpha=tuple(round(draw.random.uniform(-1, 1), 2) for _ in range(3)))
    draw.given["="] = {"data": lambda shape: draw.numpy.randint(0, 256, size=shape).astype(
        draw.type)}
