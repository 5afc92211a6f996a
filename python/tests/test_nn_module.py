"""nn.Module's protocol: members, walks, state dicts, hooks, copies, containers."""
import copy
import io
import pickle
import unittest
import zipfile
from collections import OrderedDict

import wick
from wick import nn


def net():
    return nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3))


class Members(unittest.TestCase):
    def test_attributes_become_members(self):
        module = nn.Module()
        module.weight = nn.Parameter(wick.ones(2))
        module.child = nn.ReLU()
        module.number = 3
        module.register_buffer('state', wick.zeros(1))
        module.register_buffer('scratch', wick.zeros(1), persistent=False)
        module.register_parameter('absent', None)
        self.assertEqual([name for name, _ in module.named_parameters()], ['weight'])
        self.assertEqual([name for name, _ in module.named_buffers()], ['state', 'scratch'])
        self.assertEqual([name for name, _ in module.named_children()], ['child'])
        self.assertEqual(list(module.state_dict()), ['weight', 'state'])
        self.assertIsNone(module.absent)
        self.assertTrue({'weight', 'child', 'number', 'state'} <= set(dir(module)))
        del module.weight, module.child, module.state, module.number
        for name in ('weight', 'child', 'state', 'number'):
            self.assertFalse(hasattr(module, name))

    def test_kinds_change_places(self):
        module = nn.Module()
        module.value = wick.ones(1)
        module.value = nn.Parameter(wick.ones(1))
        self.assertNotIn('value', module.__dict__)
        with self.assertRaisesRegex(TypeError, r"as parameter 'value' \(torch.nn.Parameter or None expected\)"):
            module.value = wick.ones(1)
        del module.value
        module.value = nn.ReLU()
        self.assertEqual(list(module.parameters()), [])
        with self.assertRaisesRegex(TypeError, "as child module 'value'"):
            module.value = 3
        module.value = None
        self.assertIsNone(module.value)

    def test_errors(self):
        layer = nn.Linear(2, 2)
        for call, kind, text in (
                (lambda: layer.register_parameter('a.b', None), KeyError, 'name can.*contain'),
                (lambda: layer.register_buffer('', None), KeyError, 'empty string'),
                (lambda: layer.add_module('forward', None), KeyError, "attribute 'forward' already exists"),
                (lambda: layer.register_parameter('p', wick.ones(1)), TypeError, 'Parameter or None required'),
                (lambda: layer.register_buffer('p', 3), TypeError, "'int' object to buffer 'p'"),
                (lambda: layer.add_module('m', 3), TypeError, 'int is not a Module subclass'),
                (lambda: layer.missing, AttributeError, "'Linear' object has no attribute 'missing'"),
                (lambda: layer.get_submodule('x'), AttributeError, 'Linear has no attribute `x`'),
                (lambda: layer.get_buffer('weight'), AttributeError, '`weight` is not a buffer'),
                (lambda: layer.train(3), ValueError, 'boolean'),
                (lambda: layer.to(wick.int32), TypeError, 'floating point or complex'),
                (lambda: nn.Module()(1), NotImplementedError, 'missing the required "forward"')):
            with self.assertRaisesRegex(kind, text):
                call()

        class Early(nn.Module):
            def __init__(self):
                self.weight = nn.Parameter(wick.ones(1))

        with self.assertRaisesRegex(AttributeError, 'before Module.__init__'):
            Early()

    def test_paths(self):
        module = nn.Sequential(net(), nn.ReLU())
        self.assertIs(module.get_submodule('0.1'), module[0][1])
        self.assertIs(module.get_submodule(''), module)
        self.assertIs(module.get_parameter('0.0.bias'), module[0][0].bias)
        self.assertIs(module.get_buffer('0.1.running_mean'), module[0][1].running_mean)

    def test_shared_members_come_once(self):
        module = nn.Module()
        module.a = module.b = nn.Linear(2, 2)
        self.assertEqual([name for name, _ in module.named_parameters()], ['a.weight', 'a.bias'])
        self.assertEqual([name for name, _ in module.named_modules()], ['', 'a'])
        self.assertEqual(len(module.state_dict()), 4)
        copied = copy.deepcopy(module)
        self.assertIs(copied.a, copied.b)
        self.assertIsNot(copied.a.weight, module.a.weight)

    def test_modes_and_dtypes(self):
        module = net()
        module.eval()
        self.assertFalse(module.training or module[1].training)
        module.train()[0].requires_grad_(False)
        self.assertEqual([p.requires_grad for p in module.parameters()], [False, False, True, True])
        kept = module[0].weight
        module.double()
        self.assertIs(module[0].weight, kept)
        self.assertEqual(kept.dtype, wick.float64)
        self.assertEqual(module[1].num_batches_tracked.dtype, wick.int64)
        module.to(wick.ones(1))
        self.assertEqual(module[1].running_mean.dtype, wick.float32)
        module(wick.ones(3, 2) * wick.arange(3.0).unsqueeze(1)).sum().backward()
        self.assertIsNone(module[0].weight.grad)
        module.zero_grad()
        self.assertEqual(module[1].weight.grad.abs().max().item(), 0)
        module.zero_grad(set_to_none=True)
        self.assertIsNone(module[1].weight.grad)

    def test_apply_goes_from_the_leaves(self):
        seen = []
        nn.Sequential(nn.Linear(1, 1), nn.ReLU()).apply(lambda module: seen.append(type(module).__name__))
        self.assertEqual(seen, ['Linear', 'ReLU', 'Sequential'])

    def test_text(self):
        self.assertEqual(repr(nn.Sequential(OrderedDict(a=nn.Linear(1, 2), b=nn.Sequential(nn.ReLU())))),
                         'Sequential(\n  (a): Linear(in_features=1, out_features=2, bias=True)\n'
                         '  (b): Sequential(\n    (0): ReLU()\n  )\n)')
        self.assertTrue(repr(nn.Parameter(wick.ones(2))).startswith('Parameter containing:\ntensor('))


