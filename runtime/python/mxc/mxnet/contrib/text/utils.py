# SPDX-License-Identifier: Apache-2.0
"""Counting words."""
import re
from collections import Counter

__all__ = ["count_tokens_from_str"]


def count_tokens_from_str(source_str, token_delim=" ", seq_delim="\n", to_lower=False,
                          counter_to_update=None):
    """A Counter of the words between the delimiters; `counter_to_update` if given, updated."""
    words = re.split(f"{re.escape(token_delim)}|{re.escape(seq_delim)}",
                     source_str.lower() if to_lower else source_str)
    counter = Counter() if counter_to_update is None else counter_to_update
    counter.update(word for word in words if word)
    return counter
