"""nn.functional, nn.init and nn.utils: closed forms, PyTorch 1.13's numbers for a seed, and errors."""
import math
import unittest

import wick
from wick import nn
from wick.nn import functional as F

x = ((wick.arange(24.0) * 7 % 23 - 11) / 10).reshape(2, 3, 4)


def close(left, right, tolerance=1e-6):
    return left.shape == right.shape and wick.allclose(left, right, atol=tolerance, rtol=1e-5)


class Functions(unittest.TestCase):
    def test_closed_forms(self):
        for found, wanted in (
                (F.normalize(x, dim=2), x / (x * x).sum(2, keepdim=True).sqrt()),
                (F.softmin(x, 1), (-x).exp() / (-x).exp().sum(1, keepdim=True)),
                (F.softsign(x), x / (1 + x.abs())),
                (F.pairwise_distance(x, x * 2, eps=0.0), (x * x).sum(2).sqrt()),
                (F.kl_div(x, x.exp(), reduction='batchmean'), wick.tensor(0.0)),
                (F.softmax(x, 1, dtype=wick.float64).float(), x.softmax(1)),
                (F.mse_loss(x, x * 0, size_average=False), (x * x).sum()),
                (F.one_hot(wick.tensor([0, 2]), 3), wick.tensor([[1, 0, 0], [0, 0, 1]])),
                (F.interpolate(x, scale_factor=2.0), x.repeat_interleave(2, dim=2)),
                (F.interpolate(x, 2, mode='area'), x.reshape(2, 3, 2, 2).mean(3)),
                (F.local_response_norm(x, 1), x / (1 + 1e-4 * x * x) ** 0.75),
                (F.cross_entropy(x[:, :, 0], wick.tensor([2, 1])),
                 -(x[:, :, 0].log_softmax(1)[0, 2] + x[:, :, 0].log_softmax(1)[1, 1]) / 2),
                (F.gaussian_nll_loss(x, x, wick.ones_like(x), full=True), wick.tensor(0.5 * math.log(2 * math.pi)))):
            self.assertTrue(close(found, wanted), (found, wanted))

    def test_attention_of_one_head(self):
        weights = (x @ x.transpose(1, 2) / 2.0).softmax(-1)
        self.assertTrue(close(F.scaled_dot_product_attention(x, x, x), weights @ x))

    def test_pooling_and_back(self):
        pooled, indices = F.max_pool1d(x, 2, return_indices=True)
        self.assertTrue(close(pooled, x.reshape(2, 3, 2, 2).amax(3)))
        restored = F.max_unpool1d(pooled, indices, 2)
        self.assertTrue(close(restored, wick.where(restored != 0, x, wick.zeros_like(x))))
        self.assertTrue(close(F.fold(F.unfold(x.reshape(1, 2, 3, 4), (1, 2), stride=(1, 2)), (3, 4), (1, 2),
                                     stride=(1, 2)), x.reshape(1, 2, 3, 4)))
        self.assertTrue(close(F.lp_pool1d(x.abs(), 1.0, 2), x.abs().reshape(2, 3, 2, 2).sum(3)))
        self.assertEqual(F.adaptive_avg_pool2d(x, (None, 2)).shape, (2, 3, 2))

    def test_gumbel_softmax_picks_one(self):
        hard = F.gumbel_softmax(x, hard=True, dim=1)
        self.assertTrue(close(hard.sum(1), wick.ones(2, 4)))
        self.assertTrue(close(hard.amax(1), wick.ones(2, 4)))

    def test_errors(self):
        for call, kind, text in (
                (lambda: F.dropout(x, 2.0), ValueError, 'between 0 and 1, but got 2.0'),
                (lambda: F.mse_loss(x, x, reduction='x'), ValueError, 'x is not a valid value for reduction'),
                (lambda: F.interpolate(x), ValueError, 'either size or scale_factor should be defined'),
                (lambda: F.interpolate(x, 2, 2.0), ValueError, 'only one of size or scale_factor'),
                (lambda: F.interpolate(x, 2, mode='bilinear'), NotImplementedError, 'Got 3D input, but bilinear'),
                (lambda: F.interpolate(x, (2, 2)), ValueError, 'same number of spatial dimensions'),
                (lambda: F.binary_cross_entropy(x, x[0]), ValueError, 'Using a target size'),
                (lambda: F.glu(wick.tensor(1.0)), RuntimeError, 'does not support scalars'),
                (lambda: F.instance_norm(x[:, :, :1]), ValueError, 'more than 1 spatial element'),
                (lambda: F.grid_sample(x, x, mode='x'), ValueError, "expected mode to be 'bilinear'"),
                (lambda: F.embedding_bag(wick.tensor([1]), x[0]), ValueError, 'offsets has to be a 1D Tensor')):
            with self.assertRaisesRegex(kind, text):
                call()


