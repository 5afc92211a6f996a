"""Networks of an installed torchvision, from its own files with wick in torch's place: eager and scripted.

The files are read where they are; nothing of torchvision runs but the definitions of networks. The recorded numbers
are what PyTorch 1.13 gives; --record prints them anew where it is installed.
"""
import importlib
import importlib.util
import sys
import types
import unittest
import warnings

RECORD = '--record' in sys.argv

# (file, function, further arguments, size of the picture); then the number of tensors in the state dict and results
NETWORKS = {
    'alexnet': ('alexnet', {}, 64),
    'resnet18': ('resnet', {}, 64),
    'wide_resnet50_2': ('resnet', {'num_classes': 9}, 32),
    'squeezenet1_1': ('squeezenet', {}, 64),
    'mobilenet_v2': ('mobilenetv2', {}, 32),
    'mobilenet_v3_small': ('mobilenetv3', {}, 64),
    'shufflenet_v2_x0_5': ('shufflenetv2', {}, 64),
    'densenet121': ('densenet', {}, 32),
    'mnasnet0_5': ('mnasnet', {}, 64),
    'googlenet': ('googlenet', {'aux_logits': False, 'init_weights': False}, 64),
    'efficientnet_b0': ('efficientnet', {}, 64),
    'regnet_y_400mf': ('regnet', {}, 64),
    'vgg11_bn': ('vgg', {'num_classes': 5}, 32),
}
RECORDED = {
    'alexnet': (16, 0.0242678, 0.00667974, -0.00916849, -0.00456733),
    'resnet18': (122, 1.10193, 0.193374, 0.202781, -0.164406),
    'wide_resnet50_2': (320, 1.97855, 0.160474, -0.589372, 0.917688),
    'squeezenet1_1': (52, 0.279552, 0.0648607, 0.0545279, 0.0662642),
    'mobilenet_v2': (314, 1.33155e-10, 2.49073e-11, -3.69025e-11, -1.12821e-11),
    'mobilenet_v3_small': (244, 3.3695e-10, -5.0576e-11, -5.88663e-11, 2.27736e-10),
    'shufflenet_v2_x0_5': (338, 0.0312138, 0.0281378, -0.0167086, -0.00838032),
    'densenet121': (727, 0.599166, -0.0346483, -0.0536137, -0.112472),
    'mnasnet0_5': (314, 1.65307e-08, 1.03577e-09, 9.05133e-09, 2.77012e-09),
    'googlenet': (344, 0.0312463, 0.0283568, 0.0150306, 0.0179885),
    'efficientnet_b0': (360, 1.76885e-14, 1.96622e-15, 1.52976e-17, -3.59209e-15),
    'regnet_y_400mf': (384, 0.0425744, 0.010193, -0.00511937, -0.0128444),
    'vgg11_bn': (62, 0.0127235, -0.00818972, 0.00104119, 0.000599201),
}


class _Alias:
    """A finder that gives wick's modules under torch's names."""

    @classmethod
    def find_spec(cls, name, path=None, target=None):
        if name.split('.')[0] != 'torch':
            return None
        try:
            module = importlib.import_module('wick' + name[5:])
        except ImportError:
            return None
        loader = types.SimpleNamespace(create_module=lambda spec: module, exec_module=lambda module: None)
        return importlib.util.spec_from_loader(name, loader)


def _package(name, *folder, **names):
    module = sys.modules[name] = types.ModuleType(name)
    module.__path__ = list(folder)
    module.__dict__.update(names)
    return module


def wick_in_torch_s_place(folder):
    """Lets files of torchvision in ``folder`` be imported, which then build on wick."""
    sys.meta_path.insert(0, _Alias)
    _package('torchvision', folder)
    _package('torchvision.models', folder + '/models')
    ops = _package('torchvision.ops', folder + '/ops')
    _package('torchvision.transforms')
    presets = _package('torchvision.transforms._presets', ImageClassification=object,
                       InterpolationMode=types.SimpleNamespace(BILINEAR=1, BICUBIC=2))
    presets.__getattr__ = lambda name: object
    _package('torchvision.utils', _log_api_usage_once=lambda thing: None,
             _make_ntuple=lambda value, n: tuple(value) if isinstance(value, (list, tuple)) else (value,) * n)
    for file in ('stochastic_depth', 'misc'):
        found = vars(importlib.import_module('torchvision.ops.' + file))
        ops.__dict__.update({name: value for name, value in found.items() if callable(value)})


def result(torch, name):
    """A network, how many tensors its state dict has and its first results, what it was given and what it gave."""
    file, more, size = NETWORKS[name]
    make = getattr(importlib.import_module('torchvision.models.' + file), name)
    torch.manual_seed(0)
    network = make(weights=None, **more).eval()
    picture = ((torch.arange(3 * size * size) * 7 % 23) / 23).reshape(1, 3, size, size)
    with torch.no_grad():
        out = network(picture)[0]
    return network, (len(network.state_dict()), out.abs().max().item(), *out[:3].tolist()), picture, out


class Networks(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        import wick
        found = importlib.util.find_spec('torchvision')
        if found is None:
            raise unittest.SkipTest('torchvision is not installed')
        if not all(importlib.util.find_spec('wick.' + name) for name in ('jit', 'fx', 'hub')):
            raise unittest.SkipTest('wick.jit is not there')
        cls.wick = wick
        wick_in_torch_s_place(found.submodule_search_locations[0])

    def test_results_and_scripts(self):
        for name in NETWORKS:
            with self.subTest(name):
                network, found, picture, out = result(self.wick, name)
                wanted = RECORDED[name]
                self.assertEqual(found[0], wanted[0])
                for value, expected in zip(found[1:], wanted[1:]):
                    self.assertAlmostEqual(value, expected, delta=2e-5 * wanted[1])
                with self.wick.no_grad():
                    scripted = self.wick.jit.script(network)(picture)
                logits = (scripted[0] if isinstance(scripted, tuple) else scripted)[0]
                self.assertLess((logits - out).abs().max().item(), 2e-5 * wanted[1])


if __name__ == '__main__':
    warnings.simplefilter('ignore')
    if RECORD:
        import torch
        import torchvision  # noqa: F401
        for name in NETWORKS:
            count, *numbers = result(torch, name)[1]
            print('    {!r}: ({}, {}),'.format(name, count, ', '.join('{:.6g}'.format(number) for number in numbers)))
    else:
        unittest.main()
