# SPDX-License-Identifier: Apache-2.0
"""Words as vectors, from files of trained ones."""
import io
import os
import warnings

import numpy as np

from ... import ndarray, registry
from ...ndarray import NDArray
from .vocab import Vocabulary

__all__ = ["register", "create", "get_pretrained_file_names", "GloVe", "FastText",
           "CustomEmbedding", "CompositeEmbedding"]


def register(embedding_cls):
    """Makes a class known to `create` by its name."""
    return registry.get_register_func(_TokenEmbedding, "token embedding")(embedding_cls)


def create(embedding_name, **kwargs):
    """The embedding of a registered name, as "glove"."""
    return registry.get_create_func(_TokenEmbedding, "token embedding")(embedding_name, **kwargs)


def get_pretrained_file_names(embedding_name=None):
    """The files that an embedding's name may have; of all names without one."""
    known = registry.get_registry(_TokenEmbedding)
    if embedding_name is None:
        return {name: list(kind.pretrained_file_names) for name, kind in known.items()
                if kind.pretrained_file_names}
    if embedding_name not in known:
        raise KeyError(f"There is no embedding '{embedding_name}'; there are "
                       f"{', '.join(sorted(known))}.")
    return list(known[embedding_name].pretrained_file_names)


class _TokenEmbedding(Vocabulary):
    """A Vocabulary with a vector for each word; that of word 0 is for unknown ones."""

    pretrained_file_names = ()

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self._vec_len = 0
        self._idx_to_vec = None

    @property
    def vec_len(self):
        """How many numbers a vector has."""
        return self._vec_len

    @property
    def idx_to_vec(self):
        """The vectors by number (words, vec_len)."""
        return self._idx_to_vec

    @classmethod
    def _file_of(cls, root, name):
        path = os.path.join(os.path.expanduser(root), cls.__name__.lower(), name)
        if cls.pretrained_file_names and name not in cls.pretrained_file_names:
            raise KeyError(f"{cls.__name__} has no file {name}; it has "
                           f"{', '.join(cls.pretrained_file_names)}.")
        if not os.path.exists(path):
            raise OSError(f"mxc downloads nothing: put {name} at {path}.")
        return path

    def _load(self, path, delimiter, init_unknown_vec, encoding="utf8"):
        """Reads "word number number …" lines."""
        path = os.path.expanduser(path)
        if not os.path.isfile(path):
            raise ValueError(f"There is no file {path} of vectors.")
        vectors, unknown = [], None
        with io.open(path, encoding=encoding) as file:
            for number, line in enumerate(file, 1):
                token, *values = line.rstrip().split(delimiter)
                assert values, f"{path}:{number}: a word without numbers."
                if len(values) == 1:
                    warnings.warn(f"{path}:{number}: '{token}' with one number is passed over, "
                                  "as a head.", stacklevel=3)
                    continue
                assert not self._vec_len or len(values) == self._vec_len, (
                    f"{path}:{number}: '{token}' has {len(values)} numbers, the others "
                    f"{self._vec_len}.")
                self._vec_len = len(values)
                values = [float(value) for value in values]
                if token == self.unknown_token:
                    unknown = values if unknown is None else unknown
                elif token in self._token_to_idx:
                    warnings.warn(f"{path}:{number}: '{token}' is there already.", stacklevel=3)
                else:
                    self._token_to_idx[token] = len(self._idx_to_token)
                    self._idx_to_token.append(token)
                    vectors.append(values)
        first = init_unknown_vec(shape=self._vec_len).asnumpy() if unknown is None else unknown
        self._idx_to_vec = ndarray.array(
            np.concatenate([np.reshape(first, (1, -1)),
                            np.reshape(vectors, (-1, self._vec_len))]), dtype="float32")

    def _take_vocabulary(self, vocabulary, embeddings):
        """Becomes the words of `vocabulary`, with the vectors of `embeddings` side by side."""
        vectors = [np.concatenate([each.idx_to_vec[0:1].asnumpy(),
                                   each.get_vecs_by_tokens(vocabulary.idx_to_token[1:]).asnumpy()]
                                  if len(vocabulary) > 1 else [each.idx_to_vec[0:1].asnumpy()])
                   for each in embeddings]
        self._token_to_idx = dict(vocabulary.token_to_idx)
        self._idx_to_token = list(vocabulary.idx_to_token)
        self._unknown_token = vocabulary.unknown_token
        self._reserved_tokens = vocabulary.reserved_tokens
        self._idx_to_vec = ndarray.array(np.concatenate(vectors, axis=1), dtype="float32")
        self._vec_len = self._idx_to_vec.shape[1]

    def get_vecs_by_tokens(self, tokens, lower_case_backup=False):
        """The vector of a word (vec_len,), or those of a list (words, vec_len).

        `lower_case_backup`: a word that is not there is looked up in small letters."""
        alone = not isinstance(tokens, list)
        words = [tokens] if alone else tokens
        if lower_case_backup:
            words = [word if word in self._token_to_idx else word.lower() for word in words]
        rows = self._idx_to_vec.asnumpy()[self.to_indices(words)]
        return ndarray.array(rows[0] if alone else rows, dtype="float32")

    def update_token_vectors(self, tokens, new_vectors):
        """Sets the vectors of words that are there."""
        words = tokens if isinstance(tokens, list) else [tokens]
        assert isinstance(new_vectors, NDArray) and new_vectors.ndim in (1, 2), (
            "new_vectors is an array (vec_len,) or (words, vec_len).")
        values = new_vectors.asnumpy()
        if values.ndim == 1:
            values = values[np.newaxis]
        assert values.shape == (len(words), self.vec_len), (
            f"new_vectors has the shape {new_vectors.shape}; {len(words)} words have vectors of "
            f"{self.vec_len} numbers.")
        for word in words:
            if word not in self._token_to_idx:
                raise ValueError(f"'{word}' has no vector: '{self.unknown_token}' has that of "
                                 "unknown words.")
        table = self._idx_to_vec.asnumpy()
        table[[self._token_to_idx[word] for word in words]] = values
        self._idx_to_vec = ndarray.array(table, dtype="float32")

    def _finish(self, vocabulary):
        if vocabulary is not None:
            assert isinstance(vocabulary, Vocabulary), f"{vocabulary!r} is no Vocabulary."
            self._take_vocabulary(vocabulary, [self])


