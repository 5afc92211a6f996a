#!/usr/bin/python3
"""Wraps a trained digit classifier so that it answers in words.

usage: make_reader.py CLASSIFIER.pt READER.pt      (needs PyTorch)
The classifier takes (n, 1, 8, 8) images between 0 and 1 and gives (n, 10) scores.
"""
import sys
from typing import List

import torch


class Reader(torch.nn.Module):
    def __init__(self, classifier):
        super().__init__()
        self.classifier = classifier
        self.words: List[str] = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]

    def forward(self, images: torch.Tensor) -> str:
        chances = torch.softmax(self.classifier(images), 1)
        sure, digit = chances.max(1)
        answers: List[str] = []
        for i in range(images.size(0)):
            answers.append("{}: {}, {}% sure".format(i + 1, self.words[int(digit[i])], int(100 * float(sure[i]) + 0.5)))
        return "\n".join(answers)


torch.jit.script(Reader(torch.jit.load(sys.argv[1]).eval()).eval()).save(sys.argv[2])
