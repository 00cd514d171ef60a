# SPDX-License-Identifier: Apache-2.0
"""Words and their numbers."""

__all__ = ["Vocabulary"]


class Vocabulary:
    """Numbers of words: 0 is `unknown_token`, then `reserved_tokens`, then the words of
    `counter` by how often they occur.

    Words that occur less than `min_freq` times are left out, and all but the
    `most_freq_count` most frequent ones."""

    def __init__(self, counter=None, most_freq_count=None, min_freq=1, unknown_token="<unk>",
                 reserved_tokens=None):
        assert min_freq > 0, f"min_freq is at least 1, not {min_freq}."
        if reserved_tokens is not None:
            assert len(set(reserved_tokens)) == len(reserved_tokens), (
                "A reserved token is there twice.")
            assert unknown_token not in reserved_tokens, (
                f"'{unknown_token}' is the unknown token, and not reserved.")
        self._unknown_token = unknown_token
        self._reserved_tokens = None if reserved_tokens is None else list(reserved_tokens)
        self._idx_to_token = [unknown_token] + list(reserved_tokens or [])
        known = set(self._idx_to_token)
        for token in self._frequent(counter, most_freq_count, min_freq):
            if token not in known:
                self._idx_to_token.append(token)
        self._token_to_idx = {token: i for i, token in enumerate(self._idx_to_token)}

    def _frequent(self, counter, most_freq_count, min_freq):
        """The counter's tokens that are taken, the most frequent one first."""
        if counter is None:
            return
        known, taken = set(self._idx_to_token), 0
        for token, count in sorted(sorted(counter.items(), key=lambda item: item[0]),
                                   key=lambda item: item[1], reverse=True):
            if count < min_freq or taken == most_freq_count:
                return
            if token not in known:
                taken += 1
                yield token

    def __len__(self):
        return len(self._idx_to_token)

    @property
    def token_to_idx(self):
        """The numbers by word."""
        return self._token_to_idx

    @property
    def idx_to_token(self):
        """The words by number."""
        return self._idx_to_token

    @property
    def unknown_token(self):
        """What stands for words that are not there."""
        return self._unknown_token

    @property
    def reserved_tokens(self):
        """Words that are there whatever the counter has."""
        return self._reserved_tokens

    def to_indices(self, tokens):
        """The number of a word, or those of a list; 0 for one that is not there."""
        if isinstance(tokens, list):
            return [self._token_to_idx.get(token, 0) for token in tokens]
        return self._token_to_idx.get(tokens, 0)

    def to_tokens(self, indices):
        """The word of a number, or those of a list; a ValueError where there is none."""
        alone = not isinstance(indices, list)
        found = []
        for i in [indices] if alone else indices:
            if not isinstance(i, int) or not 0 <= i < len(self):
                raise ValueError(f"There is no word {i!r}: numbers are below {len(self)}.")
            found.append(self._idx_to_token[i])
        return found[0] if alone else found
