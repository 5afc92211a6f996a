"""Pruning: parameters with some elements held at 0 by a mask.

A pruned parameter ``name`` becomes ``name_orig``, ``name_mask`` is a buffer, and before each forward ``name`` is
their product. ``remove`` makes it a parameter again, with its zeros.
"""
import numbers
from abc import ABC, abstractmethod

import wick


class BasePruningMethod(ABC):
    """How a mask is found. ``PRUNING_TYPE``: 'unstructured', 'structured' (slices along ``dim``) or 'global'."""

    def __call__(self, module, inputs):
        setattr(module, self._tensor_name, self.apply_mask(module))

    @abstractmethod
    def compute_mask(self, t, default_mask):
        """The mask of ``t``, whose elements outside of ``default_mask`` are pruned already."""

    def apply_mask(self, module):
        """The parameter times its mask, as ``forward`` sees it."""
        assert self._tensor_name is not None, "Module {} has to be pruned".format(module)
        mask = getattr(module, self._tensor_name + "_mask")
        original = getattr(module, self._tensor_name + "_orig")
        return mask.to(dtype=original.dtype) * original

    @classmethod
    def apply(cls, module, name, *args, importance_scores=None, **kwargs):
        """Prunes ``module.name``; after others that pruned it, only what they left counts."""
        method = cls(*args, **kwargs)
        method._tensor_name = name
        before = _method_of(module, name)
        original = getattr(module, name)
        if importance_scores is None:
            importance_scores = original
        elif importance_scores.shape != original.shape:
            raise AssertionError("importance_scores should have the same shape as parameter {} of {}".format(
                name, module))
        if before is None:
            module.register_parameter(name + "_orig", original)
            del module._parameters[name]
            mask = method.compute_mask(importance_scores, wick.ones_like(original.detach()))
        else:
            container = before[1] if isinstance(before[1], PruningContainer) else PruningContainer(before[1])
            container.add_pruning_method(method)
            mask = container.compute_mask(importance_scores, getattr(module, name + "_mask"))
            del module._forward_pre_hooks[before[0]]
            method = container
        module.register_buffer(name + "_mask", mask)
        setattr(module, name, method.apply_mask(module))
        module.register_forward_pre_hook(method)
        return method

    def prune(self, t, default_mask=None, importance_scores=None):
        """``t`` times the mask that this method finds, without touching a module."""
        if importance_scores is None:
            importance_scores = t
        elif importance_scores.shape != t.shape:
            raise AssertionError("importance_scores should have the same shape as tensor t")
        default_mask = wick.ones_like(t) if default_mask is None else default_mask
        return t * self.compute_mask(importance_scores, default_mask=default_mask)

    def remove(self, module):
        """Makes the parameter one again, with zeros where the mask has them."""
        name = self._tensor_name
        assert name is not None, "Module {} has to be pruned before pruning can be removed".format(module)
        pruned = self.apply_mask(module)
        delattr(module, name)
        original = module._parameters[name + "_orig"]
        original.data = pruned.data
        del module._parameters[name + "_orig"]
        del module._buffers[name + "_mask"]
        setattr(module, name, original)


class PruningContainer(BasePruningMethod):
    """Several methods that pruned one parameter, in their order."""

    def __init__(self, *args):
        self._pruning_methods = ()
        if len(args) == 1 and not isinstance(args[0], (list, tuple)):
            self._tensor_name = args[0]._tensor_name
            args = (args,) if isinstance(args[0], BasePruningMethod) else args
        for method in (args[0] if len(args) == 1 and isinstance(args[0], (list, tuple)) else args):
            self.add_pruning_method(method)

    def add_pruning_method(self, method):
        """One more of the same parameter."""
        if not isinstance(method, BasePruningMethod):
            raise TypeError("{} is not a BasePruningMethod subclass".format(type(method)))
        if getattr(self, "_tensor_name", None) not in (None, method._tensor_name):
            raise ValueError("Can only add pruning methods acting on the parameter named '{}' to PruningContainer "
                             "{}. Found '{}'".format(self._tensor_name, self, method._tensor_name))
        self._tensor_name = method._tensor_name
        self._pruning_methods += (method,)

    def __len__(self):
        return len(self._pruning_methods)

    def __iter__(self):
        return iter(self._pruning_methods)

    def __getitem__(self, idx):
        return self._pruning_methods[idx]

    def compute_mask(self, t, default_mask):
        """The last method's mask over what the others left of ``t``."""
        method, mask = self._pruning_methods[-1], default_mask.to(dtype=t.dtype)
        if method.PRUNING_TYPE == "global":
            left = slice(None)
        elif method.PRUNING_TYPE == "structured":
            dim = method.dim if method.dim >= 0 else method.dim + t.dim()
            kept = mask.sum([d for d in range(mask.dim()) if d != dim]) != 0
            left = tuple(slice(None) if d != dim else kept for d in range(t.dim()))
        else:
            left = mask == 1
        mask[left] = method.compute_mask(t[left], default_mask=mask[left]).to(mask.dtype)
        return mask


