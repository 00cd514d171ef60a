# SPDX-License-Identifier: Apache-2.0
"""Tokens beside Hugging Face's tokenizers.

    peers.py BUILD/tests/mxc-tokens [--count 2000]

Trains vocabularies on texts of this repository, byte-level pairs as gpt2's and
WordPiece as bert-base-uncased's and -cased's, and cuts drawn texts: words,
accents composed and decomposed, CJK, emoji with their joiners, control
characters, spaces of every kind, contractions, long words, special tokens. Then
every character of Unicode 3.2 by itself between letters. Byte-level tokens must
make the same text again. Needs tokenizers and transformers. Ends with 1 where
one text differs.
"""
import argparse
import os
import random
import subprocess
import sys
import tempfile
import unicodedata

from tokenizers import (ByteLevelBPETokenizer, BertWordPieceTokenizer,
                        models, normalizers, pre_tokenizers, trainers)
from tokenizers import Tokenizer
from transformers import BertTokenizerFast, GPT2TokenizerFast

ROOT = os.path.join(os.path.dirname(__file__), "..", "..")
CORPUS = [os.path.join(ROOT, name) for name in
          ("README.md", "tools/GUIDE.md", "ir/GRAMMAR.md", "passes/README.md")]

PIECES = (
    "the", "unbelievable", "Compiler", "I'm", "you'll", "they've", "don't's",
    "'s", "''", "naïve", "nai\u0308ve", "Ångström", "A\u030angstro\u0308m",
    "ÇEDİLLA", "straße", "ŁÓDŹ", "ελληνικά", "ΌΧΙ", "русский", "ЙОД", "עברית",
    "العربية", "हिन्दी", "ไทย", "日本語", "漢字かな交じり文", "한국어", "𠀋𠮟",
    "😀", "👩‍💻", "👍🏽", "🇫🇷", "❤️", "½", "²", "Ⅷ", "٣", "１２３", "3.1415", "1e-5",
    "x==y", "<b>", "...", "—", "«quoted»", "“”", "¿qué?", "$5", "€", "^`~|",
    "\t", "\n", "\r\n", "\u00a0", "\u2003", "\u3000", "\u200b", "\u200d",
    "\u0085", "\u2028", "\x00", "\x07", "\x1b[31m", "\x7f", "\ufeff", "\u00ad",
    "\ufffd", "\ue000", "[SEP]", "[MASK]", "[UNK]x", "[sep]", "<|endoftext|>",
    "<|endoftext", "a" * 99, "b" * 100, "c" * 101, "ab" * 300, "é" * 120,
    "##ing", "_snake_case", "CamelCase", "  ", "   ", " \n ", "\n\n\n")


def drawn(count):
    draw = random.Random(1)
    texts = ["", " ", "a"]
    while len(texts) < count:
        parts = [draw.choice(PIECES) for _ in range(draw.randint(1, 12))]
        texts.append(draw.choice(("", " ", " ", "  ")).join(parts))
        code = [draw.choice((draw.randrange(0x20, 0x250),
                             draw.randrange(0x370, 0x2000),
                             draw.randrange(0x3000, 0xd7ff)))
                for _ in range(draw.randint(1, 20))]
        texts.append("".join(map(chr, code)))
    # Characters that are younger than the tables of some of those beside.
    return ["".join(c for c in text if old(c) and c not in CHANGED)
            for text in texts]


def old(character):
    """In Unicode 3.2, or among those that are drawn on purpose."""
    return (unicodedata.ucd_3_2_0.category(character) != "Cn" or
            any(character in piece for piece in PIECES))


# Unicode changed its mind about these since Unicode 8, which tokenizers' BERT
# still has: U+166D is no punctuation any more, U+1734 no Mn, U+1885 and U+1886
# are.
CHANGED = "\u166d\u1734\u1885\u1886"


def alone():
    texts = []
    for code in range(1, 0x30000):
        character = chr(code)
        if (unicodedata.category(character) != "Cs" and old(character) and
                character not in CHANGED):
            texts.append("a" + character + "b " + character)
    return texts


def ours(program, vocabulary, texts):
    done = subprocess.run([program, vocabulary],
                          input=b"".join(text.encode() + b"\0"
                                         for text in texts),
                          capture_output=True, check=True)
    lines = done.stdout.decode().split("\n")
    return ([[int(number) for number in line.split()]
             for line in lines[0:2 * len(texts):2]],
            [bytes.fromhex(line) for line in lines[1:2 * len(texts):2]])


def compare(what, program, vocabulary, theirs, texts, restores):
    texts = [text for text in texts if "\0" not in text]
    tokens, again = ours(program, vocabulary, texts)
    wrong = 0
    for text, mine, bytes_ in zip(texts, tokens, again):
        other = theirs(text)
        whole = not restores or bytes_ == text.replace(
            "<|endoftext|>", "").encode()
        if mine == other and whole:
            continue
        wrong += 1
        if wrong <= 10:
            print(f"{what}: {text!r}\n  mxc        {mine}\n  tokenizers {other}")
    print(f"{what:24} {len(texts)} texts, {wrong} differ")
    return wrong


def pairs(folder):
    tokenizer = ByteLevelBPETokenizer()
    tokenizer.train(CORPUS, vocab_size=2000,
                    special_tokens=["<|endoftext|>"])
    tokenizer.save_model(folder)
    return GPT2TokenizerFast(vocab=f"{folder}/vocab.json",
                             merges=f"{folder}/merges.txt")


def words(folder, lower):
    tokenizer = BertWordPieceTokenizer(lowercase=lower)
    tokenizer.train(CORPUS, vocab_size=2000)
    tokenizer.save_model(folder)
    return BertTokenizerFast(vocab=f"{folder}/vocab.txt", do_lower_case=lower)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--count", type=int, default=2000)
    options = parser.parse_args()
    texts = drawn(options.count)
    wrong = 0
    for what, make, restores in (("byte-level pairs", pairs, True),
                                 ("WordPiece", lambda f: words(f, True), False),
                                 ("WordPiece, cased",
                                  lambda f: words(f, False), False)):
        with tempfile.TemporaryDirectory() as folder:
            tokenizer = make(folder)

            def theirs(text, tokenizer=tokenizer):
                return tokenizer.encode(text, add_special_tokens=False)
            wrong += compare(what, options.program, folder, theirs, texts,
                             restores)
            wrong += compare(what + ", alone", options.program, folder, theirs,
                             alone(), restores)
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
