# SPDX-License-Identifier: Apache-2.0
"""WikiText from local files."""
import io
import os
import zipfile

import numpy as np

from .... import ndarray
from ....contrib import text
from ...data.vision.datasets import _LocalDataset, _root

__all__ = ["WikiText2", "WikiText103"]

EOS_TOKEN = "<eos>"


class _WikiText(_LocalDataset):
    """Words as numbers: samples of `seq_len` words and those one further."""

    _name = ""

    def __init__(self, root, segment, vocab, seq_len):
        self._segment = segment
        self._vocab = vocab
        self._seq_len = seq_len
        super().__init__(root, None)

    @property
    def vocabulary(self):
        """The words and their numbers."""
        return self._vocab

    @property
    def frequencies(self):
        """How often each word occurs."""
        return self._counter

    def _read(self):
        segment = {"train": "train", "validation": "valid", "test": "test"}[self._segment]
        words = []
        for line in self._text(f"wiki.{segment}.tokens").splitlines():
            line = line.strip().split()
            words += line + [EOS_TOKEN] if line else []
        self._counter = text.utils.count_tokens_from_str(" ".join(words))
        if self._vocab is None:
            self._vocab = text.vocab.Vocabulary(counter=self._counter,
                                                reserved_tokens=[EOS_TOKEN])
        numbers = np.array(self._vocab.to_indices(words), dtype=np.int32)
        count = (len(numbers) - 1) // self._seq_len * self._seq_len
        self._data, self._label = (
            ndarray.array(part.reshape(-1, self._seq_len), dtype=np.int32)
            for part in (numbers[:count], numbers[1:count + 1]))

    def _text(self, name):
        path = self._path(name, self._name + ".zip")
        if not path.endswith(".zip"):
            with io.open(path, encoding="utf-8") as file:
                return file.read()
        with zipfile.ZipFile(path) as archive:
            for member in archive.namelist():
                if os.path.basename(member) == name:
                    return archive.read(member).decode("utf-8")
        raise OSError(f"{path} has no {name}.")


class WikiText2(_WikiText):
    """2 million words; `segment` "train", "validation" or "test"."""

    _name = "wikitext-2-v1"

    def __init__(self, root=_root("wikitext-2"), segment="train", vocab=None, seq_len=35):
        super().__init__(root, segment, vocab, seq_len)


class WikiText103(_WikiText):
    """103 million words; `segment` "train", "validation" or "test"."""

    _name = "wikitext-103-v1"

    def __init__(self, root=_root("wikitext-103"), segment="train", vocab=None, seq_len=35):
        super().__init__(root, segment, vocab, seq_len)
