# SPDX-License-Identifier: Apache-2.0
"""Layers, losses and their kin."""
import numpy as np

from rules import rule, window


@rule("Convolution")
def convolution(draw, transposed=False):
    axes = draw.pick(1, 2, 2, 2, 3)
    window(draw, axes)
    draw.forget("layout", "cudnn_tune")
    groups = draw.pick(1, 1, 2, 3, 4)
    channels = groups * draw.pick(1, 1, 2, 3)
    draw.set(num_filter=groups * draw.pick(1, 2, 3, 5), num_group=groups)
    draw.base = (draw.pick(1, 2, 3), channels) + draw.shape(axes, 4 - transposed, 11)
    draw.values = "real"
    draw.type = "float32"


@rule("Deconvolution")
def deconvolution(draw):
    convolution(draw, True)
    draw.forget("adj", "target_shape")
    axes = len(draw.attributes["kernel"])
    strides = draw.attributes.get("stride", (1,) * axes)
    if draw.chance(0.5):
        draw.set(adj=tuple(draw.random.randint(0, each - 1) for each in strides))
    if draw.chance(0.2):
        draw.set(target_shape=tuple(
            (size - 1) * stride + draw.random.randint(1, 3)
            for size, stride in zip(draw.base[2:], strides)))


def convolution_v1(draw):
    convolution(draw)


@rule("Pooling")
def pooling(draw):
    axes = draw.pick(1, 2, 2, 2, 3)
    window(draw, axes)
    draw.forget("dilate", "layout", "cudnn_off")
    if draw.chance(0.2):
        draw.set(global_pool=True)
    else:
        draw.forget("global_pool")
    draw.base = draw.shape(2, 1, 3) + draw.shape(axes, 3, 10)
    if draw.attributes.get("pool_type") == "lp":
        draw.set(p_value=draw.pick(1, 2, 3))


@rule("Pooling_v1")
def pooling_v1(draw):
    pooling(draw)
    draw.forget("p_value")
    axes = draw.pick(2, 2, 3)
    window(draw, axes)
    draw.forget("dilate")
    draw.base = draw.shape(2, 1, 3) + draw.shape(axes, 3, 10)
    draw.set(pool_type=draw.pick("max", "avg", "sum"))


@rule("FullyConnected")
def fully_connected(draw):
    draw.set(num_hidden=draw.random.randint(1, 7))


@rule("BatchNorm")
def batch_norm(draw):
    draw.forget("min_calib_range", "max_calib_range", "output_mean_var")
    draw.set(eps=draw.pick(1e-3, 1e-5, 2e-5, 0.1), momentum=draw.pick(0.9, 0.5, 0.0, 0.99))
    draw.type = "float32"
    if "axis" in draw.attributes:
        draw.set(axis=draw.random.randint(-draw.rank, draw.rank - 1))


@rule("BatchNorm_v1")
def batch_norm_v1(draw):
    batch_norm(draw)
    draw.forget("axis")
    draw.base = draw.shape(draw.pick(2, 4))


@rule("_contrib_SyncBatchNorm")
def contrib_sync_batch_norm(draw):
    batch_norm(draw)
    draw.forget("axis")
    draw.set(ndev=1)


@rule("LRN")
def lrn(draw):
    draw.base = draw.shape(1) + draw.shape(1, 3, 8) + draw.shape(2)
    draw.set(nsize=draw.pick(1, 3, 5), alpha=draw.pick(1e-4, 0.1, 1), beta=draw.pick(0.75, 0.5, 1), knorm=draw.pick(1, 2))
    if draw.attributes["nsize"] > draw.base[1]:
        draw.set(nsize=3)


@rule("LayerNorm")
def layer_norm(draw):
    draw.set(eps=draw.pick(1e-5, 1e-3, 0.1), axis=draw.random.randint(-draw.rank, draw.rank - 1))
    draw.forget("output_mean_var")


@rule("GroupNorm")
def group_norm(draw):
    groups = draw.pick(1, 2, 3)
    draw.set(num_groups=groups, eps=draw.pick(1e-5, 1e-3, 0.1))
    draw.forget("output_mean_var")
    draw.base = draw.shape(1) + (groups * draw.pick(1, 2, 3),) + draw.shape(draw.pick(1, 2, 3))


@rule("InstanceNorm")
def instance_norm(draw):
    draw.set(eps=draw.pick(1e-5, 1e-3, 0.1))
    draw.base = draw.shape(draw.pick(3, 4, 5))


@rule("L2Normalization")
def l2_normalization(draw):
    draw.set(eps=draw.pick(1e-10, 1e-3, 0.1))


@rule("LeakyReLU")
def leaky_re_lu(draw):
    if draw.attributes.get("act_type") == "rrelu":
        draw.set(act_type="prelu")
    draw.forget("lower_bound", "upper_bound")