class StateDicts(unittest.TestCase):
    def test_keys_and_metadata(self):
        state = net().state_dict()
        self.assertEqual(list(state), ['0.weight', '0.bias', '1.weight', '1.bias', '1.running_mean', '1.running_var',
                                       '1.num_batches_tracked'])
        self.assertEqual(dict(state._metadata), {'': {'version': 1}, '0': {'version': 1}, '1': {'version': 2}})
        self.assertFalse(state['0.weight'].requires_grad)

    def test_versions_in_files(self):
        """A file of torch.save, with an OrderedDict that was given an attribute."""
        state = OrderedDict(steps=3)
        state._metadata = OrderedDict({'': {'version': 2}})
        file = io.BytesIO()
        with zipfile.ZipFile(file, 'w') as archive:
            archive.writestr('state/data.pkl', pickle.dumps({'net': state}, 2))
            archive.writestr('state/version', '3\n')
        loaded = wick.load(io.BytesIO(file.getvalue()))['net']
        self.assertEqual(dict(loaded), {'steps': 3})
        self.assertEqual(loaded._metadata, {'': {'version': 2}})

    def test_loading_copies(self):
        one, other = net(), net()
        self.assertEqual(str(one.load_state_dict(other.state_dict())), '<All keys matched successfully>')
        self.assertTrue(wick.equal(one[0].weight, other[0].weight))
        with wick.no_grad():
            other[0].weight.zero_()
        self.assertFalse(wick.equal(one[0].weight, other[0].weight))
        given = {'weight': wick.zeros(3, 2), 'bias': wick.zeros(3)}
        one[0].load_state_dict(given, assign=True)
        given['weight'].fill_(5)
        self.assertEqual(one[0].weight[0, 0].item(), 5)
        self.assertIsInstance(one[0].weight, nn.Parameter)

    def test_what_does_not_fit(self):
        state = net().state_dict()
        state['0.weight'] = wick.zeros(3, 3)
        state['x.y'] = wick.zeros(1)
        state['1.weight'] = 3
        del state['1.bias']
        with self.assertRaises(RuntimeError) as raised:
            net().load_state_dict(state)
        self.assertEqual(str(raised.exception).split('\n\t')[0], 'Error(s) in loading state_dict for Sequential:')
        self.assertEqual(str(raised.exception).split('\n\t')[1:4], [
            'Missing key(s) in state_dict: "1.bias". ', 'Unexpected key(s) in state_dict: "x.y". ',
            'size mismatch for 0.weight: copying a param with shape torch.Size([3, 3]) from checkpoint, the shape in '
            'current model is torch.Size([3, 2]).'])
        del state['0.weight'], state['1.weight']
        found = net().load_state_dict(state, strict=False)
        self.assertEqual(found.missing_keys, ['0.weight', '1.weight', '1.bias'])
        self.assertEqual(found.unexpected_keys, ['x.y'])
        with self.assertRaisesRegex(TypeError, 'Expected state_dict to be dict-like'):
            net().load_state_dict(3)

    def test_extra_state_and_hooks(self):
        class Extra(nn.Linear):
            def get_extra_state(self):
                return {'a': 1}

            def set_extra_state(self, state):
                self.got = state

        one = Extra(1, 1)
        one._register_state_dict_hook(lambda module, state, prefix, metadata: state.update(more=3))
        state = one.state_dict()
        self.assertEqual(list(state), ['weight', 'bias', '_extra_state', 'more'])
        seen = []
        one._register_load_state_dict_pre_hook(lambda state, prefix, *rest: state.pop(prefix + 'more'))
        one.register_load_state_dict_post_hook(lambda module, keys: seen.append(keys))
        one.load_state_dict(state)
        self.assertEqual(one.got, {'a': 1})
        self.assertEqual(len(seen), 1)
        self.assertIn('more', state)  # the caller's stays as it is

    def test_copies_and_pickles(self):
        for module in (net(), nn.LSTM(2, 3), nn.Embedding(4, 2)):
            for other in (copy.deepcopy(module), pickle.loads(pickle.dumps(module))):
                self.assertEqual(repr(other), repr(module))
                for (name, value), (key, copied) in zip(module.state_dict().items(), other.state_dict().items()):
                    self.assertEqual(name, key)
                    self.assertTrue(wick.equal(value, copied))
                    self.assertNotEqual(value.data_ptr(), copied.data_ptr())
                self.assertEqual([type(p) for p in other.parameters()], [type(p) for p in module.parameters()])


