# SPDX-License-Identifier: Apache-2.0
"""Executors of one symbol on several devices, each with a part of the batch."""

import logging

from .. import ndarray as nd
from ..io import DataDesc


def split_batch(batch_size, work_load_list):
    """A slice of the batch for each device, by its share of the work."""
    total = sum(work_load_list)
    ends = [round(batch_size * sum(work_load_list[:i + 1]) / total)
            for i in range(len(work_load_list))]
    begins = [0, *ends[:-1]]
    if any(begin >= end for begin, end in zip(begins, ends)):
        raise ValueError(f"{batch_size} samples are too few for {len(ends)} devices")
    return [slice(begin, end) for begin, end in zip(begins, ends)]


def _part(array, axis, part):
    """A slice of an array along an axis; all of it where there is none."""
    if axis < 0 or (part.start == 0 and part.stop == array.shape[axis]):
        return array
    if axis == 0:
        return array[part]
    return nd.slice_axis(array, axis=axis, begin=part.start, end=part.stop)


def _merged(arrays, axis):
    """The parts as one array."""
    if len(arrays) == 1 or axis < 0:
        return arrays[0]
    here = arrays[0].context
    return nd.concat(*[array.as_in_context(here) for array in arrays], dim=axis)


def _groups_of(group2ctxs, count):
    """A dict from groups to contexts for each device."""
    if group2ctxs is None:
        return [None] * count
    if isinstance(group2ctxs, list):
        if len(group2ctxs) != count:
            raise AssertionError(f"group2ctxs has {len(group2ctxs)} dicts, "
                                 f"expected {count}")
        return group2ctxs
    found = [{} for _ in range(count)]
    for group, contexts in group2ctxs.items():
        listed = contexts if isinstance(contexts, list) else [contexts]
        if len(listed) == 1:
            listed = listed * count
        if len(listed) != count:
            raise AssertionError(f"group {group} has {len(listed)} contexts, "
                                 f"expected {count}")
        for places, context in zip(found, listed):
            places[group] = context
    return found