@rule("Dropout")
def dropout(draw):
    draw.set(p=0)
    draw.forget("mode")


@rule("UpSampling")
def up_sampling(draw):
    nearest = draw.chance(0.7)
    draw.base = draw.shape(2, 1, 3) + draw.shape(2, 1, 5)
    draw.forget("num_filter")
    draw.set(num_args=1, scale=draw.random.randint(1, 4),
             sample_type="nearest" if nearest else "bilinear")
    if not nearest:
        draw.set(num_filter=draw.base[1], num_args=1)


@rule("RNN")
def rnn(draw):
    draw.forget("lstm_state_clip_min", "lstm_state_clip_max", "lstm_state_clip_nan",
                "projection_size", "use_sequence_length", "p")
    draw.set(state_size=draw.random.randint(1, 6), num_layers=draw.pick(1, 1, 2, 3))
    if draw.attributes["mode"].startswith("rnn"):  # wrong in MXNet with three
        draw.set(num_layers=draw.pick(1, 2))
    draw.base = (draw.random.randint(1, 6), draw.pick(1, 2, 3), draw.random.randint(1, 5))
    draw.type, draw.values = "float32", "real"
    draw.given.update(parameters=None, state=None, state_cell=None)


@rule("SoftmaxOutput")
def softmax_output(draw):
    if "smooth_alpha" in draw.attributes:
        draw.set(smooth_alpha=draw.pick(0, 0.1, 0.3))
        draw.base = tuple(max(2, each) for each in draw.base)
    multi = draw.attributes.get("multi_output")
    if multi:
        draw.base = draw.shape(draw.pick(3, 4))
        draw.given["label"] = draw.pick((draw.base[0],) + draw.base[2:],
                                        (draw.base[0], int(np.prod(draw.base[2:]))), None)
    else:
        draw.given["label"] = None
    classes = draw.base[1] if multi or not draw.attributes.get("preserve_shape") else draw.base[-1]
    if draw.chance(0.5):
        draw.set(use_ignore=True, ignore_label=draw.pick(-1, 0, 1))
    draw.given["="] = {"label": lambda shape: draw.numpy.randint(
        0, max(1, classes), size=shape).astype("float32")}


@rule("softmax_cross_entropy")
def softmax_cross_entropy(draw):
    draw.base = draw.shape(2)
    draw.given["label"] = draw.base[:1]
    draw.given["="] = {"label": lambda shape: draw.numpy.randint(
        0, draw.base[1], size=shape).astype("float32")}


@rule("SVMOutput")
def svmoutput(draw):
    draw.base = draw.shape(2)
    draw.given["label"] = draw.base[:1]
    draw.given["="] = {"label": lambda shape: draw.numpy.randint(
        0, draw.base[1], size=shape).astype("float32")}


@rule("LinearRegressionOutput", "LogisticRegressionOutput", "MAERegressionOutput")
def regression(draw):
    draw.given["label"] = draw.pick(None, draw.base)
    draw.given["="] = {"label": lambda shape: draw.numpy.uniform(0, 1, size=shape).round(2).astype(
        "float32")}


@rule("softmax", "log_softmax", "softmin")
def softmax(draw):
    draw.base = draw.shape(draw.pick(2, 3, 4))
    draw.rank = len(draw.base)
    draw.set(axis=draw.random.randint(-draw.rank, draw.rank - 1))
    draw.forget("use_length", "dtype")
    if draw.attributes.get("temperature") in (0, None):
        draw.forget("temperature")
    if draw.operator == "softmax" and draw.chance(0.3):
        axis = draw.attributes["axis"] % draw.rank
        draw.set(use_length=True)
        draw.given["length"] = draw.base[:axis] + draw.base[axis + 1:]
        draw.given["="] = {"length": lambda shape: draw.numpy.randint(
            1, draw.base[axis] + 1, size=shape).astype("int32")}


@rule("CTCLoss")
def ctcloss(draw):
    steps, batch, classes = draw.random.randint(3, 9), draw.pick(1, 2, 3), draw.random.randint(3, 6)
    draw.base = (steps, batch, classes)
    length = draw.random.randint(1, 3)
    draw.given["label"] = (batch, length)
    draw.given["data_lengths"] = draw.given["label_lengths"] = (batch,)
    last = draw.attributes.get("blank_label") == "last"
    low, high = (0, classes - 1) if last else (1, classes)
    draw.given["="] = {
        "label": lambda shape: draw.numpy.randint(low, high, size=shape).astype("float32"),
        "data_lengths": lambda shape: draw.numpy.randint(
            length + 2, max(length + 3, steps + 1), size=shape).clip(0, steps).astype("float32"),
        "label_lengths": lambda shape: draw.numpy.randint(
            1, length + 1, size=shape).astype("float32")}
    draw.type = "float32"