class Hooks(unittest.TestCase):
    def test_forward_hooks(self):
        layer = nn.Identity()
        before = layer.register_forward_pre_hook(lambda module, args: args[0] * 2)
        after = layer.register_forward_hook(lambda module, args, output: output + args[0])
        self.assertEqual(layer(wick.tensor(3.0)).item(), 12)
        before.remove()
        self.assertEqual(layer(wick.tensor(3.0)).item(), 6)
        after.remove()
        after.remove()
        self.assertEqual(layer(wick.tensor(3.0)).item(), 3)
        with layer.register_forward_hook(lambda *args: wick.tensor(0.0)):
            self.assertEqual(layer(wick.tensor(3.0)).item(), 0)
        self.assertEqual(layer(wick.tensor(3.0)).item(), 3)
        order = []
        layer.register_forward_hook(lambda *args: order.append(1))
        layer.register_forward_hook(lambda *args: order.append(2), prepend=True)
        layer.register_forward_hook(lambda module, args, kwargs, output: order.append(kwargs), with_kwargs=True)
        layer(input=wick.tensor(3.0))
        self.assertEqual([order[0], order[1], list(order[2])], [2, 1, ['input']])

    @unittest.skipUnless(hasattr(wick.autograd, 'Function'), 'needs autograd.Function')
    def test_full_backward_hooks(self):
        layer = nn.Linear(2, 3)
        seen = []

        def hook(module, grad_input, grad_output):
            seen.append((grad_input, grad_output))
            return (grad_input[0] * 3,)

        layer.register_full_backward_hook(hook)
        x = wick.ones(4, 2, requires_grad=True)
        layer(x).sum().backward()
        (grad_input,), (grad_output,) = seen[0]
        self.assertTrue(wick.equal(grad_output, wick.ones(4, 3)))
        expected = layer.weight.detach().sum(0).expand(4, 2)
        self.assertTrue(wick.allclose(grad_input, expected))
        self.assertTrue(wick.allclose(x.grad, expected * 3))
        self.assertTrue(wick.allclose(layer.weight.grad, wick.full((3, 2), 4.0)))
        with self.assertRaisesRegex(RuntimeError, 'Cannot use both'):
            layer.register_backward_hook(hook)

    def test_global_hooks(self):
        registry = nn.modules.module
        seen = []
        handles = [registry.register_module_forward_pre_hook(lambda module, args: seen.append('before')),
                   registry.register_module_forward_hook(lambda module, args, output: seen.append('after'))]
        nn.Sequential(nn.ReLU())(wick.ones(1))
        for handle in handles:
            handle.remove()
        nn.ReLU()(wick.ones(1))
        self.assertEqual(seen, ['before', 'before', 'after', 'after'])