class DataParallelExecutorGroup:
    """One executor for each of `contexts`.

    execs: the executors; param_arrays, grad_arrays, aux_arrays: for each
    parameter the arrays of all devices; shared_data_arrays: for each device its
    inputs by name, which groups that share this one use, too.
    """

    def __init__(self, symbol, contexts, workload, data_shapes, label_shapes,
                 param_names, for_training, inputs_need_grad, shared_group=None,
                 logger=logging, fixed_param_names=None, grad_req="write",
                 state_names=None, group2ctxs=None):
        self.symbol = symbol
        self.contexts = contexts
        self.workload = workload
        self.param_names = param_names
        self.arg_names = symbol.list_arguments()
        self.aux_names = symbol.list_auxiliary_states()
        self.fixed_param_names = fixed_param_names or []
        self.state_names = state_names or []
        self.for_training = for_training
        self.inputs_need_grad = inputs_need_grad
        self.logger = logger
        self._groups = _groups_of(group2ctxs, len(contexts))
        self._grad_req_asked = grad_req
        self.output_layouts = [
            DataDesc.get_batch_axis(output.attr("__layout__"))
            for output in symbol]
        self.shared_data_arrays = (shared_group.shared_data_arrays if shared_group
                                   else [{} for _ in contexts])
        self._describe(data_shapes, label_shapes)
        self.grad_req = self._grad_requests()
        self.execs = [self._bind(i, shared_group) for i in range(len(contexts))]
        self._collect()

    # ---- Shapes and executors ------------------------------------------------

    def _describe(self, data_shapes, label_shapes):
        self.data_shapes = [desc if isinstance(desc, DataDesc) else
                            DataDesc(*desc) for desc in data_shapes]
        self.label_shapes = None if label_shapes is None else [
            desc if isinstance(desc, DataDesc) else DataDesc(*desc)
            for desc in label_shapes]
        self.data_names = [desc.name for desc in self.data_shapes]
        self.label_names = [desc.name for desc in self.label_shapes or []]
        self.data_layouts = [DataDesc.get_batch_axis(desc.layout)
                             for desc in self.data_shapes]
        self.label_layouts = [DataDesc.get_batch_axis(desc.layout)
                              for desc in self.label_shapes or []]
        self.batch_size = None
        for desc, axis in zip(self.data_shapes + (self.label_shapes or []),
                              self.data_layouts + self.label_layouts):
            if axis < 0:
                continue
            if self.batch_size not in (None, desc.shape[axis]):
                raise AssertionError(
                    f"{desc.name} has shape {desc.shape}, expected "
                    f"{self.batch_size} samples")
            self.batch_size = desc.shape[axis]
        self.slices = ([slice(0, None)] * len(self.contexts)
                       if self.batch_size is None
                       else split_batch(self.batch_size, self.workload))

    def _grad_requests(self):
        asked = self._grad_req_asked
        found = {}
        for i, name in enumerate(self.arg_names):
            if not self.for_training or name in self.fixed_param_names:
                found[name] = "null"
            elif name in self.param_names or name in self.data_names:
                if isinstance(asked, str):
                    req = asked
                elif isinstance(asked, (list, tuple)):
                    req = asked[i]
                else:
                    req = asked.get(name, "write")
                if name in self.data_names and name not in self.param_names:
                    req = req if self.inputs_need_grad else "null"
                found[name] = req
            else:
                found[name] = "null"
        return found

    def _shapes(self, i):
        shapes = {}
        for desc, axis in zip(self.data_shapes + (self.label_shapes or []),
                              self.data_layouts + self.label_layouts):
            shape = list(desc.shape)
            if axis >= 0 and self.batch_size is not None:
                shape[axis] = self.slices[i].stop - self.slices[i].start
            shapes[desc.name] = tuple(shape)
        return {name: shape for name, shape in shapes.items()
                if name in self.arg_names}

    def _bind(self, i, shared_group):
        types = {desc.name: desc.dtype for desc
                 in self.data_shapes + (self.label_shapes or [])}
        return self.symbol.simple_bind(
            ctx=self.contexts[i], grad_req=self.grad_req, type_dict=types,
            shared_arg_names=self.param_names,
            shared_exec=shared_group.execs[i] if shared_group else None,
            shared_buffer=self.shared_data_arrays[i],
            group2ctx=self._groups[i], **self._shapes(i))

    def _collect(self):
        def of(arrays, names):
            return [[getattr(each, arrays)[self.arg_names.index(name)]
                     for each in self.execs] for name in names]

        present = [name for name in self.param_names if name in self.arg_names]
        self.param_names = present
        self.param_arrays = of("arg_arrays", present)
        self.grad_arrays = (of("grad_arrays", present) if self.for_training
                            else None)
        self.aux_arrays = [[each.aux_arrays[i] for each in self.execs]
                           for i in range(len(self.aux_names))]
        self.input_grad_arrays = (of("grad_arrays", self.data_names)
                                  if self.inputs_need_grad else None)
        self.state_arrays = of("arg_arrays", self.state_names)

    def reshape(self, data_shapes, label_shapes):
        """Other shapes of inputs; parameters stay."""
        if data_shapes == self.data_shapes and label_shapes == self.label_shapes:
            return
        self._describe(data_shapes, label_shapes)
        self.execs = [each.reshape(allow_up_sizing=True, **self._shapes(i))
                      for i, each in enumerate(self.execs)]
        self._collect()

    # ---- Parameters and states -----------------------------------------------

    def set_params(self, arg_params, aux_params, allow_extra=False):
        """Copies parameters to all devices."""
        for each in self.execs:
            each.copy_params_from(arg_params, aux_params,
                                  allow_extra_params=allow_extra)

    def get_params(self, arg_params, aux_params):
        """Copies the mean over the devices into arrays by name."""
        for names, blocks, params in (
                (self.param_names, self.param_arrays, arg_params),
                (self.aux_names, self.aux_arrays, aux_params)):
            for name, block in zip(names, blocks):
                total = block[0]
                for array in block[1:]:
                    total = total + array.as_in_context(total.context)
                mean = total / len(block) if len(block) > 1 else total
                params[name][:] = mean.astype(params[name].dtype)

    def get_states(self, merge_multi_context=True):
        """The states, merged or for each device."""
        return self._shown(self.state_arrays, [0] * len(self.state_names),
                           merge_multi_context)

    def set_states(self, states=None, value=None):
        """Sets them: states, for each a list of the devices' arrays; or all to a
        number."""
        if (states is None) == (value is None):
            raise AssertionError("either states or value is to be given")
        for i, arrays in enumerate(self.state_arrays):
            for k, array in enumerate(arrays):
                array[:] = value if states is None else states[i][k]

    # ---- Runs ----------------------------------------------------------------

    def _load(self, arrays, names, layouts):
        for array, name, axis in zip(arrays, names, layouts):
            for part, each in zip(self.slices, self.execs):
                target = each.arg_dict.get(name)
                if target is None:
                    continue
                source = _part(array, axis, part) if len(self.execs) > 1 else array
                if isinstance(source, nd.NDArray):
                    source = source.as_in_context(target.context)
                target[:] = source

    def forward(self, data_batch, is_train=None):
        """Runs all devices on their parts."""
        is_train = self.for_training if is_train is None else is_train
        self._load(data_batch.data, self.data_names, self.data_layouts)
        if data_batch.label and self.label_shapes:
            self._load(data_batch.label, self.label_names, self.label_layouts)
        for each in self.execs:
            each.forward(is_train=is_train)

    def backward(self, out_grads=None):
        """Computes gradients on all devices; out_grads: of the merged outputs."""
        if not self.for_training:
            raise AssertionError("the module is bound without for_training")
        if isinstance(out_grads, nd.NDArray):
            out_grads = [out_grads]
        for part, each in zip(self.slices, self.execs):
            grads = None
            if out_grads is not None:
                grads = [grad if len(self.execs) == 1 else
                         _part(grad, axis, part).as_in_context(each._ctx)
                         for grad, axis in zip(out_grads, self.output_layouts)]
            each.backward(out_grads=grads)

    def get_output_shapes(self):
        """[(name, shape)] of the merged outputs."""
        found = []
        for i, (name, axis) in enumerate(zip(self.symbol.list_outputs(),
                                             self.output_layouts)):
            shape = list(self.execs[0].outputs[i].shape)
            if axis >= 0 and self.batch_size is not None:
                shape[axis] = self.batch_size
            found.append((name, tuple(shape)))
        return found

    @staticmethod
    def _shown(blocks, axes, merge):
        if not merge:
            return blocks
        return [_merged(block, axis) for block, axis in zip(blocks, axes)]

    def get_outputs(self, merge_multi_context=True, begin=0, end=None):
        """The outputs, merged or for each device."""
        end = len(self.output_layouts) if end is None else end
        blocks = [[each.outputs[i] for each in self.execs]
                  for i in range(begin, end)]
        return self._shown(blocks, self.output_layouts[begin:end],
                           merge_multi_context)

    def get_input_grads(self, merge_multi_context=True):
        """The gradients of the data, merged or for each device."""
        if not self.inputs_need_grad:
            raise AssertionError("bind with inputs_need_grad=True")
        return self._shown(self.input_grad_arrays, self.data_layouts,
                           merge_multi_context)

    def update_metric(self, eval_metric, labels, pre_sliced=False):
        """Shows a metric the labels and the outputs of each device."""
        for k, (part, each) in enumerate(zip(self.slices, self.execs)):
            if pre_sliced:
                own = labels[k]
            elif len(self.execs) == 1:
                own = labels or []
            else:
                own = [_part(label, axis, part) for label, axis
                       in zip(labels or [], self.label_layouts)]
            eval_metric.update_dict(
                dict(zip(self.label_names, own)),
                dict(zip(self.symbol.list_outputs(), each.outputs)))

    def install_monitor(self, mon):
        """Shows a Monitor what the executors compute."""
        for each in self.execs:
            mon.install(each)


