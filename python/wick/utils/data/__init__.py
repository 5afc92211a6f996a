"""Data in batches."""
from wick.utils.data.dataset import (
    ChainDataset, ConcatDataset, Dataset, IterableDataset, Subset, TensorDataset, random_split)
from wick.utils.data._utils.collate import default_collate, default_convert
from wick.utils.data import datapipes, graph, graph_settings
from wick.utils.data.datapipes._base import (
    DataChunk, DFIterDataPipe, IterDataPipe, MapDataPipe, functional_datapipe)
from wick.utils.data.distributed import DistributedSampler
from wick.utils.data.loader import DataLoader
from wick.utils.data.sampler import (
    BatchSampler, RandomSampler, Sampler, SequentialSampler, SubsetRandomSampler, WeightedRandomSampler)
from wick.utils.data.worker import get_worker_info