class Identity(BasePruningMethod):
    """A mask of ones."""
    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t, default_mask):
        return default_mask

    @classmethod
    def apply(cls, module, name):
        return super().apply(module, name)


def _count(amount, size):
    """How many of ``size``: a share between 0 and 1, or a number."""
    if not isinstance(amount, numbers.Real):
        raise TypeError("Invalid type for amount: {}. Must be int or float.".format(amount))
    if isinstance(amount, numbers.Integral) and amount < 0 or (
            not isinstance(amount, numbers.Integral) and not 0.0 <= float(amount) <= 1.0):
        raise ValueError("amount={} should either be a float in the range [0, 1] or a non-negative integer".format(
            amount))
    return amount if isinstance(amount, numbers.Integral) else round(amount * size)


def _counted(amount, size):
    count = _count(amount, size)
    if isinstance(amount, numbers.Integral) and amount > size:
        raise ValueError("amount={} should be smaller than the number of parameters to prune={}".format(amount, size))
    return count


class _Unstructured(BasePruningMethod):
    PRUNING_TYPE = "unstructured"

    def __init__(self, amount):
        _count(amount, 0)
        self.amount = amount


class RandomUnstructured(_Unstructured):
    """Elements by chance."""

    def compute_mask(self, t, default_mask):
        count, mask = _counted(self.amount, t.nelement()), default_mask.clone(memory_format=wick.contiguous_format)
        if count:
            mask.view(-1)[wick.topk(wick.rand_like(t).view(-1), k=count).indices] = 0
        return mask

    @classmethod
    def apply(cls, module, name, amount):
        return super().apply(module, name, amount=amount)


class L1Unstructured(_Unstructured):
    """The elements of least magnitude."""

    def compute_mask(self, t, default_mask):
        count, mask = _counted(self.amount, t.nelement()), default_mask.clone(memory_format=wick.contiguous_format)
        if count:
            mask.view(-1)[wick.topk(wick.abs(t).view(-1), k=count, largest=False).indices] = 0
        return mask

    @classmethod
    def apply(cls, module, name, amount, importance_scores=None):
        return super().apply(module, name, amount=amount, importance_scores=importance_scores)


class _Structured(BasePruningMethod):
    PRUNING_TYPE = "structured"

    def __init__(self, amount, dim=-1):
        _count(amount, 0)
        self.amount, self.dim = amount, dim

    def _scores(self, t):
        """A number for each slice along ``dim``; the least are pruned."""
        raise NotImplementedError

    def compute_mask(self, t, default_mask):
        if t.dim() <= 1:
            raise ValueError("Structured pruning can only be applied to multidimensional tensors. Found tensor of "
                             "shape {} with {} dims".format(t.shape, t.dim()))
        if not -t.dim() <= self.dim < t.dim():
            raise IndexError("Invalid index {} for tensor of size {}".format(self.dim, t.shape))
        size = t.shape[self.dim]
        count = _counted(self.amount, size)
        if not count:
            return default_mask
        kept = wick.topk(self._scores(t), k=size - count, largest=True).indices
        mask = wick.zeros_like(t)
        places = [slice(None)] * t.dim()
        places[self.dim] = kept
        mask[tuple(places)] = 1
        return mask * default_mask.to(dtype=mask.dtype)


class RandomStructured(_Structured):
    """Slices by chance."""

    def _scores(self, t):
        return wick.rand(t.shape[self.dim])

    @classmethod
    def apply(cls, module, name, amount, dim=-1):
        return super().apply(module, name, amount=amount, dim=dim)


