# SPDX-License-Identifier: Apache-2.0
"""What Block.summary prints."""
from collections import OrderedDict

from ..ndarray import NDArray
from ._shapes import known

_ROW = "{:>20}  {:>42} {:>15}"


def _shape_text(values):
    if isinstance(values, (list, tuple)):
        return "(" + ", ".join(_shape_text(each) for each in values) + ")"
    return str(values.shape) if isinstance(values, NDArray) else "unknown"


def _elements(param):
    count = 1
    for extent in param.shape if known(param.shape) else (0,):
        count *= extent
    return count


class _Rows:
    """One row for each block that was called, in that order."""

    def __init__(self):
        self.rows = OrderedDict()
        self.counted = set()
        self.handles = []

    def hook(self, block):
        """Watches `block`; a hybridized one keeps what happens in it to itself."""
        assert not getattr(block, "_active", False), (
            f"{block.name} is hybridized, and its layers are one program: call summary "
            "before hybridize.")
        self.handles.append(block.register_forward_hook(self._note))

    def _note(self, block, _, outputs):
        own = [param for param in block.params.values()]
        fresh = [param for param in own if param not in self.counted]
        self.counted.update(own)
        self.rows[f"{type(block).__name__}-{len(self.rows) + 1}"] = (
            _shape_text(outputs), sum(map(_elements, own)), sum(map(_elements, fresh)),
            sum(_elements(param) for param in fresh if param.grad_req != "null"))


def print_summary(block, inputs):
    """Runs `block` on `inputs` and prints a table of its layers."""
    watch = _Rows()
    watch.rows["Input"] = (_shape_text(inputs if len(inputs) > 1 else inputs[0]), 0, 0, 0)
    block.apply(watch.hook)
    try:
        block(*inputs)
    finally:
        for handle in watch.handles:
            handle.detach()
    rule = "=" * 80
    print("-" * 80, _ROW.format("Layer (type)", "Output Shape", "Param #"), rule, sep="\n")
    for name, (shape, count, _, _) in watch.rows.items():
        print(_ROW.format(name, shape, count))
    fresh = sum(row[2] for row in watch.rows.values())
    trained = sum(row[3] for row in watch.rows.values())
    everything = sum(row[1] for row in watch.rows.values())
    print(rule, f"Parameters in forward computation graph, duplicate included\n"
          f"   Total params: {everything}\n   Trainable params: {trained}\n"
          f"   Non-trainable params: {fresh - trained}\n"
          f"Shared params in forward computation graph: {everything - fresh}\n"
          f"Unique parameters in model: {fresh}\n" + "-" * 80, sep="\n")
