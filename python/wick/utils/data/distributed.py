"""The samples of one process of several."""
import math

import wick
from wick.utils.data.sampler import Sampler


class DistributedSampler(Sampler):
    """Every ``num_replicas``-th sample from ``rank`` on: with ``shuffle`` in an order that ``seed`` and the epoch
    (``set_epoch``) decide. All processes have as many samples: some come twice, or with ``drop_last`` some are left
    out."""

    def __init__(self, dataset, num_replicas=None, rank=None, shuffle=True, seed=0, drop_last=False):
        if num_replicas is None or rank is None:
            raise RuntimeError('Requires distributed package to be available')
        if rank >= num_replicas or rank < 0:
            raise ValueError('Invalid rank {}, rank should be in the interval [0, {}]'.format(rank, num_replicas - 1))
        self.dataset, self.num_replicas, self.rank = dataset, num_replicas, rank
        self.epoch, self.shuffle, self.seed, self.drop_last = 0, shuffle, seed, drop_last
        count = len(dataset)
        self.num_samples = count // num_replicas if drop_last else math.ceil(count / num_replicas)
        self.total_size = self.num_samples * num_replicas

    def __iter__(self):
        count = len(self.dataset)
        if self.shuffle:
            generator = wick.Generator()
            generator.manual_seed(self.seed + self.epoch)
            indices = wick.randperm(count, generator=generator).tolist()
        else:
            indices = list(range(count))
        if not self.drop_last:
            indices *= math.ceil(self.total_size / count)
        return iter(indices[self.rank:self.total_size:self.num_replicas])

    def __len__(self):
        return self.num_samples

    def set_epoch(self, epoch):
        """Another order for another epoch."""
        self.epoch = epoch
