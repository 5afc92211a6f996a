"""Compiles a module with loops, conditions, state and two methods, saves it, loads it and calls it.

    python3 script.py [SAVE_AS.pt]

What is saved needs nothing of this file: `wick run` and torch.jit.load take it as well.
"""
import os
import sys
import tempfile
from typing import List, Tuple

import wick
from wick import nn


class Search(nn.Module):
    """Finds the likeliest path of words through scores of what follows what."""

    def __init__(self, words: List[str]):
        super().__init__()
        self.words = words
        self.calls = 0
        self.follows = nn.Parameter(wick.randn(len(words), len(words)))

    def forward(self, start: str, length: int = 4) -> Tuple[str, float]:
        if start not in self.words:
            raise ValueError("no such word: " + start)
        self.calls += 1
        path = [self.words.index(start)]
        total = 0.0
        while len(path) < length:
            scores = self.follows[path[-1]].log_softmax(0)
            best, word = scores.max(0)
            path.append(int(word))
            total += float(best)
        return " ".join([self.words[word] for word in path]), total

    @wick.jit.export
    def count(self) -> int:
        return self.calls


def main(save_as=None):
    wick.manual_seed(1)
    search = Search(["the", "quick", "fox", "sleeps", "late"])
    scripted = wick.jit.script(search)
    print(scripted.code)
    with tempfile.TemporaryDirectory() as folder:
        path = save_as or os.path.join(folder, "search.pt")
        scripted.save(path)
        loaded = wick.jit.load(path)
    for word in "fox", "late":
        print(word, "->", loaded(word, length=5))
        assert loaded(word) == search(word)
    print("calls:", loaded.count())


if __name__ == "__main__":
    main(*sys.argv[1:])
