# SPDX-License-Identifier: Apache-2.0
"""Sentences as numbers, in batches of like lengths."""

import bisect
import random

import numpy as np

from .. import ndarray as nd
from ..io import DataBatch, DataDesc, DataIter


def encode_sentences(sentences, vocab=None, invalid_label=-1, invalid_key="\n",
                     start_label=0, unknown_token=None):
    """(sentences as lists of numbers, vocabulary). Without a vocabulary one is
    made, that counts from start_label and leaves out invalid_label; unknown words
    become unknown_token, or an error where there is none."""
    new_vocab = vocab is None
    if new_vocab:
        vocab = {invalid_key: invalid_label}
    following = start_label
    encoded = []
    for sentence in sentences:
        numbers = []
        for word in sentence:
            if word not in vocab:
                if not new_vocab and not unknown_token:
                    raise AssertionError(f"{word!r} is not in the vocabulary")
                if following == invalid_label:
                    following += 1
                if unknown_token:
                    word = unknown_token
                if word not in vocab:
                    vocab[word] = following
                    following += 1
            numbers.append(vocab[word])
        encoded.append(numbers)
    return encoded, vocab


class BucketSentenceIter(DataIter):
    """Batches of sentences of one bucket each; the label is the next word.

    sentences: lists of numbers; buckets: lengths, None: those that fill a batch;
    invalid_label: fills up; layout: "NT" or "TN".
    """

    def __init__(self, sentences, batch_size, buckets=None, invalid_label=-1,
                 data_name="data", label_name="softmax_label", dtype="float32",
                 layout="NT"):
        super().__init__(batch_size)
        if not buckets:
            counts = np.bincount([len(sentence) for sentence in sentences])
            buckets = [length for length, count in enumerate(counts)
                       if count >= batch_size]
        buckets = sorted(buckets)
        self.data = [[] for _ in buckets]
        discarded = 0
        for sentence in sentences:
            bucket = bisect.bisect_left(buckets, len(sentence))
            if bucket == len(buckets):
                discarded += 1
                continue
            row = np.full(buckets[bucket], invalid_label, dtype=dtype)
            row[:len(sentence)] = sentence
            self.data[bucket].append(row)
        self.data = [np.asarray(rows, dtype=dtype).reshape(len(rows), length)
                     for rows, length in zip(self.data, buckets)]
        if discarded:
            print(f"{discarded} sentences fit into no bucket and are left out")
        self.buckets = buckets
        self.data_name = data_name
        self.label_name = label_name
        self.dtype = dtype
        self.invalid_label = invalid_label
        self.layout = layout
        self.major_axis = layout.find("N")
        if self.major_axis not in (0, 1):
            raise ValueError(f"layout is NT or TN, not {layout}")
        self.default_bucket_key = max(buckets)
        self.provide_data = [self._described(data_name, self.default_bucket_key)]
        self.provide_label = [self._described(label_name,
                                              self.default_bucket_key)]
        self.idx = [(bucket, begin) for bucket, rows in enumerate(self.data)
                    for begin in range(0, len(rows) - batch_size + 1, batch_size)]
        self.curr_idx = 0
        self.reset()

    def _described(self, name, length):
        shape = (self.batch_size, length)
        return DataDesc(name, shape if self.major_axis == 0 else shape[::-1],
                        layout=self.layout)

    def reset(self):
        """Another order of batches, and of sentences in each bucket."""
        self.curr_idx = 0
        random.shuffle(self.idx)
        self.nddata, self.ndlabel = [], []
        for rows in self.data:
            np.random.shuffle(rows)
            label = np.full_like(rows, self.invalid_label)
            label[:, :-1] = rows[:, 1:]
            self.nddata.append(rows)
            self.ndlabel.append(label)

    def next(self):
        if self.curr_idx == len(self.idx):
            raise StopIteration
        bucket, begin = self.idx[self.curr_idx]
        self.curr_idx += 1
        data, label = (nd.array(self._laid_out(rows[bucket][begin:begin
                                                            + self.batch_size]),
                                dtype=self.dtype)
                       for rows in (self.nddata, self.ndlabel))
        length = self.buckets[bucket]
        return DataBatch([data], [label], pad=0, bucket_key=length,
                         provide_data=[self._described(self.data_name, length)],
                         provide_label=[self._described(self.label_name, length)])

    def _laid_out(self, rows):
        return rows if self.major_axis == 0 else rows.T