_ROOT = os.path.join("~", ".mxnet", "embeddings")


@register
class GloVe(_TokenEmbedding):
    """GloVe's vectors, of a file in `embedding_root`/glove."""

    pretrained_file_names = tuple(
        [f"glove.6B.{width}d.txt" for width in (50, 100, 200, 300)]
        + ["glove.42B.300d.txt", "glove.840B.300d.txt"]
        + [f"glove.twitter.27B.{width}d.txt" for width in (25, 50, 100, 200)])

    def __init__(self, pretrained_file_name="glove.840B.300d.txt", embedding_root=_ROOT,
                 init_unknown_vec=ndarray.zeros, vocabulary=None, **kwargs):
        super().__init__(**kwargs)
        self._load(self._file_of(embedding_root, pretrained_file_name), " ", init_unknown_vec)
        self._finish(vocabulary)


@register
class FastText(_TokenEmbedding):
    """fastText's vectors, of a file in `embedding_root`/fasttext."""

    def __init__(self, pretrained_file_name="wiki.simple.vec", embedding_root=_ROOT,
                 init_unknown_vec=ndarray.zeros, vocabulary=None, **kwargs):
        super().__init__(**kwargs)
        self._load(self._file_of(embedding_root, pretrained_file_name), " ", init_unknown_vec)
        self._finish(vocabulary)


@register
class CustomEmbedding(_TokenEmbedding):
    """The vectors of a file of lines "word number number …"."""

    def __init__(self, pretrained_file_path, elem_delim=" ", encoding="utf8",
                 init_unknown_vec=ndarray.zeros, vocabulary=None, **kwargs):
        super().__init__(**kwargs)
        self._load(pretrained_file_path, elem_delim, init_unknown_vec, encoding)
        self._finish(vocabulary)


class CompositeEmbedding(_TokenEmbedding):
    """The words of `vocabulary`, with the vectors of one or more embeddings side by side."""

    def __init__(self, vocabulary, token_embeddings):
        super().__init__()
        embeddings = token_embeddings if isinstance(token_embeddings, list) else \
            [token_embeddings]
        for each in embeddings:
            assert isinstance(each, _TokenEmbedding), f"{each!r} is no embedding of words."
        self._take_vocabulary(vocabulary, embeddings)
