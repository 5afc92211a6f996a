"""Trains a classifier of handwritten digits from random weights, with AdamW, and saves it as TorchScript.

    python3 train.py [SAVE_AS.pt [EPOCHS]]

Of five images in a row the fifth is kept for the test. Exits with 0 when at least 97% of those are read right.
"""
import pathlib
import sys

import wick
from wick import nn
from wick.utils.data import DataLoader, TensorDataset

DIGITS = pathlib.Path(__file__).resolve().parents[1] / "digits" / "digits.npz"


def read_digits():
    data = wick.load(DIGITS)
    images, labels = data["images"].float().div(16).unsqueeze(1), data["labels"]
    test = wick.arange(len(images)) % 5 == 4
    return images[~test], labels[~test], images[test], labels[test]


def make_classifier():
    return nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(),
        nn.Conv2d(16, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(),
        nn.MaxPool2d(2), nn.Flatten(), nn.Dropout(0.25), nn.Linear(32 * 4 * 4, 10))


def main(save_as=None, epochs=10):
    wick.manual_seed(7)
    epochs, right = int(epochs), 0.0
    *known, test_images, test_labels = read_digits()
    loader = DataLoader(TensorDataset(*known), batch_size=64, shuffle=True)
    classifier = make_classifier()
    optimizer = wick.optim.AdamW(classifier.parameters(), lr=4e-3)
    schedule = wick.optim.lr_scheduler.CosineAnnealingLR(optimizer, epochs)
    for epoch in range(1, epochs + 1):
        total = 0.0
        classifier.train()
        for batch, wanted in loader:
            loss = nn.functional.cross_entropy(classifier(batch), wanted)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() / len(loader)
        schedule.step()
        with wick.no_grad():
            right = (classifier.eval()(test_images).argmax(1) == test_labels).float().mean().item()
        print(f"epoch {epoch:2}: loss {total:.4f}, {100 * right:.2f}% of the test images read right", flush=True)
    if save_as:
        wick.jit.script(classifier).save(save_as)
    return 0 if right >= 0.97 else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
