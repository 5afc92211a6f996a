"""Data pipes that are streams."""
from wick.utils.data.datapipes.iter._combining import (
    ConcaterIterDataPipe as Concater, DemultiplexerIterDataPipe as Demultiplexer, ForkerIterDataPipe as Forker,
    MultiplexerIterDataPipe as Multiplexer, ZipperIterDataPipe as Zipper)
from wick.utils.data.datapipes.iter._files import (
    FileListerIterDataPipe as FileLister, FileOpenerIterDataPipe as FileOpener,
    StreamReaderIterDataPipe as StreamReader)
from wick.utils.data.datapipes.iter._grouping import (
    BatcherIterDataPipe as Batcher, GrouperIterDataPipe as Grouper, UnBatcherIterDataPipe as UnBatcher)
from wick.utils.data.datapipes.iter._order import (
    SamplerIterDataPipe as Sampler, ShardingFilterIterDataPipe as ShardingFilter, ShufflerIterDataPipe as Shuffler)
from wick.utils.data.datapipes.iter._samples import (
    CollatorIterDataPipe as Collator, FilterIterDataPipe as Filter, IterableWrapperIterDataPipe as IterableWrapper,
    MapperIterDataPipe as Mapper)

__all__ = ["Batcher", "Collator", "Concater", "Demultiplexer", "FileLister", "FileOpener", "Filter", "Forker",
           "Grouper", "IterableWrapper", "Mapper", "Multiplexer", "Sampler", "ShardingFilter", "Shuffler",
           "StreamReader", "UnBatcher", "Zipper"]
