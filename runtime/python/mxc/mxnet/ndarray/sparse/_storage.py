# SPDX-License-Identifier: Apache-2.0
"""Which storage type an operator's result has, of those of its inputs."""

from .._invoke import TABLE

DEFAULT, CSR, ROW_SPARSE = "default", "csr", "row_sparse"


def first_name(op):
    """The operator's first name; its own where other names compute the same, but of
    what is stored alone."""
    row = TABLE.get(op)
    return op if row is None or op.startswith(("_scatter_", "_square_")) else row["name"]


def _names(text):
    return {first_name(op) for op in text.split()}


# f(0) is 0: what is stored stays where it is.
KEEPS_ZERO = _names("""negative square sqrt cbrt rint fix floor ceil round trunc sign log1p
expm1 sin tan arcsin arctan degrees radians sinh tanh arcsinh arctanh abs relu BlockGrad
make_loss _copy zeros_like _mul_scalar _div_scalar _scatter_plus_scalar
_scatter_minus_scalar""")
_SAME = _names("elemwise_add elemwise_sub _grad_add _maximum _minimum _hypot")
_PRODUCT = _names("elemwise_mul")
_OVER_CSR = _names("broadcast_mul broadcast_div")

# Comparisons with a number, and whether 0 compared with it gives 0.
_SCALARS = {first_name(op): gives_zero for op, gives_zero in {
    "_plus_scalar": lambda s: s == 0, "_minus_scalar": lambda s: s == 0,
    "_equal_scalar": lambda s: s != 0, "_not_equal_scalar": lambda s: s == 0,
    "_greater_scalar": lambda s: s >= 0, "_greater_equal_scalar": lambda s: s > 0,
    "_lesser_scalar": lambda s: s <= 0, "_lesser_equal_scalar": lambda s: s < 0,
}.items()}


def is_true(attrs, name):
    """Whether an attribute is set, as a value or as a text."""
    return str(attrs.get(name, False)).lower() in ("true", "1")


def number(attrs, name, default=0.0):
    """A number, of a value or of a text."""
    return float(attrs.get(name, default))


def whole_numbers(attrs, name):
    """A tuple of whole numbers or None, of a value or of a text."""
    given = attrs.get(name)
    if given is None or given == "None":
        return None
    if isinstance(given, str):
        parts = given.strip("()[] ").split(",")
        given = [None if part.strip() == "None" else int(part)
                 for part in parts if part.strip()]
    elif not isinstance(given, (tuple, list)):
        given = (given,)
    return tuple(None if part is None else int(part) for part in given)


def _dot(stypes, attrs):
    asked = attrs.get("forward_stype")
    if asked not in (None, "None"):
        return asked
    left, right = stypes[:2]
    transposed = is_true(attrs, "transpose_a"), is_true(attrs, "transpose_b")
    if left == CSR and right != CSR and transposed == (True, False):
        return ROW_SPARSE
    return CSR if (left, right) == (DEFAULT, CSR) and not transposed[0] else DEFAULT


def _product(stypes, attrs):
    left, right = stypes
    if left == right:
        return left
    if DEFAULT in (left, right):
        return left if right == DEFAULT else right
    return DEFAULT


def _slice(stypes, attrs):
    steps = whole_numbers(attrs, "step") or ()
    plain = all(step in (None, 1) for step in steps)
    return CSR if stypes[0] == CSR and plain else DEFAULT


def _concat(stypes, attrs):
    rows = int(attrs.get("dim", 1)) == 0
    return CSR if rows and set(stypes) == {CSR} else DEFAULT


def _clip(stypes, attrs):
    keeps = number(attrs, "a_min") <= 0 <= number(attrs, "a_max")
    return stypes[0] if keeps else DEFAULT


def _square_sum(stypes, attrs):
    axis = whole_numbers(attrs, "axis")
    of_rows = axis in ((1,), (-1,)) and is_true(attrs, "keepdims")
    return ROW_SPARSE if stypes[0] == ROW_SPARSE and of_rows else DEFAULT


_RULES = {first_name(op): rule for op, rule in {
    "cast_storage": lambda stypes, attrs: attrs.get("stype", DEFAULT),
    "dot": _dot, "slice": _slice, "Concat": _concat, "clip": _clip,
    "_square_sum": _square_sum,
    "_sparse_retain": lambda stypes, attrs: ROW_SPARSE,
    "_scatter_elemwise_div": lambda stypes, attrs: (
        ROW_SPARSE if stypes[0] == ROW_SPARSE else DEFAULT),
    "add_n": lambda stypes, attrs: (
        ROW_SPARSE if set(stypes) == {ROW_SPARSE} else DEFAULT),
    "_contrib_quadratic": lambda stypes, attrs: (
        CSR if stypes[0] == CSR and number(attrs, "c") == 0 else DEFAULT),
}.items()}


def infer(op, stypes, attrs):
    """The storage type of the operator's results. stypes: of its inputs; attrs: values
    or texts by name."""
    op = first_name(op)
    if op in _RULES:
        return _RULES[op](stypes, attrs)
    if all(stype == DEFAULT for stype in stypes):
        return DEFAULT
    if op in KEEPS_ZERO:
        return stypes[0]
    if op in _SAME:
        return stypes[0] if len(set(stypes)) == 1 else DEFAULT
    if op in _PRODUCT:
        return _product(stypes, attrs)
    if op in _OVER_CSR:
        return CSR if tuple(stypes) == (CSR, DEFAULT) else DEFAULT
    if op in _SCALARS:
        return stypes[0] if _SCALARS[op](number(attrs, "scalar")) else DEFAULT
    return DEFAULT


def is_plain(op):
    """Whether results are dense wherever all inputs are."""
    return first_name(op) not in _RULES


def keeps_pattern(op, attrs, stype):
    """Whether a function of single elements leaves what is stored where it is."""
    name = first_name(op)
    elementwise = (name in KEEPS_ZERO or name in _SCALARS
                   or name in (first_name("clip"), "_contrib_quadratic"))
    return elementwise and infer(op, [stype], attrs) == stype