@rule("SequenceMask", "SequenceLast", "SequenceReverse")
def sequence(draw):
    draw.base = draw.shape(draw.pick(2, 3, 4), 1, 5)
    axis = draw.pick(0, 0, 1) if draw.operator != "SequenceReverse" else 0
    draw.set(axis=axis, use_sequence_length=draw.chance(0.7))
    draw.given["sequence_length"] = (draw.base[1 - axis],)
    draw.given["="] = {"sequence_length": lambda shape: draw.numpy.randint(
        1, draw.base[axis] + 1, size=shape).astype("float32")}


@rule("_contrib_interleaved_matmul_selfatt_qk", "_contrib_interleaved_matmul_selfatt_valatt",
      "_contrib_interleaved_matmul_encdec_qk", "_contrib_interleaved_matmul_encdec_valatt")
def attention(draw):
    heads, width = draw.pick(1, 2, 3), draw.random.randint(1, 4)
    queries, keys, batch = (draw.random.randint(1, 4) for _ in range(3))
    draw.set(heads=heads)
    name = draw.operator
    if "selfatt_qk" in name or "selfatt_valatt" in name:
        draw.base = (queries, batch, heads * width * 3)
        draw.given["attention"] = (batch * heads, queries, queries)
    elif "encdec_qk" in name:
        draw.base = (queries, batch, heads * width)
        draw.given["keys_values"] = (keys, batch, heads * width * 2)
    else:
        draw.base = (keys, batch, heads * width * 2)
        draw.given["attention"] = (batch * heads, queries, keys)


@rule("_contrib_dequantize", "_contrib_quantize", "_contrib_requantize", "_contrib_quantize_v2")
def quantized(draw):
    draw.base = draw.shape(draw.pick(1, 2, 3))
    unsigned = draw.attributes.get("out_type", "uint8") == "uint8"
    low, high = -draw.random.uniform(0.5, 3), draw.random.uniform(0.5, 3)
    draw.given.update(min_range=(1,), max_range=(1,))
    draw.given["="] = {
        "min_range": lambda shape: np.full(shape, low, "float32"),
        "max_range": lambda shape: np.full(shape, high, "float32")}
    kind = {"_contrib_dequantize": draw.pick("int8", "uint8"), "_contrib_requantize": "int32"}.get(
        draw.operator)
    if kind == "uint8" or (draw.operator == "_contrib_quantize" and unsigned):
        low = 0  # which oneDNN takes for granted
        draw.values = "positive"
    if kind:
        top = 127 if kind == "int8" else 255 if kind == "uint8" else 10 ** 6
        draw.given["="]["data"] = lambda shape: draw.numpy.randint(
            0 if kind == "uint8" else -top, top + 1, size=shape).astype(kind)
    for name in ("min_calib_range", "max_calib_range"):
        draw.forget(name)
    if draw.operator in ("_contrib_requantize", "_contrib_quantize_v2") and draw.chance(0.5):
        draw.set(min_calib_range=-1.5, max_calib_range=draw.pick(1.5, 2.5))
    draw.type = "float32"


@rule("_contrib_hawkesll")
def hawkesll(draw):
    sequences, marks, points = draw.shape(3)
    draw.type, draw.base = draw.pick("float32", "float64"), (sequences, marks)
    draw.fixed = {"lags", "valid_length", "max_time", "state"}
    draw.given.update(alpha=(marks,), beta=(marks,), state=draw.base, lags=(sequences, points),
                      marks=(sequences, points), valid_length=(sequences,),
                      max_time=(sequences,))

    def drawn(low, high):
        return lambda shape: draw.numpy.uniform(low, high, size=shape).round(3).astype(draw.type)

    draw.given["="] = {
        "lda": drawn(0.1, 2), "alpha": drawn(0.1, 0.9), "beta": drawn(0.1, 2),
        "state": drawn(0, 2), "lags": drawn(0.01, 1), "max_time": drawn(points, points + 3),
        "marks": lambda shape: draw.numpy.randint(0, marks, size=shape).astype("int32"),
        "valid_length": lambda shape: draw.numpy.randint(0, points + 1, size=shape).astype(
            draw.type)}


@rule("_contrib_quantize_asym")
def quantize_asym(draw):
    """Of a range that holds all of data: beyond it MXNet wraps around."""
    draw.base, draw.type, draw.values = draw.shape(3), "float32", "real"
    draw.forget("min_calib_range", "max_calib_range")
    if draw.chance(0.5):
        draw.set(min_calib_range=-2.5, max_calib_range=draw.pick(2.5, 4))