class InitialValues(unittest.TestCase):
    def filled(self, fill, *sizes, **more):
        wick.manual_seed(0)
        parameter = nn.Parameter(wick.empty(*sizes))
        self.assertIs(fill(parameter, **more), parameter)
        return parameter.detach()

    def test_numbers_for_a_seed(self):
        for name, first in INITIAL.items():
            found = self.filled(getattr(nn.init, name), 3, 4).flatten()[:4].tolist()
            for value, wanted in zip(found, first):
                self.assertAlmostEqual(value, wanted, places=4, msg=name)

    def test_orthogonal(self):
        wide = self.filled(nn.init.orthogonal_, 3, 5)
        self.assertTrue(close(wide @ wide.t(), wick.eye(3), 1e-5))
        tall = self.filled(nn.init.orthogonal_, 5, 3, gain=2)
        self.assertTrue(close(tall.t() @ tall, 4 * wick.eye(3), 1e-5))

    def test_patterns(self):
        self.assertTrue(wick.equal(self.filled(nn.init.eye_, 2, 3), wick.eye(2, 3)))
        kept = nn.Conv1d(4, 4, 3, padding=1, groups=2, bias=False)
        nn.init.dirac_(kept.weight, groups=2)
        signal = x.reshape(2, 4, 3)
        self.assertTrue(close(kept(signal), signal))
        sparse = self.filled(nn.init.sparse_, 10, 4, sparsity=0.3)
        self.assertTrue(wick.equal((sparse == 0).sum(0), wick.tensor([3, 3, 3, 3])))
        bounded = self.filled(nn.init.trunc_normal_, 50, 50, std=2.0, a=-1.0, b=1.5)
        self.assertTrue(bounded.min().item() >= -1 and bounded.max().item() <= 1.5)

    def test_gains_and_errors(self):
        self.assertEqual(nn.init.calculate_gain('tanh'), 5 / 3)
        self.assertAlmostEqual(nn.init.calculate_gain('leaky_relu', 0.5), math.sqrt(1.6))
        with self.assertRaisesRegex(ValueError, 'Unsupported nonlinearity'):
            nn.init.calculate_gain('x')
        with self.assertRaisesRegex(ValueError, 'fewer than 2 dimensions'):
            nn.init.xavier_uniform_(wick.empty(3))


