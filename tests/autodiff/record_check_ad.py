#!/usr/bin/env python3
"""Records tests/data/check_ad.pt with PyTorch: functions, arguments, results and gradients for
tests/unit/autodiff/test_check_ad.c.

Each case: the function's name and text, tensors, which of them require grad, and what the test expects of its graph:
(should_autodiff_node, nonfusible_nodes, fusible_nodes) in the way of PyTorch's own tests. Without names, the node is
aten::<name>.
"""
import sys
from typing import Dict, List, Optional, Tuple

import torch
import torch.nn.functional as F

torch.manual_seed(7)


def t(*sizes, low=-1.0, high=1.0):
    return (torch.rand(*sizes, dtype=torch.float64) * (high - low) + low).requires_grad_()


def p(*sizes):
    return t(*sizes, low=0.5, high=1.5)


def i(*values):
    return torch.tensor(values)


CASES = [
    # the documents' examples
    ('conv1d', 'x, w, b', 'torch.conv1d(x, w, b)', (t(2, 3, 7), t(4, 3, 3), t(4)), ()),
    ('avg_pool2d', 'x', 'torch.nn.functional.avg_pool2d(x, [2, 2])', (t(1, 2, 4, 4),), (True,)),
    ('nll_loss', 'x, y', 'torch.nn.functional.nll_loss(x, y)', (t(3, 5), i(1, 4, 0)), (True, 'aten::nll_loss_forward')),
    ('dropout', 'x', 'torch.dropout(x, 0.5, True)', (t(4, 4),), (True, ['aten::native_dropout'])),
    # pointwise operators, with broadcasting
    ('add', 'x, y', 'x + y', (t(2, 3), t(3)), (True, [], ['aten::add'])),
    ('add', 'x, y', 'torch.add(x, y, alpha=2)', (t(2, 1), t(3)), (True, [], ['aten::add'])),
    ('sub', 'x, y', 'x - y', (t(2, 3), t(2, 1)), (True, [], ['aten::sub'])),
    ('mul', 'x, y', 'x * y', (t(2, 3), t(3)), (True, [], ['aten::mul'])),
    ('mul', 'x', 'x * 3.', (t(2, 3),), (True, [], ['aten::mul'])),
    ('div', 'x, y', 'x / y', (t(2, 3), p(3)), (True, [], ['aten::div'])),
    ('pow', 'x', 'x ** 3', (t(2, 3),), (True, [], ['aten::pow'])),
    ('pow', 'x, y', 'x ** y', (p(2, 3), t(3)), (True, [], ['aten::pow'])),
    ('neg', 'x', '-x', (t(2, 3),), (True, [], ['aten::neg'])),
    ('abs', 'x', 'torch.abs(x)', (p(2, 3),), (True, [], ['aten::abs'])),
    ('exp', 'x', 'torch.exp(x)', (t(2, 3),), (True, [], ['aten::exp'])),
    ('log', 'x', 'torch.log(x)', (p(2, 3),), (True, [], ['aten::log'])),
    ('sqrt', 'x', 'torch.sqrt(x)', (p(2, 3),), (True, [], ['aten::sqrt'])),
    ('rsqrt', 'x', 'torch.rsqrt(x)', (p(2, 3),), (True, [], ['aten::rsqrt'])),
    ('reciprocal', 'x', 'torch.reciprocal(x)', (p(2, 3),), (True, [], ['aten::reciprocal'])),
    ('sin', 'x', 'torch.sin(x)', (t(2, 3),), (True, [], ['aten::sin'])),
    ('cos', 'x', 'torch.cos(x)', (t(2, 3),), (True, [], ['aten::cos'])),
    ('tanh', 'x', 'torch.tanh(x)', (t(2, 3),), (True, [], ['aten::tanh'])),
    ('sigmoid', 'x', 'torch.sigmoid(x)', (t(2, 3),), (True, [], ['aten::sigmoid'])),
    ('relu', 'x', 'torch.relu(x)', (p(2, 3),), (True, [], ['aten::relu'])),
    ('hardtanh', 'x', 'torch.nn.functional.hardtanh(x, -0.4, 0.4)', (t(2, 3),), (True, [], ['aten::hardtanh'])),
    ('leaky_relu', 'x', 'torch.nn.functional.leaky_relu(x, 0.1)', (t(2, 3),), (True, [], ['aten::leaky_relu'])),
    ('gelu', 'x', 'torch.nn.functional.gelu(x)', (t(2, 3),), (True, [], ['aten::gelu'])),
    ('silu', 'x', 'torch.nn.functional.silu(x)', (t(2, 3),), (True, [], ['aten::silu'])),
    ('clamp', 'x', 'torch.clamp(x, -0.5, 0.5)', (t(2, 3),), (True, [], ['aten::clamp'])),
    ('where', 'x, y', 'torch.where(x > 0, x, y * y)', (t(2, 3), t(3)), (True, [], ['aten::where', 'aten::gt'])),
    ('erf', 'x', 'torch.erf(x)', (t(2, 3),), (True, [], ['aten::erf'])),
    ('expm1', 'x', 'torch.expm1(x)', (t(2, 3),), (True, [], ['aten::expm1'])),
    ('log1p', 'x', 'torch.log1p(x)', (p(2, 3),), (True, [], ['aten::log1p'])),
    ('atan', 'x', 'torch.atan(x)', (t(2, 3),), (True, [], ['aten::atan'])),
    ('min', 'x, y', 'torch.min(x, y)', (t(2, 3), t(3)), (True, [], ['aten::min'])),
    # products, reductions, joins, normalisation
    ('mm', 'x, y', 'torch.mm(x, y)', (t(2, 3), t(3, 4)), (True,)),
    ('matmul', 'x, y', 'torch.matmul(x, y)', (t(5, 2, 3), t(3, 4)), (True,)),
    ('matmul', 'x, y', 'torch.matmul(x, y)', (t(3), t(2, 3, 4)), (True,)),
    ('addmm', 'x, y, z', 'torch.addmm(x, y, z, beta=2, alpha=3)', (t(4), t(2, 3), t(3, 4)), (True,)),
    ('bmm', 'x, y', 'torch.bmm(x, y)', (t(2, 2, 3), t(2, 3, 2)), (True,)),
    ('linear', 'x, w, b', 'torch.nn.functional.linear(x, w, b)', (t(2, 3), t(4, 3), t(4)), (True,)),
    ('sum', 'x', 'torch.sum(x * x, [1])', (t(2, 3),), (True,)),
    ('mean', 'x', 'torch.mean(x * x)', (t(2, 3),), (True,)),
    ('logsumexp', 'x', 'torch.logsumexp(x, [1])', (t(2, 3),), (True,)),
    ('softmax', 'x', 'torch.softmax(x, 1)', (t(2, 3),), (True,)),
    ('log_softmax', 'x', 'torch.log_softmax(x, 1)', (t(2, 3),), (True,)),
    ('cat', 'x, y', 'torch.cat([x * x, y], 1)', (t(2, 3), t(2, 1)), (True,)),
    ('stack', 'x, y', 'torch.stack([x, y * y], 1)', (t(2, 3), t(2, 3)), (True,)),
    ('layer_norm', 'x, w, b', 'torch.layer_norm(x, [5], w, b)', (t(2, 5), t(5), t(5)), (True,)),
    ('batch_norm', 'x, w, b', 'torch.batch_norm(x, w, b, None, None, True, 0.1, 1e-5, False)', (t(4, 3), t(3), t(3)), (True,)),
    ('embedding', 'w, x', 'torch.embedding(w, x)', (t(4, 3), i(1, 3, 1)), (True,)),
    ('max_pool2d', 'x', 'torch.max_pool2d(x, [2, 2])', (t(1, 2, 4, 4),), (True, 'aten::max_pool2d_with_indices')),
    ('adaptive_avg_pool2d', 'x', 'torch.nn.functional.adaptive_avg_pool2d(x, 2)', (t(1, 2, 4, 4),), (True,)),
    ('mse_loss', 'x, y', '(x - y).pow(2).mean()', (t(2, 3), t(2, 3)), (True, ['aten::mean'], ['aten::sub', 'aten::pow'])),
    # views inside
    ('t', 'x, y', 'torch.mm(x.t(), y) * 2.', (t(3, 2), t(3, 4)), (True, ['aten::mm'])),
    ('view', 'x, y', 'x.view([3, 2]) * y', (t(2, 3), t(2)), (True, [], ['aten::mul'])),
    ('transpose', 'x, y', 'x.transpose(0, 1) * y', (t(2, 3), t(2)), (True, [], ['aten::mul'])),
    ('expand', 'x, y', 'x.expand([2, 3]) * y', (t(1, 3), t(2, 3)), (True, [], ['aten::mul'])),
    ('select', 'x', '(x[1] * x[0]).tanh()', (t(2, 3),), (True, [], ['aten::mul', 'aten::tanh'])),
    ('chunk', 'x', 'halves(x * 2.)', (t(2, 4),), (True, [], ['aten::mul'])),
    ('split', 'x', 'parts(x * 2.)', (t(2, 4),), (True, [], ['aten::mul'])),
    # several results, unused ones, values used twice
    ('twice', 'x, y', '(x * y, (x * y).tanh() + x)', (t(2, 3), t(3)), (True, [], ['aten::mul', 'aten::tanh'])),
    ('square', 'x', 'x * x * x', (t(2, 3),), (True, [], ['aten::mul'])),
    ('unused', 'x, y', 'torch.tanh(x) * 2.', (t(2, 3), t(2, 3)), (True, [], ['aten::tanh'])),
    # numbers of other dtypes
    ('mixed', 'x, y', 'x * y.to(torch.float32) + x', (t(2, 3), t(3)), (True, [], ['aten::mul', 'aten::add'])),
    # nothing to differentiate here
    ('argmax', 'x', 'torch.argmax(x, 1) * 2', (t(2, 3),), (False, ['aten::argmax'])),
]

