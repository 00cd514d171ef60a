# SPDX-License-Identifier: Apache-2.0
"""A step of training of imported networks beside PyTorch's autograd.

    train_check.py BIN FOLDER... [--loss mse]

FOLDER/model.onnx is compiled with `--loss mse --entry grad`, for each of up to
three outputs, and run on random inputs and labels. The same nodes are evaluated
by PyTorch in float64, batch norms with the statistics of the batch, and
differentiated; where the package onnx2torch has a converter for all of them,
its module gives a loss, too. The table: the losses, and the largest difference
of a gradient, relative to its largest element, or to a thousandth of the
network's largest, where that is more: of a bias before a batch norm it is 0.
Both have to be within 1e-4, or the gradient within twice what PyTorch in
float32 differs by there.
Needs numpy, onnx, torch, onnx2torch. Ends with 1 where one differs.
"""
import glob
import os
import re
import subprocess
import sys
import tempfile

import numpy
import onnx
import torch
from onnx import numpy_helper
from torch.nn import functional

# Where one sample says nothing of a batch's statistics, or it is open; other
# extents that a file leaves open.
BATCHES = {"onnx2c-mnist": 4, "superres-onnxmodels": 2}
SHAPES = {"ppocr-det-en": {"x": (1, 3, 64, 96)}}
MOST_OUTPUTS = 3


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}: {done.stdout}{done.stderr}")
    return done.stdout


def ints(value):
    return [int(v) for v in value.reshape(-1).tolist()]


def paired(pads):
    """ONNX's begins, then ends, as torch's, from the last axis."""
    half = len(pads) // 2
    flat = []
    for axis in reversed(range(half)):
        flat += [pads[axis], pads[axis + half]]
    return flat