class Utils(unittest.TestCase):
    def parameters(self):
        made = [nn.Parameter(x[0].clone()), nn.Parameter(x[1, 0].clone()), nn.Parameter(wick.ones(2))]
        sum((value * value).sum() for value in made[:2]).backward()
        return made

    def test_clip_grad(self):
        made = self.parameters()
        norm = math.sqrt(sum((value.grad ** 2).sum().item() for value in made[:2]))
        self.assertAlmostEqual(nn.utils.clip_grad_norm_(made, 1.0).item(), norm, places=4)
        self.assertAlmostEqual(nn.utils.clip_grad_norm_(made, 9.0).item(), 1.0, places=4)
        largest = max(value.grad.abs().max().item() for value in made[:2])
        self.assertAlmostEqual(nn.utils.clip_grad_norm_(made, 9.0, math.inf).item(), largest, places=5)
        nn.utils.clip_grad_value_(made, 0.01)
        self.assertLessEqual(max(value.grad.abs().max().item() for value in made[:2]), 0.01)
        made[0].grad.fill_(math.nan)
        with self.assertRaisesRegex(RuntimeError, 'non-finite'):
            nn.utils.clip_grad_norm_(made, 1.0, error_if_nonfinite=True)

    def test_vectors(self):
        layer = nn.Linear(3, 2)
        vector = nn.utils.parameters_to_vector(layer.parameters())
        self.assertEqual(vector.shape, (8,))
        nn.utils.vector_to_parameters(wick.arange(8.0), layer.parameters())
        self.assertEqual(layer.bias.tolist(), [6.0, 7.0])

    def test_fusion(self):
        wick.manual_seed(0)
        conv, norm = nn.Conv2d(2, 3, 3), nn.BatchNorm2d(3)
        image = x.repeat(2, 3, 1).reshape(2, 2, 6, 6)
        norm(conv(image))
        net = nn.Sequential(conv, norm).eval()
        self.assertTrue(close(nn.utils.fuse_conv_bn_eval(conv, norm)(image), net(image), 1e-5))

    def test_weight_norm(self):
        layer = nn.Linear(4, 3)
        weight, expected = layer.weight.detach().clone(), layer(x)
        nn.utils.weight_norm(layer)
        self.assertEqual(list(layer.state_dict()), ['bias', 'weight_g', 'weight_v'])
        self.assertTrue(close(layer(x), expected, 1e-5))
        layer(x).sum().backward()
        self.assertEqual(layer.weight_g.grad.shape, (3, 1))
        nn.utils.remove_weight_norm(layer)
        self.assertTrue(close(layer.weight.detach(), weight, 1e-5))
        with self.assertRaisesRegex(ValueError, 'not found'):
            nn.utils.remove_weight_norm(layer)

    def test_spectral_norm(self):
        wick.manual_seed(0)
        layer = nn.utils.spectral_norm(nn.Linear(4, 3), n_power_iterations=50)
        layer(x)
        self.assertAlmostEqual(wick.linalg_svdvals(layer.weight.detach())[0].item(), 1.0, places=4)
        self.assertEqual(sorted(layer.state_dict()), ['bias', 'weight_orig', 'weight_u', 'weight_v'])
        other = nn.utils.spectral_norm(nn.Linear(4, 3))
        other.load_state_dict(layer.state_dict())
        self.assertTrue(close(other.eval()(x), layer.eval()(x), 1e-5))
        nn.utils.remove_spectral_norm(layer)
        self.assertEqual(sorted(layer.state_dict()), ['bias', 'weight'])

    def test_sequences(self):
        rnn = nn.utils.rnn
        parts = [wick.arange(2.0), wick.arange(4.0) + 10, wick.arange(1.0) + 20]
        packed = rnn.pack_sequence(parts, enforce_sorted=False)
        self.assertEqual(packed.data.tolist(), [10, 0, 20, 11, 1, 12, 13])
        self.assertEqual(packed.batch_sizes.tolist(), [3, 2, 1, 1])
        self.assertEqual(packed.sorted_indices.tolist(), [1, 0, 2])
        padded, lengths = rnn.pad_packed_sequence(packed, batch_first=True, padding_value=-1.0)
        self.assertEqual(padded[2].tolist(), [20, -1, -1, -1])
        self.assertEqual(lengths.tolist(), [2, 4, 1])
        self.assertEqual([part.tolist() for part in rnn.unpack_sequence(packed)], [part.tolist() for part in parts])
        self.assertEqual(rnn.pad_sequence(parts).shape, (4, 3))
        with self.assertRaisesRegex(RuntimeError, 'sorted'):
            rnn.pack_sequence(parts)


# The first four numbers that PyTorch 1.13 draws into 3 x 4 after manual_seed(0).
INITIAL = {
    'uniform_': (0.49626, 0.76822, 0.08848, 0.13203),
    'normal_': (1.54100, -0.29343, -2.17879, 0.56843),
    'xavier_uniform_': (-0.00693, 0.49665, -0.76199, -0.68135),
    'xavier_normal_': (0.82370, -0.15684, -1.16461, 0.30384),
    'kaiming_uniform_': (-0.00917, 0.65701, -1.00802, -0.90134),
    'kaiming_normal_': (1.08965, -0.20749, -1.54064, 0.40194),
    'trunc_normal_': (-0.00896, 0.69355, -1.24155, -1.04171),
    'orthogonal_': (0.56153, -0.10692, -0.79394, 0.20713),
}

if __name__ == '__main__':
    unittest.main()
