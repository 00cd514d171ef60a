# SPDX-License-Identifier: Apache-2.0
"""Whether a command printed what a document shows.

"…" in the document stands for anything, alone on its line for any lines. What
differs from run to run and from machine to machine is left open: times, rates,
sizes, numbers of four digits and more, levels of a processor. A fraction is a
figure that was computed: one from 0.25 to 10 is right within a factor of two,
others are any number. Spaces that align columns may be more or fewer.
"""

import re

NUMBER = r"[0-9]+(?:\.[0-9]+)?(?:e[-+][0-9]+)?"
OPEN = [  # what the document shows, what may stand there
    (r"…", r".*"),
    (r"[0-9]+:[0-9]{2}\b", r"[0-9:]+"),
    (NUMBER + r" (?:us|ms|s|min)\b", NUMBER + r" (?:us|ms|s|min)\b"),
    (NUMBER + r" (?:B|KiB|MiB|GiB)\b", NUMBER + r" (?:B|KiB|MiB|GiB)\b"),
    (NUMBER + r" ([A-Za-z]+/s)\b", NUMBER + r" [A-Za-z]+/s"),
    (r"x86-64-v[-a-z0-9]+", r"x86-64-v[-a-z0-9]+"),
    (r"[0-9]{4,}\b", r"[0-9]+"),
    (r"[0-9]+\.[0-9]+(?:e[-+][0-9]+)?", f"(?P<figure>{NUMBER})"),
]
TOKEN = re.compile("|".join(f"(?P<t{i}>{shown})" for i, (shown, _) in
                            enumerate((re.sub(r"\((?!\?)", "(?:", s), p)
                                      for s, p in OPEN)))


def pattern_of(line):
    """The expression of the lines that may stand for `line`, and its figures."""
    pattern, figures, at = "", [], 0
    for token in TOKEN.finditer(line):
        may = OPEN[int(token.lastgroup[1:])][1]
        if "<figure>" in may:
            may = may.replace("<figure>", f"<f{len(figures)}>")
            figures.append(float(token[0]))
        pattern += re.escape(line[at:token.start()]) + may
        at = token.end()
    return re.compile(pattern + re.escape(line[at:])), figures


def squeezed(line):
    return " ".join(line.split())


def is_same_line(shown, found):
    pattern, figures = pattern_of(squeezed(shown))
    match = pattern.fullmatch(squeezed(found))
    if match is None:
        return False
    return all(shown / 2 <= float(match[f"f{i}"]) <= shown * 2
               for i, shown in enumerate(figures) if 0.25 <= shown <= 10)


def is_same(shown, found):
    """Both are lists of lines."""
    ends = {0}  # how many of the lines found may stand for those shown so far
    for line in shown:
        if line.strip() == "…":
            ends = set(range(min(ends), len(found) + 1)) if ends else set()
        else:
            ends = {end + 1 for end in ends
                    if end < len(found) and is_same_line(line, found[end])}
    return len(found) in ends
