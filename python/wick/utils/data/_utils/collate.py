"""Samples put together in batches."""
import collections.abc

import wick


def _from_numpy(value):
    """An array or number of NumPy as a tensor; None when it is neither."""
    if type(value).__module__ != 'numpy' or type(value).__name__ in ('str_', 'string_', 'bytes_'):
        return None
    if value.shape == ():
        return wick.as_tensor(value.item() if value.dtype.kind != 'f' else float(value),
                              dtype=getattr(wick, str(value.dtype)))
    return wick.as_tensor(value)


def _rebuilt(value, made):
    """``made`` as the kind of sequence or mapping that ``value`` is, or plain where that cannot be made."""
    try:
        return type(value)(made)
    except TypeError:
        return made


def default_convert(data):
    """Arrays as tensors, in sequences and mappings as well."""
    tensor = _from_numpy(data)
    if tensor is not None:
        return tensor
    if isinstance(data, collections.abc.Mapping):
        return _rebuilt(data, {key: default_convert(value) for key, value in data.items()})
    if isinstance(data, tuple) and hasattr(data, '_fields'):
        return type(data)(*(default_convert(value) for value in data))
    if isinstance(data, tuple):
        return [default_convert(value) for value in data]
    if isinstance(data, collections.abc.Sequence) and not isinstance(data, (str, bytes)):
        return _rebuilt(data, [default_convert(value) for value in data])
    return data


def default_collate(batch):
    """A list of samples as one: tensors stacked, numbers as tensors, sequences and mappings by their parts."""
    first = batch[0]
    if isinstance(first, wick.Tensor):
        return wick.stack(list(batch), 0)
    if _from_numpy(first) is not None:
        return wick.stack([_from_numpy(value) for value in batch], 0)
    if isinstance(first, float):
        return wick.tensor(batch, dtype=wick.float64)
    if isinstance(first, int):
        return wick.tensor(batch)
    if isinstance(first, (str, bytes)):
        return batch
    if isinstance(first, collections.abc.Mapping):
        return _rebuilt(first, {key: default_collate([sample[key] for sample in batch]) for key in first})
    if isinstance(first, tuple) and hasattr(first, '_fields'):
        return type(first)(*(default_collate(samples) for samples in zip(*batch)))
    if isinstance(first, collections.abc.Sequence):
        if any(len(sample) != len(first) for sample in batch):
            raise RuntimeError('each element in list of batch should be of equal size')
        parts = [default_collate(samples) for samples in zip(*batch)]
        return parts if isinstance(first, tuple) else _rebuilt(first, parts)
    raise TypeError('default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found {}'
                    .format(type(first)))
