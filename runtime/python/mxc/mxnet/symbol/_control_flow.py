# SPDX-License-Identifier: Apache-2.0
"""Loops and branches whose bodies are graphs of their own."""

from ..attribute import AttrScope
from ..name import NameManager
from ._compose import create
from ._node import Node, cut, walk

_MARK = "__subgraph_name__"


def _flatten(values, what):
    """Symbols of nested lists, and the nesting: None for a symbol alone."""
    from .symbol import Symbol
    if isinstance(values, Symbol):
        return [values], None
    if not isinstance(values, (list, tuple)):
        raise TypeError(f"{what} must be symbols or (nested) lists of symbols, "
                        f"found {type(values).__name__}")
    flat, form = [], []
    for value in values:
        symbols, inner = _flatten(value, what)
        flat += symbols
        form.append((len(symbols), inner))
    return flat, form


def _packed(symbols, form):
    """The nesting again, of as many symbols."""
    if form is None:
        return symbols[0]
    packed, begin = [], 0
    for count, inner in form:
        packed.append(_packed(symbols[begin:begin + count], inner))
        begin += count
    return packed


class _Body:
    """What a function makes of fresh variables, cut off from the graph around.

    variables: one for each of `inputs`; heads: of the body's own graph;
    arguments: the body's variables in its order, outer: what stands for each.
    """

    def __init__(self, name, function, inputs):
        from .symbol import Symbol
        self._name = f"{name}{AttrScope._subgraph_names[name]}"
        AttrScope._subgraph_names[name] += 1
        names = NameManager()
        with AttrScope(**{_MARK: self._name}):
            self.variables = [self._fresh(symbol, names)
                              for symbol in inputs]
            self.result = function([Symbol([(node, 0)])
                                    for node in self.variables])
        self._outer = {id(node): symbol._heads[0] for node, symbol
                       in zip(self.variables, inputs)}

    def _fresh(self, symbol, names):
        node, index = symbol._heads[0]
        base = node.name if node.op is None else node.output_name(index)
        return Node(None, names.get(None, base + "-"),
                    AttrScope.current.get(None))

    def close(self, symbols):
        """Makes these symbols the body's outputs."""
        with AttrScope(**{_MARK: self._name}):
            heads = [self._own(symbol, i, symbols)
                     for i, symbol in enumerate(symbols)]
        self.heads = cut(heads, lambda node: node.attrs.get(_MARK) != self._name,
                         self._captured)
        self.arguments = [node for node in walk(self.heads) if node.op is None]
        return self

    def _own(self, symbol, position, symbols):
        """An output that is a node of the body, and no other output."""
        node, index = symbol._heads[0]
        again = any(other._heads[0] == (node, index)
                    for other in symbols[:position])
        if node.op is None or node.attrs.get(_MARK) != self._name or again:
            return create("_copy", "identity", (symbol,), {})._heads[0]
        return node, index

    def _captured(self, node, index):
        variable = Node(None, node.output_name(index),
                        node.attrs if node.op is None else None)
        self._outer[id(variable)] = (node, index)
        return variable

    def outer(self, argument):
        """What the graph around gives for one of the arguments; a variable that
        the function made is the same there."""
        return self._outer.get(id(argument), (argument, 0))

    def position(self, variable, what):
        """Of one of the fresh variables among the arguments."""
        for i, argument in enumerate(self.arguments):
            if argument is variable:
                return i
        raise AssertionError(f"the body does not read all of {what}")


def _call(op, hint, inputs, bodies, attrs, outputs):
    """The node of control flow, and symbols of its outputs."""
    from .symbol import Symbol
    texts = {name: str(value) for name, value in attrs.items()}
    texts["num_args"] = str(len(inputs) + len(bodies))
    texts["num_outputs"] = str(outputs)
    node = Node(op, NameManager.current.get(None, hint),
                {**texts, **AttrScope.current.get(None)}, inputs,
                [body.heads for body in bodies])
    return [Symbol([(node, i)]) for i in range(outputs)]