class Containers(unittest.TestCase):
    def test_data_parallel_calls_its_module(self):
        layer = nn.Linear(2, 2)
        wrapped = nn.DataParallel(layer)
        self.assertEqual(list(wrapped.state_dict()), ['module.weight', 'module.bias'])
        self.assertTrue(wick.equal(wrapped(wick.ones(1, 2)), layer(wick.ones(1, 2))))

    def test_sequential(self):
        layers = nn.Sequential(nn.Linear(2, 3), nn.ReLU())
        layers.append(nn.Tanh()).insert(1, nn.Sigmoid())
        names = [type(layer).__name__ for layer in layers]
        self.assertEqual(names, ['Linear', 'Sigmoid', 'ReLU', 'Tanh'])
        self.assertEqual([type(layer).__name__ for layer in layers[1:3]], names[1:3])
        self.assertIs(layers[-1], layers[3])
        del layers[1]
        self.assertEqual(list(layers._modules), ['0', '1', '2'])
        layers[1] = nn.Identity()
        self.assertEqual(len(layers + layers), 6)
        self.assertEqual(len(layers * 2), 6)
        self.assertIsInstance(layers.pop(1), nn.Identity)
        self.assertEqual(layers(wick.ones(1, 2)).shape, (1, 3))
        with self.assertRaises(IndexError):
            layers[5]

    def test_lists_and_dicts(self):
        layers = nn.ModuleList([nn.ReLU()])
        layers.extend([nn.Linear(1, 1)])
        layers += [nn.Tanh()]
        layers.insert(0, nn.ELU())
        self.assertEqual([type(layer).__name__ for layer in layers], ['ELU', 'ReLU', 'Linear', 'Tanh'])
        self.assertEqual(list(layers.state_dict()), ['2.weight', '2.bias'])
        named = nn.ModuleDict({'a': nn.ReLU()})
        named.update([('b', nn.Linear(1, 1))])
        named['c'] = nn.Tanh()
        self.assertEqual(list(named), ['a', 'b', 'c'])
        self.assertIsInstance(named.pop('a'), nn.ReLU)
        self.assertNotIn('a', named)
        with self.assertRaises(TypeError):
            layers.extend(3)

    def test_parameters(self):
        values = nn.ParameterList([wick.ones(2), nn.Parameter(wick.ones(3))])
        values.append(wick.ones(1))
        self.assertTrue(all(isinstance(value, nn.Parameter) for value in values))
        self.assertEqual(list(values.state_dict()), ['0', '1', '2'])
        self.assertIn('(1): Parameter containing: [', repr(values))
        named = nn.ParameterDict({'b': wick.ones(2), 'a': wick.ones(3)})
        self.assertEqual(list(named), ['a', 'b'])
        named |= {'c': wick.ones(1)}
        self.assertEqual(named.pop('a').shape, (3,))
        self.assertEqual([name for name, _ in named.named_parameters()], ['b', 'c'])
        self.assertEqual(named.setdefault('d', wick.ones(4)).shape, (4,))


if __name__ == '__main__':
    unittest.main()
