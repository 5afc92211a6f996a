"""Weights divided by their largest singular value (T. Miyato et al., 2018)."""
import wick
from wick.nn import functional as F
from wick.nn.parameter import Parameter


class SpectralNorm:
    """The hook that computes a weight before each forward, by power iteration on ``name_u`` and ``name_v``."""

    _version = 1

    def __init__(self, name='weight', n_power_iterations=1, dim=0, eps=1e-12):
        if n_power_iterations <= 0:
            raise ValueError('Expected n_power_iterations to be positive, but got n_power_iterations={}'
                             .format(n_power_iterations))
        self.name = name
        self.dim = dim
        self.n_power_iterations = n_power_iterations
        self.eps = eps

    def reshape_weight_to_matrix(self, weight):
        """The weight with ``dim`` first and the others joined."""
        if self.dim != 0:
            weight = weight.permute(self.dim, *(d for d in range(weight.dim()) if d != self.dim))
        return weight.reshape(weight.size(0), -1)

    def compute_weight(self, module, do_power_iteration):
        """The weight from the original one; ``do_power_iteration`` brings the buffers nearer to singular vectors."""
        weight = getattr(module, self.name + '_orig')
        u, v = getattr(module, self.name + '_u'), getattr(module, self.name + '_v')
        matrix = self.reshape_weight_to_matrix(weight)
        if do_power_iteration:
            with wick.no_grad():
                for _ in range(self.n_power_iterations):
                    v = F.normalize(wick.mv(matrix.t(), u), dim=0, eps=self.eps, out=v)
                    u = F.normalize(wick.mv(matrix, v), dim=0, eps=self.eps, out=u)
                u, v = u.clone(), v.clone()
        return weight / wick.dot(u, wick.mv(matrix, v))

    @staticmethod
    def apply(module, name, n_power_iterations, dim, eps):
        """Puts the hook on a module."""
        for hook in module._forward_pre_hooks.values():
            if isinstance(hook, SpectralNorm) and hook.name == name:
                raise RuntimeError('Cannot register two spectral_norm hooks on the same parameter {}'.format(name))
        hook = SpectralNorm(name, n_power_iterations, dim, eps)
        weight = module._parameters[name]
        if weight is None:
            raise ValueError('`SpectralNorm` cannot be applied as parameter `{}` is None'.format(name))
        with wick.no_grad():
            rows, columns = hook.reshape_weight_to_matrix(weight).size()
            u = F.normalize(weight.new_empty(rows).normal_(0, 1), dim=0, eps=eps)
            v = F.normalize(weight.new_empty(columns).normal_(0, 1), dim=0, eps=eps)
        del module._parameters[name]
        module.register_parameter(name + '_orig', weight)
        setattr(module, name, weight.data)  # no parameter: the hook replaces it
        module.register_buffer(name + '_u', u)
        module.register_buffer(name + '_v', v)
        module.register_forward_pre_hook(hook)
        module._register_state_dict_hook(_StateDictHook(hook))
        module._register_load_state_dict_pre_hook(_LoadHook(hook))
        return hook

    def remove(self, module):
        """Makes the weight a parameter again."""
        with wick.no_grad():
            weight = self.compute_weight(module, do_power_iteration=False)
        delattr(module, self.name)
        for part in ('_u', '_v', '_orig'):
            delattr(module, self.name + part)
        module.register_parameter(self.name, Parameter(weight.detach()))

    def __call__(self, module, inputs):
        setattr(module, self.name, self.compute_weight(module, do_power_iteration=module.training))


class _StateDictHook:
    """Writes the version of what a state dict has of a spectral norm."""

    def __init__(self, hook):
        self.hook = hook

    def __call__(self, module, state_dict, prefix, local_metadata):
        versions = local_metadata.setdefault('spectral_norm', {})
        key = self.hook.name + '.version'
        if key in versions:
            raise RuntimeError("Unexpected key in metadata['spectral_norm']: {}".format(key))
        versions[key] = self.hook._version


class _LoadHook:
    """Finds ``name_v``, which state dicts without a version lack, from ``name_u`` and the weight."""

    def __init__(self, hook):
        self.hook = hook

    def __call__(self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs):
        hook = self.hook
        version = local_metadata.get('spectral_norm', {}).get(hook.name + '.version')
        if version is not None and version >= 1:
            return
        key = prefix + hook.name
        if all(key + part in state_dict for part in ('_orig', '_u', '_v')) and key not in state_dict:
            return
        for part in ('_orig', '', '_u'):
            if key + part not in state_dict:
                if strict:
                    missing_keys.append(key + part)
                return
        with wick.no_grad():
            original, weight = state_dict[key + '_orig'], state_dict.pop(key)
            sigma = (original / weight).mean()
            matrix = hook.reshape_weight_to_matrix(original)
            u = state_dict[key + '_u']
            v = wick.linalg_multi_dot([matrix.t().mm(matrix).pinverse(), matrix.t(), u.unsqueeze(1)]).squeeze(1)
            state_dict[key + '_v'] = v.mul_(sigma / wick.dot(u, wick.mv(matrix, v)))


def spectral_norm(module, name='weight', n_power_iterations=1, eps=1e-12, dim=None):
    """Divides a parameter by its largest singular value before each forward."""
    if dim is None:
        transposed = (wick.nn.ConvTranspose1d, wick.nn.ConvTranspose2d, wick.nn.ConvTranspose3d)
        dim = 1 if isinstance(module, transposed) else 0
    SpectralNorm.apply(module, name, n_power_iterations, dim, eps)
    return module


def remove_spectral_norm(module, name='weight'):
    """Undoes ``spectral_norm``."""
    for key, hook in module._forward_pre_hooks.items():
        if isinstance(hook, SpectralNorm) and hook.name == name:
            hook.remove(module)
            del module._forward_pre_hooks[key]
            break
    else:
        raise ValueError("spectral_norm of '{}' not found in {}".format(name, module))
    for hooks, kind in ((module._state_dict_hooks, _StateDictHook), (module._load_state_dict_pre_hooks, _LoadHook)):
        for key, each in list(hooks.items()):
            if isinstance(each, kind) and each.hook.name == name:
                del hooks[key]
    return module