def same_pads(x, kernel, strides, upper):
    begins, ends = [], []
    for extent, k, s in zip(x.shape[2:], kernel, strides):
        total = max((-(-extent // s) - 1) * s + k - extent, 0)
        begins.append(total // 2 if upper else total - total // 2)
        ends.append(total - begins[-1])
    return begins + ends


class Evaluation:
    """The nodes of a graph by PyTorch."""

    def __init__(self, model, inputs, dtype=torch.float64):
        self.trains, self.dtype = False, dtype
        self.opset = max(o.version for o in model.opset_import
                         if o.domain in ("", "ai.onnx"))
        self.nodes = model.graph.node
        self.leaves = {}
        self.first = {name: torch.from_numpy(value).to(dtype)
                      for name, value in inputs.items()}
        for tensor in model.graph.initializer:
            self.add_leaf(tensor.name, tensor, 1)

    def add_leaf(self, name, tensor, least):
        """What mxc takes for a parameter of at least so many elements."""
        value = torch.from_numpy(numpy_helper.to_array(tensor).copy())
        if value.is_floating_point():
            value = value.to(self.dtype)
            if value.dim() > 0 and value.numel() >= least:
                value.requires_grad_()
                self.leaves[name] = value
        self.first[name] = value

    def run(self, outputs, trains):
        self.trains = trains
        values = dict(self.first)
        for node in self.nodes:
            arguments = [values[name] if name else None for name in node.input]
            options = {a.name: onnx.helper.get_attribute_value(a)
                       for a in node.attribute}
            if node.op_type == "Constant":
                if node.output[0] not in self.first:
                    self.add_leaf(node.output[0], options["value"], 2)
                values[node.output[0]] = self.first[node.output[0]]
                continue
            options.pop("hidden_size", None)
            results = getattr(self, node.op_type)(*arguments, **options)
            if not isinstance(results, tuple):
                results = (results,)
            values.update(zip(node.output, results))
        return [values[name] for name in outputs]

    # --- elementwise
    def Add(self, a, b): return a + b
    def Sub(self, a, b): return a - b
    def Mul(self, a, b): return a * b
    def Div(self, a, b): return a / b
    def Pow(self, a, b): return a ** b
    def Sqrt(self, a): return a.sqrt()
    def Exp(self, a): return a.exp()
    def Relu(self, a): return functional.relu(a)
    def Sigmoid(self, a): return torch.sigmoid(a)
    def HardSwish(self, a): return functional.hardswish(a)
    def HardSigmoid(self, a, alpha=0.2, beta=0.5):
        return (a * alpha + beta).clamp(0, 1)
    def PRelu(self, a, slope): return torch.where(a < 0, a * slope, a)

    def Cast(self, a, to):
        return a.to({1: self.dtype, 6: torch.int32, 7: torch.int64}[to])

    # --- shapes
    def Shape(self, a): return torch.tensor(a.shape)
    def Transpose(self, a, perm): return a.permute(*perm)
    def Concat(self, *parts, axis): return torch.cat(parts, axis)

    def Reshape(self, a, shape, allowzero=0):
        extents = [a.shape[i] if extent == 0 else extent
                   for i, extent in enumerate(ints(shape))]
        return a.reshape(extents)

    def Gather(self, a, indices, axis=0):
        taken = a.index_select(axis, indices.reshape(-1))
        return taken.reshape(a.shape[:axis] + indices.shape
                             + a.shape[axis + 1:])

    def Squeeze(self, a, given=None, axes=None):
        axes = ints(given) if given is not None else axes
        for axis in sorted((x % a.dim() for x in axes), reverse=True):
            a = a.squeeze(axis)
        return a

    def Unsqueeze(self, a, given=None, axes=None):
        axes = ints(given) if given is not None else axes
        for axis in sorted(x % (a.dim() + len(axes)) for x in axes):
            a = a.unsqueeze(axis)
        return a

    def Slice(self, a, *given, starts=None, ends=None, axes=None):
        if given:
            starts, ends = ints(given[0]), ints(given[1])
            axes = ints(given[2]) if len(given) > 2 else None
        steps = ints(given[3]) if len(given) > 3 else [1] * len(starts)
        for axis, begin, end, step in zip(axes or range(len(starts)), starts,
                                          ends, steps):
            chosen = range(a.shape[axis])[begin:end:step]
            a = a.index_select(axis, torch.tensor(list(chosen)))
        return a

    def Pad(self, a, pads, constant=None, mode=b"constant"):
        around = paired(ints(pads))
        while around and not any(around[-2:]):
            around = around[:-2]
        return functional.pad(a, around, mode.decode())

    def ConstantOfShape(self, shape, value):
        array = numpy_helper.to_array(value)
        made = torch.full(ints(shape), array.item())
        return (made.to(self.dtype) if array.dtype == numpy.float32
                else made.long())

    def Resize(self, a, roi, scales=None, sizes=None, mode=b"nearest", **rest):
        assert mode == b"nearest", mode
        factors = [float(s) for s in scales.tolist()] if sizes is None else [
            to / of for to, of in zip(ints(sizes), a.shape)]
        for axis, factor in enumerate(factors):
            assert factor == int(factor), factor
            a = a.repeat_interleave(int(factor), axis)
        return a

    # --- layers
    def MatMul(self, a, b): return a @ b
    def Softmax(self, a, axis=-1): return a.softmax(axis)

    def Gemm(self, a, b, c=None, alpha=1.0, beta=1.0, transA=0, transB=0):
        product = alpha * ((a.T if transA else a) @ (b.T if transB else b))
        return product if c is None else product + beta * c

    def Padded(self, a, kernel, strides, pads, auto_pad, fill):
        if auto_pad in (b"SAME_UPPER", b"SAME_LOWER"):
            pads = same_pads(a, kernel, strides, auto_pad == b"SAME_UPPER")
        return functional.pad(a, paired(pads), value=fill) if pads else a

    def Conv(self, a, weight, bias=None, strides=None, dilations=None,
             group=1, pads=None, kernel_shape=None, auto_pad=b"NOTSET"):
        axes = weight.dim() - 2
        strides = strides or [1] * axes
        a = self.Padded(a, weight.shape[2:], strides, pads, auto_pad, 0.0)
        convolve = [functional.conv1d, functional.conv2d][axes - 1]
        return convolve(a, weight, bias, strides, 0, dilations or 1, group)

    def ConvTranspose(self, a, weight, bias=None, strides=(1, 1), pads=None,
                      dilations=None, group=1, kernel_shape=None,
                      auto_pad=b"NOTSET", output_padding=(0, 0)):
        assert not pads or not any(pads), pads
        return functional.conv_transpose2d(a, weight, bias, strides, 0,
                                           output_padding, group)

    def MaxPool(self, a, kernel_shape, strides=None, pads=None,
                auto_pad=b"NOTSET", ceil_mode=0, dilations=None):
        strides = strides or [1] * len(kernel_shape)
        a = self.Padded(a, kernel_shape, strides, pads, auto_pad, -numpy.inf)
        return functional.max_pool2d(a, kernel_shape, strides,
                                     ceil_mode=bool(ceil_mode))

    def AveragePool(self, a, kernel_shape, strides=None, pads=None,
                    ceil_mode=0, count_include_pad=0):
        assert not pads or not any(pads), pads
        return functional.avg_pool2d(a, kernel_shape, strides)

    def GlobalAveragePool(self, a): return a.mean((2, 3), keepdim=True)

    def ReduceMean(self, a, axes, keepdims=1):
        return a.mean(axes, bool(keepdims))

    def BatchNormalization(self, a, gamma, beta, mean, var, epsilon=1e-5,
                           momentum=0.9, **rest):
        return functional.batch_norm(a, mean.detach(), var.detach(), gamma,
                                     beta, self.trains, 0.0, epsilon)

    def LSTM(self, x, w, r, b=None, lengths=None, h=None, c=None,
             peepholes=None, direction=b"forward", **rest):
        assert direction == b"forward" and lengths is None
        assert peepholes is None or not peepholes.any()
        size = r.shape[2]
        zeros = x.new_zeros(x.shape[1], size)
        hidden = zeros if h is None else h[0]
        cell = zeros if c is None else c[0]
        bias = 0 if b is None else b[0, :4 * size] + b[0, 4 * size:]
        steps = []
        for step in x:
            gates = step @ w[0].T + hidden @ r[0].T + bias
            i, o, f, g = gates.split(size, -1)
            cell = f.sigmoid() * cell + i.sigmoid() * g.tanh()
            hidden = o.sigmoid() * cell.tanh()
            steps.append(hidden)
        return (torch.stack(steps).unsqueeze(1), hidden.unsqueeze(0),
                cell.unsqueeze(0))


def inputs_of(model, name, shapes):
    known = {tensor.name for tensor in model.graph.initializer}
    random = numpy.random.RandomState(1)
    values = {}
    for port in model.graph.input:
        if port.name in known:
            continue
        shape = [d.dim_value for d in port.type.tensor_type.shape.dim]
        shape = list(shapes.get(port.name, shape))
        shape[0] = BATCHES.get(name, shape[0])
        values[port.name] = random.uniform(0, 1, shape).astype(numpy.float32)
    return values


def by_mxc(binaries, path, output, values, label, folder):
    """The loss, and the gradients by the parameters' names."""
    artifact = f"{folder}/net.mxa"
    options = []
    for name, value in values.items():
        options += ["--input-shape",
                    f"{name}:{'x'.join(map(str, value.shape))}"]
        numpy.save(f"{folder}/{name}.npy", value)
    run(f"{binaries}/mxc", "compile", path, *options, "--entry", "grad",
        "--loss", f"mse:{output}", "-o", artifact, "--quiet")
    told = run(f"{binaries}/mxc", "inspect", artifact)
    ports = re.findall(r"^  (input|output) +(\S+)  f32", told, re.M)
    wanted = next(n for kind, n in ports
                  if kind == "input" and n.endswith("_label"))
    numpy.save(f"{folder}/{wanted}.npy", label)
    given = []
    for kind, name in ports:
        if kind == "input":
            given += ["--input", f"{name}={folder}/{name}.npy"]
    for old in glob.glob(f"{folder}/output_*.npy"):
        os.remove(old)
    run(f"{binaries}/mxc", "run", artifact, "--entry", "grad", *given,
        "--output-dir", folder)
    names = [name for kind, name in ports if kind == "output"]
    found = {name: numpy.load(f"{folder}/output_{k}.npy")
             for k, name in enumerate(names)}
    return float(found["loss"].mean()), {
        name[5:]: value for name, value in found.items()
        if name.startswith("grad:")}


def loss_of(found, label):
    """What LinearRegressionOutput descends (of each sample half the mean of
    squares, added up), and the loss that is reported: its mean over samples."""
    descended = ((found - label) ** 2).sum() / (2 * label[0].numel())
    return descended, descended.item() / len(label)


def by_onnx2torch(path, values, index, label):
    import onnx2torch
    try:
        module = onnx2torch.convert(path).double()
    except Exception as error:  # it has no converter
        return f"{type(error).__name__}"
    for part in module.modules():
        if isinstance(part, torch.nn.modules.batchnorm._BatchNorm):
            part.train()
    found = module(*[torch.from_numpy(v).double() for v in values.values()])
    found = found[index] if isinstance(found, (tuple, list)) else found
    return f"{loss_of(found, label)[1]:.6g}"


def check(binaries, path, folder):
    model = onnx.load(path)
    name = os.path.basename(os.path.dirname(path))
    values = inputs_of(model, name, SHAPES.get(name, {}))
    good = True
    outputs = [port.name for port in model.graph.output]
    for index, output in list(enumerate(outputs))[:MOST_OUTPUTS]:
        evaluation, narrow = (Evaluation(model, values, dtype)
                              for dtype in (torch.float64, torch.float32))
        with torch.no_grad():
            shape = evaluation.run([output], True)[0].shape
        label = numpy.random.RandomState(2).uniform(
            0, 1, shape).astype(numpy.float32)
        wide = torch.from_numpy(label).double()
        descended, mean = loss_of(evaluation.run([output], True)[0], wide)
        descended.backward()
        loss_of(narrow.run([output], True)[0], wide.float())[0].backward()
        loss, gradients = by_mxc(binaries, path, output, values, label, folder)
        least = 1e-3 * max(float(leaf.grad.abs().max())
                           for leaf in evaluation.leaves.values()
                           if leaf.grad is not None)
        worst, theirs, where = 0.0, 0.0, ""
        for parameter, found in gradients.items():
            want, rounded = (
                numpy.zeros(found.shape) if leaf.grad is None
                else leaf.grad.double().numpy()
                for leaf in (evaluation.leaves[parameter],
                             narrow.leaves[parameter]))
            scale = max(float(numpy.abs(want).max()), least)
            one = float(numpy.abs(found - want).max()) / scale
            if not one <= worst:
                worst, where = one, parameter
                theirs = float(numpy.abs(rounded - want).max()) / scale
        missing = [n for n, leaf in evaluation.leaves.items()
                   if leaf.grad is not None and leaf.grad.abs().max() > 0
                   and n not in gradients]
        fine = (worst < max(1e-4, 2 * theirs)
                and abs(loss - mean) <= 1e-4 * abs(mean))
        good = good and fine and not missing
        print(f"{'ok' if fine else 'FAIL':4}  {name:20} {output:20.20} "
              f"{loss:12.6g} {mean:12.6g} "
              f"{by_onnx2torch(path, values, index, wide):>20} "
              f"{len(gradients):4}  {worst:.1e}  {theirs:.1e}  {where}"
              + (f"  without a gradient: {' '.join(missing)}"
                 if missing else ""), flush=True)
    return good


def main():
    binaries, folders = sys.argv[1], sys.argv[2:]
    torch.manual_seed(1)
    print(f"      {'model':20} {'output':20} {'loss':>12} {'PyTorch':>12} "
          f"{'onnx2torch':>20} gradients, worst, PyTorch's in f32")
    failed = 0
    for given in folders:
        path = f"{given.rstrip('/')}/model.onnx"
        try:
            with tempfile.TemporaryDirectory() as folder:
                failed += not check(binaries, path, folder)
        except Exception as error:  # a report, not the end
            print(f"FAIL  {given}: {type(error).__name__}: "
                  f"{str(error)[:400]}", flush=True)
            failed += 1
    print(f"{len(folders) - failed} of {len(folders)}")
    sys.exit(1 if failed else 0)


main()
