# SPDX-License-Identifier: Apache-2.0
"""Columns of a data frame as the numbers that a network takes."""

from pyspark.ml.functions import vector_to_array
from pyspark.ml.linalg import VectorUDT
from pyspark.mllib.linalg import VectorUDT as OlderVectorUDT
from pyspark.sql import functions, types


def field(frame, name):
    """The type of a column that must be there."""
    if name not in frame.columns:
        raise ValueError(f"there is no column '{name}'; the data frame has "
                         + ", ".join(frame.columns))
    return frame.schema[name].dataType


def _is_number(kind):
    return isinstance(kind, (types.NumericType, types.BooleanType))


def as_array(frame, name):
    """A column of vectors, arrays or numbers as array<float>."""
    kind, column = field(frame, name), frame[f"`{name}`"]
    if isinstance(kind, (VectorUDT, OlderVectorUDT)):
        found = vector_to_array(column, "float32")
    elif isinstance(kind, types.ArrayType) and _is_number(kind.elementType):
        found = column.cast("array<float>")
    elif _is_number(kind):
        found = functions.array(column.cast("float"))
    else:
        raise ValueError(f"column '{name}' holds {kind.simpleString()}, "
                         "expected vectors, arrays of numbers, or numbers")
    return functions.when(column.isNotNull(), found)


def as_label(frame, name):
    """A column of numbers as float, of several in a row as array<float>."""
    kind = field(frame, name)
    if _is_number(kind):
        return frame[f"`{name}`"].cast("float")
    if isinstance(kind, types.StringType):
        raise ValueError(f"label column '{name}' holds strings; StringIndexer "
                         "makes numbers of them")
    return as_array(frame, name)
