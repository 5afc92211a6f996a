#!/usr/bin/env python3
"""Records tests/library/vocab.pt, an archive of a pipeline with a Vocab of torchtext, and calls of it. A class of TorchScript stands in for it:
stand_in.py.

usage: record_vocab.py
"""
import os, torch
from typing import Dict, List, Optional, Tuple
from stand_in import save_with_native


class Vocab:
    def __init__(self, tokens: List[str], default_index: Optional[int]):
        self.tokens = tokens
        self.default_index = default_index

    def position(self, token: str) -> int:
        for i in range(len(self.tokens)):
            if self.tokens[i] == token:
                return i
        return -1

    def __contains__(self, token: str) -> bool:
        return self.position(token) >= 0

    def __getitem__(self, token: str) -> int:
        i = self.position(token)
        default = self.default_index
        return i if i >= 0 else (default if default is not None else -1)

    def __len__(self) -> int:
        return len(self.tokens)

    def insert_token(self, token: str, index: int) -> None:
        self.tokens.insert(index, token)

    def append_token(self, token: str) -> None:
        self.tokens.append(token)

    def set_default_index(self, index: Optional[int]) -> None:
        self.default_index = index

    def get_default_index(self) -> Optional[int]:
        return self.default_index

    def lookup_token(self, index: int) -> str:
        return self.tokens[index]

    def lookup_tokens(self, indices: List[int]) -> List[str]:
        return [self.tokens[i] for i in indices]

    def lookup_indices(self, tokens: List[str]) -> List[int]:
        found: List[int] = []
        for token in tokens:
            found.append(self.__getitem__(token))
        return found

    def get_itos(self) -> List[str]:
        return self.tokens

    def get_stoi(self) -> Dict[str, int]:
        found: Dict[str, int] = {}
        for i in range(len(self.tokens)):
            found[self.tokens[i]] = i
        return found

    def __getstate__(self) -> Tuple[str, List[int], List[str], List[torch.Tensor]]:
        numbers: List[int] = []
        tensors: List[torch.Tensor] = []
        default = self.default_index
        if default is not None:
            numbers.append(default)
        return "0.0.2", numbers, self.tokens, tensors

    def __setstate__(self, state: Tuple[str, List[int], List[str], List[torch.Tensor]]):
        self.tokens = state[2]
        self.default_index = state[1][0] if len(state[1]) > 0 else None


Vocab = torch.jit.script(Vocab)


class Pipeline(torch.nn.Module):
    def __init__(self, default: Optional[int]):
        super().__init__()
        self.vocab = Vocab(["<unk>", "the", "cat", "sat", "über"], default)
        self.embedding = torch.nn.Embedding(8, 3)

    def forward(self, words: List[str]):
        indices = self.vocab.lookup_indices(words)
        return indices, self.embedding(torch.tensor(indices)), self.vocab.lookup_tokens(indices)

    @torch.jit.export
    def grow(self, word: str):
        before = (len(self.vocab), word in self.vocab, self.vocab.get_default_index())
        self.vocab.insert_token(word, 2)
        self.vocab.append_token(word + "s")
        self.vocab.set_default_index(1)
        after = (len(self.vocab), self.vocab[word], self.vocab["nothing"], self.vocab.lookup_token(3), word in self.vocab)
        return before, after, self.vocab.get_itos(), self.vocab.get_stoi(), self.vocab.get_default_index()


torch.manual_seed(2)
here = os.path.dirname(os.path.abspath(__file__))
module = torch.jit.script(Pipeline(0).eval())
save_with_native(module, "Vocab", os.path.join(here, "vocab.pt"))
calls = []
for method, args in [("forward", (["the", "cat", "sat"],)), ("forward", (["dog", "über", "<unk>"],)), ("grow", ("dog",)),
                     ("forward", (["dog", "cat", "dogs", "bird"],))]:
    with torch.no_grad():
        calls.append({"method": method, "args": args, "kwargs": {}, "output": getattr(module, method)(*args)})
torch.save({"wick_io": 1, "entry": "forward", "calls": calls}, os.path.join(here, "vocab.io.pt"))