def foreach(body, data, init_states, name="foreach"):
    """Runs body(slice of data, states) -> (output, states) along axis 0.

    Returns outputs, stacked along axis 0, and the last states, nested as the
    body nests them.
    """
    flat_data, data_form = _flatten(data, "data")
    flat_states, state_form = _flatten(init_states, "init_states")

    def run(symbols):
        count = len(flat_data)
        return body(_packed(symbols[:count], data_form),
                    _packed(symbols[count:], state_form))

    graph = _Body(name, run, flat_data + flat_states)
    outputs, out_form = _flatten(graph.result[0], "the body's outputs")
    states, last_form = _flatten(graph.result[1], "the body's states")
    if len(states) != len(flat_states):
        raise AssertionError(f"the body has {len(flat_states)} states and "
                             f"returns {len(states)}")
    graph.close(outputs + states)
    places = [graph.position(variable, "the data and state arrays")
              for variable in graph.variables]
    remain = [i for i in range(len(graph.arguments)) if i not in places]
    inputs = [symbol._heads[0] for symbol in flat_data + flat_states]
    inputs += [graph.outer(graph.arguments[i]) for i in remain]
    count = len(flat_data)
    made = _call("_foreach", "_foreach", inputs, [graph], {
        "in_data_locs": places[:count], "in_state_locs": places[count:],
        "remain_locs": remain, "num_out_data": len(outputs)},
        len(outputs) + len(states))
    return (_packed(made[:len(outputs)], out_form),
            _packed(made[len(outputs):], last_form))


class _Inputs:
    """The inputs of a node with several bodies, each once; but a value with which
    a variable begins is another input than the same value where it stays."""

    def __init__(self):
        self._places = {}
        self.entries = []

    def places(self, body):
        found = []
        for argument in body.arguments:
            entry = body.outer(argument)
            variable = next((i for i, fresh in enumerate(body.variables)
                             if fresh is argument), None)
            key = (variable if variable is not None
                   else (id(entry[0]), entry[1]))
            if key not in self._places:
                self._places[key] = len(self.entries)
                self.entries.append(entry)
            found.append(self._places[key])
        return found


def while_loop(cond, func, loop_vars, max_iterations=None, name="while_loop"):
    """Runs func(*loop_vars) -> (outputs, loop_vars) while cond(*loop_vars) is
    true, at most max_iterations times.

    Returns outputs, stacked along axis 0 (max_iterations rows, those that were
    not reached undefined), and the last loop_vars.
    """
    if max_iterations is None:
        raise ValueError("max_iterations is missing")
    flat, form = _flatten(loop_vars, "loop_vars")
    if not flat:
        raise ValueError("there are no loop_vars")
    test = _Body(name + "_cond", lambda symbols: cond(*_as_list(_packed(symbols,
                                                                        form))),
                 flat)
    test.close([test.result])
    step = _Body(name + "_func", lambda symbols: func(*_as_list(_packed(symbols,
                                                                        form))),
                 flat)
    outputs, out_form = _flatten([] if step.result[0] is None
                                 else step.result[0], "outputs")
    variables, _ = _flatten(step.result[1], "loop_vars")
    if len(variables) != len(flat):
        raise ValueError(f"func gives {len(variables)} loop_vars, expected "
                         f"{len(flat)}")
    step.close(outputs + variables)
    inputs = _Inputs()
    tested = inputs.places(test)
    stepped = inputs.places(step)
    made = _call("_while_loop", "_while_loop", inputs.entries, [test, step], {
        "cond_input_locs": tested, "func_input_locs": stepped,
        "func_var_locs": [step.position(variable, "the loop_vars")
                          for variable in step.variables],
        "max_iterations": int(max_iterations), "num_out_data": len(outputs)},
        len(outputs) + len(variables))
    return (_packed(made[:len(outputs)], out_form),
            _packed(made[len(outputs):], form))


def _as_list(values):
    return values if isinstance(values, (list, tuple)) else [values]


def cond(pred, then_func, else_func, name="cond"):
    """then_func() where pred is true, else else_func(); both return as many
    symbols, of the same shapes."""
    from .symbol import Symbol
    if not isinstance(pred, Symbol):
        raise TypeError("pred must be a symbol")
    test = _Body(name + "_pred", lambda _: pred, [])
    test.close([pred])
    bodies = [test]
    forms = []
    for which, function in (("_then", then_func), ("_else", else_func)):
        body = _Body(name + which, lambda _, f=function: f(), [])
        flat, form = _flatten(body.result, "outputs")
        forms.append((len(flat), form))
        bodies.append(body.close(flat))
    if forms[0] != forms[1]:
        raise ValueError(f"then_func gives {forms[0][0]} outputs, else_func "
                         f"{forms[1][0]}")
    inputs = _Inputs()
    places = [inputs.places(body) for body in bodies]
    made = _call("_cond", "_cond", inputs.entries, bodies, {
        "cond_input_locs": places[0], "then_input_locs": places[1],
        "else_input_locs": places[2]}, forms[0][0])
    return _packed(made, forms[0][1])
