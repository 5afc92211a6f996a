"""A whole training run: loader, convolution, batch norm, dropout, clipping, AdamW, schedule; PyTorch's losses.

With the argument --record and PyTorch installed this file prints the losses anew.
"""
import sys
import unittest

RECORD = '--record' in sys.argv
if RECORD:
    import torch
else:
    import wick as torch
nn, F = torch.nn, torch.nn.functional

LOSSES = [1.39508, 1.20478, 0.99334, 0.87709, 0.81547, 0.78336]


class Net(nn.Module):
    """Tells in which half of a picture, and which half of that, there is more light."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 8, 3, padding=1)
        self.norm = nn.BatchNorm2d(8)
        self.drop = nn.Dropout(0.1)
        self.out = nn.Linear(8 * 4 * 4, 4)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.norm(self.conv(x))), 2)
        return self.out(self.drop(torch.flatten(x, 1)))


def train(epochs):
    """The mean loss of every epoch."""
    torch.manual_seed(0)
    pictures = torch.randn(256, 1, 8, 8)
    upper, lower = (pictures[:, 0, rows, :4].mean((1, 2)) > 0 for rows in (slice(0, 4), slice(4, 8)))
    data = torch.utils.data.TensorDataset(pictures, upper.long() * 2 + lower.long())
    net = Net()
    optimizer = torch.optim.AdamW(net.parameters(), lr=5e-3)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, epochs)
    losses = []
    for _ in range(epochs):
        total = 0.0
        for batch, labels in torch.utils.data.DataLoader(data, batch_size=32, shuffle=True):
            optimizer.zero_grad()
            loss = F.cross_entropy(net(batch), labels)
            loss.backward()
            nn.utils.clip_grad_norm_(net.parameters(), 2.0)
            optimizer.step()
            total += loss.item()
        schedule.step()
        losses.append(total / 8)
    return losses


class Training(unittest.TestCase):
    def test_losses_are_pytorch_s(self):
        for found, wanted in zip(train(len(LOSSES)), LOSSES):
            self.assertAlmostEqual(found, wanted, delta=2e-3)


if __name__ == '__main__':
    if RECORD:
        import torch.utils.data
        print([round(loss, 5) for loss in train(6)])
    else:
        unittest.main()