# More first and second derivatives; where the nodes go is not asked.
N = None
CASES += [
    ('prod', 'x', 'torch.prod(x, 1)', (p(2, 3),), N),
    ('cumsum', 'x', 'torch.cumsum(x * x, 1)', (t(2, 3),), N),
    ('cumprod', 'x', 'torch.cumprod(x, 1)', (p(2, 3),), N),
    ('var', 'x', 'torch.var(x, [1])', (t(2, 3),), N),
    ('std', 'x', 'torch.std(x, [1])', (t(2, 3),), N),
    ('norm', 'x', 'torch.norm(x)', (t(2, 3),), N),
    ('norm_3', 'x', 'torch.norm(x, 3., [1])', (p(2, 3),), N),
    ('vector_norm', 'x', 'torch.linalg.vector_norm(x, 2.5)', (p(2, 3),), N),
    ('amax', 'x', 'torch.amax(x * x, [1])', (p(2, 3),), N),
    ('max_dim', 'x', 'torch.max(x * x, 1)[0]', (p(2, 3),), N),
    ('sort', 'x', 'torch.sort(x * x, 1)[0]', (p(2, 3),), N),
    ('topk', 'x', 'torch.topk(x * x, 2, 1)[0]', (p(2, 3),), N),
    ('median', 'x', 'torch.median(x * x)', (p(5),), N),
    ('gather', 'x, i', '(x * x).gather(1, i)', (t(2, 3), i([0, 1], [2, 2])), N),
    ('index_select', 'x, i', 'torch.index_select(x * x, 1, i)', (t(2, 3), i(2, 0, 2)), N),
    ('index', 'x, i', '(x * x)[i]', (t(3, 2), i(2, 0, 2)), N),
    ('index_put', 'x, y, i', 'torch.index_put(x * x, [i], y * y, True)', (t(3, 2), t(2, 2), i(1, 1)), N),
    ('index_add', 'x, y, i', 'torch.index_add(x * x, 0, i, y * y)', (t(3, 2), t(2, 2), i(1, 1)), N),
    ('scatter', 'x, y, i', 'torch.scatter(x * x, 1, i, y * y)', (t(2, 3), t(2, 2), i([0, 1], [2, 0])), N),
    ('scatter_add', 'x, y, i', 'torch.scatter_add(x * x, 1, i, y * y)', (t(2, 3), t(2, 2), i([0, 0], [2, 0])), N),
    ('masked_fill', 'x', '(x * x).masked_fill(x > 0, 2.)', (t(2, 3),), N),
    ('masked_select', 'x', 'torch.masked_select(x * x, x > 0)', (t(2, 3),), N),
    ('flip', 'x', 'torch.flip(x * x, [1])', (t(2, 3),), N),
    ('roll', 'x', 'torch.roll(x * x, [1], [1])', (t(2, 3),), N),
    ('pad', 'x', 'torch.nn.functional.pad(x * x, [1, 2])', (t(2, 3),), N),
    ('reflection_pad1d', 'x', 'torch._C._nn.reflection_pad1d(x * x, [1, 2])', (t(1, 2, 4),), N),
    ('replication_pad1d', 'x', 'torch._C._nn.replication_pad1d(x * x, [1, 2])', (t(1, 2, 4),), N),
    ('repeat', 'x', '(x * x).repeat([2, 2])', (t(2, 3),), N),
    ('repeat_interleave', 'x', 'torch.repeat_interleave(x * x, 2, 1)', (t(2, 3),), N),
    ('tril', 'x', 'torch.tril(x * x)', (t(3, 3),), N),
    ('diagonal', 'x', 'torch.diagonal(x * x)', (t(3, 3),), N),
    ('diag_embed', 'x', 'torch.diag_embed(x * x)', (t(2, 3),), N),
    ('trace', 'x', 'torch.trace(x * x)', (t(3, 3),), N),
    ('einsum', 'x, y', "torch.einsum('bij,jk->bik', [x, y])", (t(2, 2, 3), t(3, 2)), N),
    ('baddbmm', 'x, y, z', 'torch.baddbmm(x, y, z, beta=2, alpha=3)', (t(2, 2, 2), t(2, 2, 3), t(2, 3, 2)), N),
    ('outer', 'x, y', 'torch.outer(x, y)', (t(2), t(3)), N),
    ('kron', 'x, y', 'torch.kron(x, y)', (t(2, 2), t(2, 1)), N),
    ('cross', 'x, y', 'torch.cross(x, y, 1)', (t(2, 3), t(2, 3)), N),
    ('dot', 'x, y', 'torch.dot(x, y)', (t(3), t(3)), N),
    ('mv', 'x, y', 'torch.mv(x, y)', (t(2, 3), t(3)), N),
    ('conv2d', 'x, w, b', 'torch.conv2d(x, w, b, [1, 1], [1, 1])', (t(1, 2, 4, 4), t(2, 2, 3, 3), t(2)), N),
    ('conv_transpose2d', 'x, w, b', 'torch.conv_transpose2d(x, w, b, [2, 2])', (t(1, 2, 2, 2), t(2, 1, 2, 2), t(1)), N),
    ('group_norm', 'x, w, b', 'torch.group_norm(x, 2, w, b)', (t(2, 4, 3), t(4), t(4)), N),
    ('instance_norm', 'x, w, b', 'torch.instance_norm(x, w, b, None, None, True, 0.1, 1e-5, False)', (t(2, 2, 4), t(2), t(2)), N),
    ('batch_norm_eval', 'x, w, b, m, v', 'torch.batch_norm(x, w, b, m, v, False, 0.1, 1e-5, False)',
     (t(4, 3), t(3), t(3), t(3).detach(), p(3).detach()), N),
    ('elu', 'x', 'torch.nn.functional.elu(x)', (t(2, 3),), N),
    ('selu', 'x', 'torch.selu(x)', (t(2, 3),), N),
    ('celu', 'x', 'torch.celu(x, 0.7)', (t(2, 3),), N),
    ('softplus', 'x', 'torch.nn.functional.softplus(x, 2., 20.)', (t(2, 3),), N),
    ('softsign', 'x', 'torch.nn.functional.softsign(x)', (p(2, 3),), N),
    ('hardswish', 'x', 'torch.nn.functional.hardswish(x)', (t(2, 3),), N),
    ('mish', 'x', 'torch.nn.functional.mish(x)', (t(2, 3),), N),
    ('logsigmoid', 'x', 'torch.nn.functional.logsigmoid(x)', (t(2, 3),), N),
    ('prelu', 'x, w', 'torch.prelu(x, w)', (t(2, 3), t(1)), N),
    ('glu', 'x', 'torch.nn.functional.glu(x, 1)', (t(2, 4),), N),
    ('gelu_tanh', 'x', "torch.nn.functional.gelu(x, approximate='tanh')", (t(2, 3),), N),
    ('atan2', 'x, y', 'torch.atan2(x, y)', (t(2, 3), p(3)), N),
    ('hypot', 'x, y', 'torch.hypot(x, y)', (p(2, 3), p(3)), N),
    ('lerp', 'x, y, w', 'torch.lerp(x, y, w)', (t(2, 3), t(2, 3), t(2, 3)), N),
    ('addcmul', 'x, y, z', 'torch.addcmul(x, y, z, value=2)', (t(2, 3), t(3), t(2, 1)), N),
    ('addcdiv', 'x, y, z', 'torch.addcdiv(x, y, z, value=2)', (t(2, 3), t(3), p(2, 1)), N),
    ('logaddexp', 'x, y', 'torch.logaddexp(x, y)', (t(2, 3), t(3)), N),
    ('xlogy', 'x, y', 'torch.xlogy(x, y)', (p(2, 3), p(3)), N),
    ('tan', 'x', 'torch.tan(x)', (t(2, 3),), N),
    ('asin', 'x', 'torch.asin(x * 0.9)', (t(2, 3),), N),
    ('acos', 'x', 'torch.acos(x * 0.9)', (t(2, 3),), N),
    ('sinh', 'x', 'torch.sinh(x)', (t(2, 3),), N),
    ('cosh', 'x', 'torch.cosh(x)', (t(2, 3),), N),
    ('asinh', 'x', 'torch.asinh(x)', (t(2, 3),), N),
    ('acosh', 'x', 'torch.acosh(x + 1.)', (p(2, 3),), N),
    ('atanh', 'x', 'torch.atanh(x * 0.8)', (t(2, 3),), N),
    ('log2', 'x', 'torch.log2(x)', (p(2, 3),), N),
    ('log10', 'x', 'torch.log10(x)', (p(2, 3),), N),
    ('exp2', 'x', 'torch.exp2(x)', (t(2, 3),), N),
    ('erfc', 'x', 'torch.erfc(x)', (t(2, 3),), N),
    ('erfinv', 'x', 'torch.erfinv(x * 0.8)', (t(2, 3),), N),
    ('lgamma', 'x', 'torch.lgamma(x)', (p(2, 3),), N),
    ('digamma', 'x', 'torch.digamma(x)', (p(2, 3),), N),
    ('sinc', 'x', 'torch.sinc(x)', (p(2, 3),), N),
    ('logit', 'x', 'torch.logit(x)', (t(2, 3, low=0.2, high=0.8),), N),
    ('i0', 'x', 'torch.i0(x)', (p(2, 3),), N),
    ('kl_div', 'x, y', 'torch.kl_div(x, y, 1)', (t(2, 3), p(2, 3)), N),
    ('binary_cross_entropy', 'x, y', 'torch.nn.functional.binary_cross_entropy(x, y)',
     (t(2, 3, low=0.2, high=0.8), t(2, 3, low=0.2, high=0.8).detach()), N),
    ('binary_cross_entropy_with_logits', 'x, y', 'torch.nn.functional.binary_cross_entropy_with_logits(x, y)',
     (t(2, 3), t(2, 3, low=0.2, high=0.8).detach()), N),
    ('cross_entropy', 'x, y', 'torch.nn.functional.cross_entropy(x, y, label_smoothing=0.1)', (t(3, 4), i(0, 3, 1)), N),
    ('l1_loss', 'x, y', 'torch.nn.functional.l1_loss(x, y)', (t(2, 3), t(2, 3)), N),
    ('smooth_l1_loss', 'x, y', 'torch.nn.functional.smooth_l1_loss(x, y)', (t(2, 3), t(2, 3)), N),
    ('huber_loss', 'x, y', 'torch.nn.functional.huber_loss(x, y)', (t(2, 3), t(2, 3)), N),
    ('soft_margin_loss', 'x, y', 'torch._C._nn.soft_margin_loss(x, y.sign(), 1)', (t(2, 3), t(2, 3).detach()), N),
    ('cosine_similarity', 'x, y', 'torch.cosine_similarity(x, y, 1)', (t(2, 3), t(2, 3)), N),
    ('pairwise_distance', 'x, y', 'torch.pairwise_distance(x, y)', (t(2, 3), t(2, 3)), N),
    ('cdist', 'x, y', 'torch.cdist(x, y)', (t(2, 3), t(3, 3)), N),
    ('dist', 'x, y', 'torch.dist(x, y)', (t(2, 3), t(2, 3)), N),
    ('renorm', 'x', 'torch.renorm(x, 2, 0, 0.5)', (p(2, 3),), N),
    ('inverse', 'x', 'torch.inverse(x + 3. * torch.eye(3))', (t(3, 3),), N),
    ('det', 'x', 'torch.det(x + 3. * torch.eye(3))', (t(3, 3),), N),
    ('logdet', 'x', 'torch.logdet(x + 3. * torch.eye(3))', (t(3, 3),), N),
    ('solve', 'x, y', 'torch.linalg.solve(x + 3. * torch.eye(3), y)', (t(3, 3), t(3, 2)), N),
    ('cholesky', 'x', 'torch.linalg.cholesky(x.mm(x.t()) + 3. * torch.eye(3))', (t(3, 3),), N),
    ('svdvals', 'x', 'torch.linalg.svdvals(x)', (t(2, 3),), N),
    ('matrix_power', 'x', 'torch.matrix_power(x, 3)', (t(3, 3),), N),
    ('triangular_solve', 'x, y', 'torch.linalg.solve_triangular(x + 3. * torch.eye(3), y, upper=True)', (t(3, 3), t(3, 2)), N),
    ('max_pool1d', 'x', 'torch.max_pool1d(x * x, [2])', (p(1, 2, 4),), N),
    ('avg_pool1d', 'x', 'torch.avg_pool1d(x * x, [2])', (t(1, 2, 4),), N),
    ('adaptive_max_pool2d', 'x', 'torch._C._nn.adaptive_max_pool2d(x * x, [2, 2])[0]', (p(1, 1, 4, 4),), N),
    ('upsample_nearest2d', 'x', 'torch.nn.functional.interpolate(x * x, scale_factor=2.)', (t(1, 1, 2, 2),), N),
    ('upsample_bilinear2d', 'x', "torch.nn.functional.interpolate(x * x, scale_factor=2., mode='bilinear', align_corners=True)",
     (t(1, 1, 2, 2),), N),
    ('pixel_shuffle', 'x', 'torch.pixel_shuffle(x * x, 2)', (t(1, 4, 2, 2),), N),
    ('unfold', 'x', '(x * x).unfold(1, 2, 1)', (t(2, 3),), N),
    ('im2col', 'x', 'torch.nn.functional.unfold(x * x, [2, 2])', (t(1, 1, 3, 3),), N),
    ('narrow', 'x', 'torch.narrow(x * x, 1, 1, 2)', (t(2, 3),), N),
    ('slice', 'x', '(x * x)[:, 1:3:2]', (t(2, 4),), N),
    ('unbind', 'x', 'torch.unbind(x * x)[1]', (t(2, 3),), N),
    ('movedim', 'x', 'torch.movedim(x * x, 0, 1)', (t(2, 3),), N),
    ('squeeze', 'x', 'torch.squeeze(x * x)', (t(2, 1, 3),), N),
    ('take', 'x, i', 'torch.take(x * x, i)', (t(2, 3), i(1, 4, 1)), N),
    ('bilinear', 'x, y, w', 'torch.bilinear(x, y, w, None)', (t(2, 2), t(2, 3), t(2, 2, 3)), N),
    ('normalize', 'x', 'torch.nn.functional.normalize(x)', (t(2, 3),), N),
    ('local_response_norm', 'x', 'torch.nn.functional.local_response_norm(x, 2)', (t(1, 3, 4),), N),
]

