"""Lists and dicts that Nodes hold as arguments. To change them, give the Node changed copies."""
from ..utils._pytree import _register_pytree_node

__all__ = ["immutable_list", "immutable_dict"]

_HELP = ("If you are attempting to modify the kwargs or args of a torch.fx.Node object,\ninstead create a new copy "
         "of it and assign the copy to the node:\n    new_args = ... # copy and mutate args\n"
         "    node.args = new_args\n")


def _refuse(self, *args, **kwargs):
    raise NotImplementedError("'{}' object does not support mutation. {}".format(type(self).__name__, _HELP))


class immutable_list(list):
    """A list that nothing is put into or taken out of."""

    __delitem__ = __iadd__ = __imul__ = __setitem__ = append = clear = extend = insert = pop = remove = _refuse

    def __reduce__(self):
        return immutable_list, (tuple(self),)


class immutable_dict(dict):
    """A dict that nothing is put into or taken out of."""

    __delitem__ = __setitem__ = clear = pop = popitem = update = _refuse

    def __reduce__(self):
        return immutable_dict, (tuple(self.items()),)


_register_pytree_node(immutable_dict, lambda value: (list(value.values()), list(value)),
                      lambda values, keys: immutable_dict(zip(keys, values)))
_register_pytree_node(immutable_list, lambda value: (list(value), None), lambda values, _: immutable_list(values))
