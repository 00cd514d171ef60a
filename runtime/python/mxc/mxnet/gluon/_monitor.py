# SPDX-License-Identifier: Apache-2.0
"""What register_op_hook's callback is told of a node."""
from ..symbol import op_input_names, op_output_names


class Monitor:
    """Calls `callback(name, operator, array)` for a node's outputs, and inputs if `everything`."""

    def __init__(self, callback, everything):
        self._callback = callback
        self._everything = everything

    def __call__(self, node, inputs, outputs):
        if self._everything:
            self._tell(node, op_input_names(node, len(inputs)), inputs)
        self._tell(node, op_output_names(node, len(outputs)), outputs)

    def _tell(self, node, names, arrays):
        for name, array in zip(names, arrays):
            self._callback(f"{node['name']}_{name}", node["op"], array)