HELPERS = '''
def halves(x):
    a, b = torch.chunk(x, 2, 1)
    return a.tanh() * b

def parts(x):
    a, b = torch.split(x, [1, 3], 1)
    return a * b.sigmoid()
'''


def names(given):
    return [given] if isinstance(given, str) else list(given)


def record(case):
    name, parameters, body, arguments, check = case
    text = 'def f(%s):\n    return %s\n' % (parameters, body) + HELPERS
    asked = check is not None
    check = check or ()
    should = bool(check and check[0])
    nonfusible = names(check[1]) if len(check) > 1 else ['aten::' + name]
    fusible = names(check[2]) if len(check) > 2 else []
    if not asked:
        nonfusible, fusible = [], []
    return record_text(name, text, arguments, should, nonfusible, fusible)


def record_text(name, text, arguments, should=False, nonfusible=(), fusible=()):
    """What the tests read of the function f of a text, called with these arguments."""
    scope = {'torch': torch, 'List': List, 'Dict': Dict, 'Optional': Optional, 'Tuple': Tuple}
    exec(text, scope)
    torch.manual_seed(11)
    leaves = [a.detach().clone().requires_grad_(a.requires_grad) for a in arguments]
    outputs = scope['f'](*leaves)
    outputs = list(outputs) if isinstance(outputs, tuple) else [outputs]
    seeds = [torch.rand(o.shape, dtype=o.dtype) for o in outputs if o.requires_grad]
    wanted = [a for a in leaves if a.requires_grad]
    grads = torch.autograd.grad([o for o in outputs if o.requires_grad], wanted, seeds, allow_unused=True) if seeds else []
    return {
        'name': name,
        'text': text,
        'arguments': [a.detach() for a in arguments],
        'requires_grad': [bool(a.requires_grad) for a in arguments],
        'should_autodiff_node': should,
        'nonfusible_nodes': list(nonfusible),
        'fusible_nodes': list(fusible),
        'random': name == 'dropout',
        'outputs': [o.detach() for o in outputs],
        'seeds': seeds,
        'grads': [torch.zeros(0) if g is None else g for g in grads],
    }


if __name__ == '__main__':
    torch.save([record(case) for case in CASES], sys.argv[1] if len(sys.argv) > 1 else 'tests/data/check_ad.pt')