class LnStructured(_Structured):
    """The slices of the least norm of order ``n``."""

    def __init__(self, amount, n, dim=-1):
        super().__init__(amount, dim)
        self.n = n

    def _scores(self, t):
        dim = self.dim if self.dim >= 0 else self.dim + t.dim()
        return wick.norm(t, p=self.n, dim=[d for d in range(t.dim()) if d != dim])

    @classmethod
    def apply(cls, module, name, amount, n, dim, importance_scores=None):
        return super().apply(module, name, amount=amount, n=n, dim=dim, importance_scores=importance_scores)


class CustomFromMask(BasePruningMethod):
    """A mask that is given."""
    PRUNING_TYPE = "global"

    def __init__(self, mask):
        self.mask = mask

    def compute_mask(self, t, default_mask):
        assert default_mask.shape == self.mask.shape
        return default_mask * self.mask.to(dtype=default_mask.dtype)

    @classmethod
    def apply(cls, module, name, mask):
        return super().apply(module, name, mask=mask)


def identity(module, name):
    """Makes ``module.name`` a pruned parameter without pruning anything; gives the module, as all of these."""
    Identity.apply(module, name)
    return module


def random_unstructured(module, name, amount):
    """Prunes ``amount`` elements, a share or a number, by chance."""
    RandomUnstructured.apply(module, name, amount)
    return module


def l1_unstructured(module, name, amount, importance_scores=None):
    """Prunes ``amount`` elements of least magnitude, or of least importance."""
    L1Unstructured.apply(module, name, amount=amount, importance_scores=importance_scores)
    return module


def random_structured(module, name, amount, dim):
    """Prunes ``amount`` slices along ``dim`` by chance."""
    RandomStructured.apply(module, name, amount, dim)
    return module


def ln_structured(module, name, amount, n, dim, importance_scores=None):
    """Prunes the ``amount`` slices along ``dim`` whose norm of order ``n`` is least."""
    LnStructured.apply(module, name, amount, n, dim, importance_scores=importance_scores)
    return module


def custom_from_mask(module, name, mask):
    """Prunes where ``mask`` has 0."""
    CustomFromMask.apply(module, name, mask)
    return module


def global_unstructured(parameters, pruning_method, importance_scores=None, **kwargs):
    """Prunes elements of several (module, name) as if they were one tensor."""
    if not hasattr(parameters, "__iter__"):
        raise TypeError("global_unstructured(): parameters is not an Iterable")
    parameters, importance_scores = list(parameters), importance_scores or {}
    if not isinstance(importance_scores, dict):
        raise TypeError("global_unstructured(): importance_scores must be of type dict")
    container = PruningContainer()
    container._tensor_name = "temp"
    method = pruning_method(**kwargs)
    method._tensor_name = "temp"
    container.add_pruning_method(method)
    if method.PRUNING_TYPE != "unstructured":
        raise TypeError('Only "unstructured" PRUNING_TYPE supported for the `pruning_method`. Found method {} of '
                        'type {}'.format(pruning_method, method.PRUNING_TYPE))
    scores = [importance_scores.get((module, name), getattr(module, name)).detach().reshape(-1)
              for module, name in parameters]
    masks = [getattr(module, name + "_mask", wick.ones_like(getattr(module, name).detach())).reshape(-1)
             for module, name in parameters]
    mask, at = container.compute_mask(wick.cat(scores), wick.cat(masks)), 0
    for module, name in parameters:
        parameter = getattr(module, name)
        part = mask[at:at + parameter.numel()].view_as(parameter)
        at += parameter.numel()
        custom_from_mask(module, name, mask=part)


def remove(module, name):
    """Ends the pruning of ``module.name``: a parameter again, its pruned elements 0. Gives the module."""
    found = _method_of(module, name)
    if found is None:
        raise ValueError("Parameter '{}' of module {} has to be pruned before pruning can be removed".format(
            name, module))
    key, method = found
    method.remove(module)
    del module._forward_pre_hooks[key]
    return module


def is_pruned(module):
    """Whether ``module`` or one within it has a pruned parameter."""
    return any(isinstance(hook, BasePruningMethod) for _, within in module.named_modules()
               for hook in within._forward_pre_hooks.values())


def _method_of(module, name):
    """The key and the hook that prune ``name``, or None."""
    for key, hook in module._forward_pre_hooks.items():
        if isinstance(hook, BasePruningMethod) and hook._tensor_name == name:
            return key, hook
    return None

