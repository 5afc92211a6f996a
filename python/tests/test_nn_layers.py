"""Every layer: text, parameters drawn for a seed, result and gradient, against what PyTorch 1.13 gives.

A row's numbers are the mean of its result times a pattern and that of the gradient of the first argument. With the
argument --record and PyTorch installed this file prints the rows' numbers anew.
"""
import sys
import unittest
import warnings

RECORD = '--record' in sys.argv
if RECORD:
    import torch as wick
else:
    import wick
nn = wick.nn


def pattern(*shape, step=7, dtype=None):
    """Numbers from -1.1 to 1.1, the same on every machine."""
    count = 1
    for size in shape:
        count *= size
    values = (wick.arange(count) * step % 23 - 11).to(dtype or wick.float32) / 10
    return values.reshape(shape)


def classes(*shape, count):
    """Whole numbers from 0 to count - 1."""
    total = 1
    for size in shape:
        total *= size
    return (wick.arange(total) * 5 % count).reshape(shape)


# (layer as text, arguments as text); then the recorded result and gradient
CASES = {
    'Linear(3, 4)': 'X(2, 3)',
    'Linear(3, 4, bias=False)': 'X(2, 5, 3)',
    'Bilinear(2, 3, 4)': 'X(5, 2), X(5, 3)',
    'Conv1d(4, 6, 3, stride=2, padding=1)': 'X(2, 4, 9)',
    "Conv1d(4, 6, 3, padding=2, padding_mode='circular')": 'X(2, 4, 9)',
    "Conv2d(4, 6, 3, padding='same', dilation=2, groups=2)": 'X(2, 4, 9, 8)',
    "Conv2d(4, 6, (3, 2), padding=(1, 0), padding_mode='reflect', bias=False)": 'X(2, 4, 9, 8)',
    'Conv2d(4, 6, 3)': 'X(4, 9, 8)',
    'Conv3d(2, 3, 3, padding=1)': 'X(2, 2, 4, 5, 6)',
    'ConvTranspose1d(4, 6, 3, stride=2)': 'X(2, 4, 9)',
    'ConvTranspose2d(4, 6, 3, stride=2, padding=1, output_padding=1, groups=2)': 'X(2, 4, 5, 6)',
    'ConvTranspose2d(4, 6, 3, stride=2) ': 'X(2, 4, 5, 6), [12, 14]',
    'ConvTranspose3d(2, 3, 2, stride=2, dilation=2)': 'X(1, 2, 3, 4, 3)',
    'MaxPool1d(3)': 'X(2, 3, 9)',
    'MaxPool2d(3, 2, 1)': 'X(2, 3, 9, 9)',
    'MaxPool2d(2, return_indices=True)': 'X(2, 3, 9, 9)',
    'MaxPool3d((2, 2, 1), ceil_mode=True)': 'X(2, 3, 5, 5, 5)',
    'AvgPool1d(3, stride=2, padding=1)': 'X(2, 3, 9)',
    'AvgPool2d(3, 2, 1, count_include_pad=False)': 'X(2, 3, 9, 9)',
    'AvgPool3d(2, divisor_override=3)': 'X(2, 3, 5, 5, 5)',
    'LPPool1d(2, 3)': 'X(2, 3, 9)',
    'AdaptiveAvgPool1d(4)': 'X(2, 3, 9)',
    'AdaptiveAvgPool2d((None, 4))': 'X(2, 3, 9, 9)',
    'AdaptiveAvgPool3d(2)': 'X(2, 3, 5, 5, 5)',
    'AdaptiveMaxPool2d((None, 4))': 'X(2, 3, 9, 9)',
    'BatchNorm1d(3)': 'X(4, 3)',
    'BatchNorm2d(3, affine=False)': 'X(4, 3, 5, 5)',
    'BatchNorm3d(3, track_running_stats=False)': 'X(4, 3, 5, 5, 2)',
    'InstanceNorm1d(3)': 'X(2, 3, 7)',
    'InstanceNorm2d(3, affine=True, track_running_stats=True)': 'X(2, 3, 7, 7)',
    'LayerNorm(4)': 'X(2, 3, 4)',
    'LayerNorm((3, 4), elementwise_affine=False)': 'X(2, 3, 4)',
    'GroupNorm(2, 4)': 'X(2, 4, 5)',
    'LocalResponseNorm(3)': 'X(2, 5, 4, 4)',
    'Threshold(0.1, 20)': 'X(7)',
    'Hardtanh(-2, 1)': 'X(7)',
    'ELU(1.3)': 'X(7)',
    'CELU(1.3)': 'X(7)',
    'SELU()': 'X(7)',
    'LeakyReLU(0.2)': 'X(7)',
    'ReLU()': 'X(7)',
    'ReLU6(inplace=True)': 'X(7) * 9',
    'SiLU()': 'X(7)',
    'Mish()': 'X(7)',
    'Hardswish()': 'X(7) * 4',
    'Hardsigmoid()': 'X(7) * 4',
    'Sigmoid()': 'X(7)',
    'Tanh()': 'X(7)',
    'LogSigmoid()': 'X(7)',
    'Softsign()': 'X(7)',
    'Tanhshrink()': 'X(7)',
    'Softplus(2, 3)': 'X(7) * 3',
    'Hardshrink()': 'X(7)',
    'Softshrink(0.3)': 'X(7)',
    "GELU('tanh')": 'X(7)',
    'GELU()': 'X(7)',
    'GLU()': 'X(2, 4)',
    'PReLU(3)': 'X(2, 3)',
    'Softmax(1)': 'X(2, 3)',
    'Softmin(0)': 'X(2, 3)',
    'LogSoftmax(-1)': 'X(2, 3)',
    'Softmax2d()': 'X(2, 3, 2, 2)',
    'Embedding(10, 3)': 'N(2, 4, count=10)',
    'Embedding(10, 3, padding_idx=-2, max_norm=1.0)': 'N(2, 4, count=10)',
    'EmbeddingBag(10, 3)': 'N(2, 4, count=10)',
    "EmbeddingBag(10, 3, mode='sum')": 'N(8, count=10), wick.tensor([0, 3, 5])',
    'RNN(3, 4)': 'X(5, 2, 3)',
    "RNN(3, 4, nonlinearity='relu', num_layers=2, bidirectional=True, batch_first=True)": 'X(2, 5, 3)',
    'GRU(3, 4, 2, bias=False)': 'X(5, 2, 3), X(2, 2, 4)',
    'LSTM(3, 4)': 'X(5, 3), (X(1, 4), X(1, 4, step=5))',
    'LSTM(3, 4, 2, batch_first=True, bidirectional=True, proj_size=2)': 'X(2, 5, 3)',
    'RNNCell(3, 4)': 'X(2, 3)',
    'LSTMCell(3, 4)': 'X(2, 3)',
    'GRUCell(3, 4)': 'X(2, 3), X(2, 4)',
    'MultiheadAttention(6, 2)': 'X(4, 3, 6), X(5, 3, 6), X(5, 3, 6)',
    'MultiheadAttention(6, 2, kdim=3, vdim=5, batch_first=True, add_bias_kv=True, add_zero_attn=True)':
        'X(2, 4, 6), X(2, 5, 3), X(2, 5, 5)',
    "TransformerEncoderLayer(6, 2, 8, 0.0, activation='gelu', norm_first=True)": 'X(4, 2, 6), X(4, 4)',
    'TransformerDecoderLayer(6, 2, 8, 0.0)': 'X(4, 2, 6), X(3, 2, 6, step=5)',
    'Transformer(6, 2, 1, 1, 8, 0.0)': 'X(4, 2, 6), X(3, 2, 6, step=5)',
    'ConstantPad1d(2, 1.5)': 'X(2, 3, 4)',
    'ConstantPad3d(1, 1.5)': 'X(2, 3, 4, 4, 4)',
    'ZeroPad2d((1, 2, 0, 1))': 'X(2, 3, 4, 4)',
    'ReflectionPad2d((1, 2, 0, 1))': 'X(2, 3, 4, 4)',
    'ReplicationPad3d(1)': 'X(2, 3, 4, 4, 4)',
    'Upsample(scale_factor=2)': 'X(2, 3, 4, 4)',
    "Upsample(size=(5, 7), mode='bilinear')": 'X(2, 3, 4, 4)',
    "Upsample(scale_factor=(1.5, 2.0), mode='bicubic', align_corners=True)": 'X(2, 3, 4, 4)',
    "Upsample(scale_factor=0.5, mode='area')": 'X(2, 3, 4, 4)',
    'UpsamplingBilinear2d(size=6)': 'X(2, 3, 4, 4)',
    'PixelShuffle(2)': 'X(2, 8, 3, 3)',
    'PixelUnshuffle(2)': 'X(2, 2, 4, 4)',
    'Fold((4, 5), (2, 2))': 'X(2, 12, 12)',
    'Unfold((2, 3), padding=1, stride=2)': 'X(2, 3, 5, 6)',
    'Flatten()': 'X(2, 3, 4)',
    'Unflatten(1, (2, 3))': 'X(2, 6, 4)',
    'CosineSimilarity()': 'X(2, 3), X(2, 3, step=5)',
    'PairwiseDistance(1.0, keepdim=True)': 'X(2, 3), X(2, 3, step=5)',
    'L1Loss()': 'X(3, 4), X(3, 4, step=5)',
    "MSELoss(reduction='sum')": 'X(3, 4), X(3, 4, step=5)',
    "SmoothL1Loss(beta=0.5, reduction='none')": 'X(3, 4), X(3, 4, step=5)',
    'HuberLoss(delta=0.3)': 'X(3, 4), X(3, 4, step=5)',
    'NLLLoss(ignore_index=1)': 'X(3, 4, 2), N(3, 2, count=4)',
    'CrossEntropyLoss(label_smoothing=0.1)': 'X(3, 4), N(3, count=4)',
    'BCELoss()': 'X(3, 4).sigmoid(), X(3, 4, step=5).sigmoid()',
    'BCEWithLogitsLoss()': 'X(3, 4), X(3, 4, step=5).sigmoid()',
    "KLDivLoss(reduction='batchmean')": 'X(3, 4), X(3, 4, step=5).sigmoid()',
    'PoissonNLLLoss(full=True)': 'X(3, 4), X(3, 4, step=5).exp()',
    'GaussianNLLLoss(full=True)': 'X(3, 4), X(3, 4, step=5), X(3, 1).exp()',
    'SoftMarginLoss()': 'X(3, 4), N(3, 4, count=2) * 2 - 1',
    'HingeEmbeddingLoss()': 'X(3, 4), N(3, 4, count=2) * 2 - 1',
    'MarginRankingLoss(0.3)': 'X(3), X(3, step=5), N(3, count=2) * 2 - 1',
    'CosineEmbeddingLoss(0.1)': 'X(3, 4), X(3, 4, step=5), N(3, count=2) * 2 - 1',
    'TripletMarginLoss(swap=True)': 'X(3, 4), X(3, 4, step=5), X(3, 4, step=9)',
    'TripletMarginWithDistanceLoss()': 'X(3, 4), X(3, 4, step=5), X(3, 4, step=9)',
    'MultiMarginLoss(p=2)': 'X(3, 4), N(3, count=4)',
    'MultiLabelMarginLoss()': 'X(2, 4), wick.tensor([[1, 2, -1, 0], [3, -1, 0, 0]])',
    'MultiLabelSoftMarginLoss()': 'X(3, 4), N(3, 4, count=2)',
    'CTCLoss()': 'X(6, 2, 5).log_softmax(2), N(2, 3, count=4) + 1, wick.tensor([6, 5]), wick.tensor([3, 2])',
}

RECORDED = {
    'Linear(3, 4)': (-0.0279056, 0.0508441),
    'Linear(3, 4, bias=False)': (0.0421182, 0.0115786),
    'Bilinear(2, 3, 4)': (0.122518, 0.0172049),
    'Conv1d(4, 6, 3, stride=2, padding=1)': (-0.0145156, 0.00564512),
    "Conv1d(4, 6, 3, padding=2, padding_mode='circular')": (-0.014569, 0.00357804),
    "Conv2d(4, 6, 3, padding='same', dilation=2, groups=2)": (0.00221481, 0.000370871),
    "Conv2d(4, 6, (3, 2), padding=(1, 0), padding_mode='reflect', bias=False)": (0.00214381, 0.000537239),
    'Conv2d(4, 6, 3)': (-0.00663416, 0.000988376),
    'Conv3d(2, 3, 3, padding=1)': (-0.00149023, 0.000379718),
    'ConvTranspose1d(4, 6, 3, stride=2)': (0.00442622, 0.00108911),
    'ConvTranspose2d(4, 6, 3, stride=2, padding=1, output_padding=1, groups=2)': (0.000338814, 0.000197701),
    'ConvTranspose2d(4, 6, 3, stride=2) ': (0.00106734, 0.000109385),
    'ConvTranspose3d(2, 3, 2, stride=2, dilation=2)': (0.00073818, 0.000251892),
    'MaxPool1d(3)': (-0.0905556, 0.0114198),
    'MaxPool2d(3, 2, 1)': (-0.0193333, 0.000844993),
    'MaxPool2d(2, return_indices=True)': (-0.0782292, 0.00118741),
    'MaxPool3d((2, 2, 1), ceil_mode=True)': (-0.000296297, 0.000768889),
    'AvgPool1d(3, stride=2, padding=1)': (0.0264444, 0.00779836),
    'AvgPool2d(3, 2, 1, count_include_pad=False)': (-0.00267407, 0.000742341),
    'AvgPool3d(2, divisor_override=3)': (0.0679167, 0.0020963),
    'LPPool1d(2, 3)': (-0.0789119, 0.0171772),
    'AdaptiveAvgPool1d(4)': (0.01625, 0.010571),
    'AdaptiveAvgPool2d((None, 4))': (-0.00614198, 0.00105992),
    'AdaptiveAvgPool3d(2)': (-0.00199846, 0.000538169),
    'AdaptiveMaxPool2d((None, 4))': (-0.0102778, 0.00114121),
    'BatchNorm1d(3)': (0.0861727, 0.141636),
    'BatchNorm2d(3, affine=False)': (0.0805923, 0.0028732),
    'BatchNorm3d(3, track_running_stats=False)': (0.0787641, 0.00143976),
    'InstanceNorm1d(3)': (0.0678554, 0.0205659),
    'InstanceNorm2d(3, affine=True, track_running_stats=True)': (0.0756435, 0.0029345),
    'LayerNorm(4)': (0.113321, 0.0167985),
    'LayerNorm((3, 4), elementwise_affine=False)': (0.120929, 0.0339329),
    'GroupNorm(2, 4)': (0.0651487, 0.0216345),
    'LocalResponseNorm(3)': (0.0474975, 0.00357403),
    'Threshold(0.1, 20)': (-3.97, 0.0285714),
    'Hardtanh(-2, 1)': (0.245714, 0.0734694),
    'ELU(1.3)': (0.212601, 0.0621323),
    'CELU(1.3)': (0.184834, 0.0596554),
    'SELU()': (0.276744, 0.0729445),
    'LeakyReLU(0.2)': (0.0777143, 0.044898),
    'ReLU()': (0.0357143, 0.0367347),
    'ReLU6(inplace=True)': (0.287143, 0.0183673),
    'SiLU()': (0.0834788, 0.0335925),
    'Mish()': (0.0964134, 0.0387365),
    'Hardswish()': (0.197905, 0.0338776),
    'Hardsigmoid()': (0.0285714, 0.00612245),
    'Sigmoid()': (-0.0429698, 0.0169843),
    'Tanh()': (0.191074, 0.0506065),
    'LogSigmoid()': (0.282148, 0.0416815),
    'Softsign()': (0.128479, 0.0324315),
    'Tanhshrink()': (0.0546399, 0.0269445),
    'Softplus(2, 3)': (0.109303, 0.0338373),
    'Hardshrink()': (0.215714, 0.0428571),
    'Softshrink(0.3)': (0.162857, 0.0591837),
    "GELU('tanh')": (0.065735, 0.0368899),
    'GELU()': (0.0657092, 0.0369017),
    'GLU()': (0.282452, 0.0640902),
    'PReLU(3)': (0.00958334, 0.0444444),
    'Softmax(1)': (-0.113504, 0.0119677),
    'Softmin(0)': (-0.218685, 0.0296114),
    'LogSoftmax(-1)': (0.461854, 0.0701836),
    'Softmax2d()': (-0.00626124, 0.00629027),
    'Embedding(10, 3)': (-0.012015, 0.00569444),
    'Embedding(10, 3, padding_idx=-2, max_norm=1.0)': (0.00547417, 0.00569444),
    'EmbeddingBag(10, 3)': (0.219617, 0.0116667),
    "EmbeddingBag(10, 3, mode='sum')": (0.113036, 0.027037),
    'RNN(3, 4)': (-0.0205948, 0.00753856),
    "RNN(3, 4, nonlinearity='relu', num_layers=2, bidirectional=True, batch_first=True)": (0.0127672, 0.0016958),
    'GRU(3, 4, 2, bias=False)': (0.0218729, 0.00287114),
    'LSTM(3, 4)': (-0.00543868, 0.00359757),
    'LSTM(3, 4, 2, batch_first=True, bidirectional=True, proj_size=2)': (0.00171754, 0.000285455),
    'RNNCell(3, 4)': (0.0718757, 0.0474329),
    'LSTMCell(3, 4)': (-0.0388567, 0.0147827),
    'GRUCell(3, 4)': (-0.00692181, 0.0221435),
    'MultiheadAttention(6, 2)': (0.00555849, 0.000455029),
    'MultiheadAttention(6, 2, kdim=3, vdim=5, batch_first=True, add_bias_kv=True, add_zero_attn=True)': (0.0010427,
                                                                                                         0.000527243),
    "TransformerEncoderLayer(6, 2, 8, 0.0, activation='gelu', norm_first=True)": (-0.00223598, 0.0127854),
    'TransformerDecoderLayer(6, 2, 8, 0.0)': (0.1118, 0.0193297),
    'Transformer(6, 2, 1, 1, 8, 0.0)': (-0.0633593, 0.00413619),
    'ConstantPad1d(2, 1.5)': (-0.20625, 0.00729167),
    'ConstantPad3d(1, 1.5)': (-0.00753087, 0.000442668),
    'ZeroPad2d((1, 2, 0, 1))': (-0.00947619, 0.00286706),
    'ReflectionPad2d((1, 2, 0, 1))': (-0.0183809, 0.00340278),
    'ReplicationPad3d(1)': (-0.00803241, 0.000754726),
    'Upsample(scale_factor=2)': (0.0290625, 0.00457899),
    "Upsample(size=(5, 7), mode='bilinear')": (-0.00268809, 0.0043254),
    "Upsample(scale_factor=(1.5, 2.0), mode='bicubic', align_corners=True)": (0.0264327, 0.00459923),
    "Upsample(scale_factor=0.5, mode='area')": (-0.0164583, 0.0062066),
    'UpsamplingBilinear2d(size=6)': (-0.0111352, 0.00330517),
    'PixelShuffle(2)': (0.009375, 0.00396894),
    'PixelUnshuffle(2)': (0.0570313, 0.00915527),
    'Fold((4, 5), (2, 2))': (-0.0270833, 0.0047772),
    'Unfold((2, 3), padding=1, stride=2)': (0.00564815, 0.00218793),
    'Flatten()': (0.0983333, 0.0248264),
    'Unflatten(1, (2, 3))': (0.0797917, 0.012283),
    'CosineSimilarity()': (-0.455303, 0.134267),
    'PairwiseDistance(1.0, keepdim=True)': (-1.57, 0.475),
    'L1Loss()': (-0.678333, 0.0840278),
    "MSELoss(reduction='sum')": (-7.59, 1.35667),
    "SmoothL1Loss(beta=0.5, reduction='none')": (0.0746667, 0.0352778),
    'HuberLoss(delta=0.3)': (-0.160417, 0.0229167),
    'NLLLoss(ignore_index=1)': (0.11, 0.0458333),
    'CrossEntropyLoss(label_smoothing=0.1)': (-2.29927, 0.144109),
    'BCELoss()': (-0.778679, 0.0587925),
    'BCEWithLogitsLoss()': (-0.778679, 0.0132736),
    "KLDivLoss(reduction='batchmean')": (1.33874, 0.176672),
    'PoissonNLLLoss(full=True)': (-1.51651, 0.0681342),
    'GaussianNLLLoss(full=True)': (-1.27253, 0.0890137),
    'SoftMarginLoss()': (-0.737143, 0.0425782),
    'HingeEmbeddingLoss()': (-0.724167, 0.0916667),
    'MarginRankingLoss(0.3)': (-0.403333, 0.366667),
    'CosineEmbeddingLoss(0.1)': (-1.12043, 0.0785579),
    'TripletMarginLoss(swap=True)': (-0.548661, 0.108931),
    'TripletMarginWithDistanceLoss()': (-0.422414, 0.0434471),
    'MultiMarginLoss(p=2)': (-3.16342, 0.473611),
    'MultiLabelMarginLoss()': (-1.38875, 0.20625),
    'MultiLabelSoftMarginLoss()': (-0.737143, 0.0425782),
    'CTCLoss()': (-2.29764, 0.0407091),
}


def run(text):
    """The layer, and the mean result and gradient of a row."""
    wick.manual_seed(3)
    names = {'X': pattern, 'N': classes, 'wick': wick}
    layer = eval('nn.' + text.strip(), {'nn': nn})
    args = list(eval('(' + CASES[text] + ',)', names))
    leaf = args[0].detach()
    if leaf.is_floating_point():
        leaf.requires_grad_(True)
        args[0] = leaf * 1.0
    out = layer(*args)
    while isinstance(out, (tuple, list)):
        out = out[0]
    weighed = (out * pattern(*out.shape, step=3)).mean()
    if not weighed.requires_grad:
        return layer, (weighed.item(), 0.0)
    weighed.backward()
    # of a gradient the absolute values, so that nothing cancels; of an embedding that of its table
    grad = leaf.grad if leaf.is_floating_point() else layer.weight.grad
    return layer, (weighed.item(), grad.abs().mean().item())


class Layers(unittest.TestCase):
    def test_results_and_gradients(self):
        for text in CASES:
            with self.subTest(text):
                _, found = run(text)
                expected = RECORDED[text]
                for value, wanted in zip(found, expected):
                    self.assertAlmostEqual(value, wanted, delta=2e-5 * max(1.0, abs(wanted)))

    def test_rows_are_recorded(self):
        self.assertEqual(list(CASES), list(RECORDED))

    def test_texts(self):
        for layer, text in (
                (nn.Linear(2, 3), 'Linear(in_features=2, out_features=3, bias=True)'),
                (nn.Conv2d(4, 6, 3, padding='same', groups=2, bias=False),
                 'Conv2d(4, 6, kernel_size=(3, 3), stride=(1, 1), padding=same, groups=2, bias=False)'),
                (nn.ConvTranspose1d(4, 6, 3, output_padding=0),
                 'ConvTranspose1d(4, 6, kernel_size=(3,), stride=(1,))'),
                (nn.MaxPool2d(2), 'MaxPool2d(kernel_size=2, stride=2, padding=0, dilation=1, ceil_mode=False)'),
                (nn.BatchNorm1d(3), 'BatchNorm1d(3, eps=1e-05, momentum=0.1, affine=True, track_running_stats=True)'),
                (nn.Embedding(9, 2, padding_idx=-1), 'Embedding(9, 2, padding_idx=8)'),
                (nn.LSTM(3, 4, 2, dropout=0.5), 'LSTM(3, 4, num_layers=2, dropout=0.5)'),
                (nn.GRUCell(3, 4, bias=False), 'GRUCell(3, 4, bias=False)'),
                (nn.Dropout(0.25), 'Dropout(p=0.25, inplace=False)'),
                (nn.ReLU6(True), 'ReLU6(inplace=True)'), (nn.GELU(), "GELU(approximate='none')"),
                (nn.Upsample(scale_factor=2), 'Upsample(scale_factor=2.0, mode=nearest)'),
                (nn.CrossEntropyLoss(), 'CrossEntropyLoss()')):
            self.assertEqual(repr(layer), text)

    def test_dropout_family(self):
        wick.manual_seed(0)
        x = wick.ones(40, 50)
        for layer in (nn.Dropout(0.4), nn.Dropout1d(0.4), nn.AlphaDropout(0.4)):
            self.assertTrue(wick.equal(layer.eval()(x), x))
        kept = nn.Dropout(0.4)(x)
        self.assertTrue(all(abs(value) < 1e-6 or abs(value - 1 / 0.6) < 1e-6 for value in kept.flatten().tolist()))
        self.assertAlmostEqual((kept == 0).float().mean().item(), 0.4, delta=0.05)
        planes = nn.Dropout2d(0.5)(wick.ones(6, 8, 3, 3)).flatten(2)
        self.assertTrue(wick.equal(planes.amin(2), planes.amax(2)))  # whole planes or nothing
        rows = nn.Dropout1d(0.5)(wick.ones(8, 5))
        self.assertTrue(wick.equal(rows.amin(1), rows.amax(1)))
        with self.assertRaisesRegex(ValueError, 'between 0 and 1'):
            nn.Dropout(1.5)

    def test_running_statistics(self):
        layer = nn.BatchNorm1d(3, momentum=None)
        batches = [pattern(8, 3, step=step) for step in (3, 5, 7)]
        for batch in batches:
            layer(batch)
        self.assertEqual(layer.num_batches_tracked.item(), 3)
        mean = sum(batch.mean(0) for batch in batches) / 3
        self.assertTrue(wick.allclose(layer.running_mean, mean, atol=1e-6))
        layer.eval()
        expected = (batches[0] - mean) / wick.sqrt(layer.running_var + layer.eps)
        self.assertTrue(wick.allclose(layer(batches[0]), expected, atol=1e-5))

    def test_lstm_is_its_cell_step_by_step(self):
        wick.manual_seed(1)
        layer, cell = nn.LSTM(3, 4), nn.LSTMCell(3, 4)
        cell.load_state_dict({name[:-3]: value for name, value in layer.state_dict().items()})
        x = pattern(6, 2, 3)
        state = None
        steps = []
        for step in x:
            state = cell(step, state)
            steps.append(state[0])
        out, (hidden, last) = layer(x)
        self.assertTrue(wick.allclose(out, wick.stack(steps), atol=1e-6))
        self.assertTrue(wick.allclose(hidden[0], state[0], atol=1e-6))
        self.assertTrue(wick.allclose(last[0], state[1], atol=1e-6))

    def test_packed_sequences_are_their_parts(self):
        wick.manual_seed(2)
        rnn = nn.utils.rnn
        lengths = [2, 5, 3]
        for layer in (nn.GRU(3, 4, 2, bidirectional=True), nn.LSTM(3, 4, proj_size=2), nn.RNN(3, 4)):
            parts = [pattern(length, 3, step=length) for length in lengths]
            out, _ = rnn.pad_packed_sequence(layer(rnn.pack_sequence(parts, enforce_sorted=False))[0])
            for i, part in enumerate(parts):
                alone = layer(part.unsqueeze(1))[0].squeeze(1)
                self.assertTrue(wick.allclose(out[:lengths[i], i], alone, atol=1e-6))
                self.assertTrue((out[lengths[i]:, i] == 0).all().item())

    def test_attention_by_its_formula(self):
        wick.manual_seed(4)
        layer = nn.MultiheadAttention(6, 2)
        x = pattern(4, 3, 6)
        out, weights = layer(x, x, x)
        q, k, v = (x @ part.t() for part in layer.in_proj_weight.chunk(3))
        heads = [each.reshape(4, 3, 2, 3).permute(1, 2, 0, 3) for each in (q, k, v)]
        attention = (heads[0] @ heads[1].transpose(-1, -2) / 3 ** 0.5).softmax(-1)
        self.assertTrue(wick.allclose(weights, attention.mean(1), atol=1e-6))
        mixed = (attention @ heads[2]).permute(2, 0, 1, 3).reshape(4, 3, 6)
        self.assertTrue(wick.allclose(out, layer.out_proj(mixed), atol=1e-6))
        causal = nn.Transformer.generate_square_subsequent_mask(4)
        _, weights = layer(x, x, x, attn_mask=causal)
        self.assertTrue(wick.equal(weights.triu(1), wick.zeros_like(weights)))
        padding = wick.tensor([[False, False, True, True]] * 3)
        _, weights = layer(x, x, x, key_padding_mask=padding)
        self.assertEqual(weights[:, :, 2:].abs().max().item(), 0)

    def test_lazy_layers_become_ordinary(self):
        with warnings.catch_warnings():
            warnings.simplefilter('ignore')
            net = nn.Sequential(nn.LazyConv2d(4, 3), nn.LazyBatchNorm2d(), nn.Flatten(), nn.LazyLinear(5))
        with self.assertRaisesRegex(RuntimeError, 'uninitialized'):
            net[0].weight.shape
        self.assertEqual(net(pattern(2, 3, 6, 6)).shape, (2, 5))
        self.assertEqual([type(layer) for layer in net],
                         [nn.Conv2d, nn.BatchNorm2d, nn.Flatten, nn.Linear])
        self.assertEqual(tuple(net[3].weight.shape), (5, 64))
        self.assertIsInstance(net[0].weight, nn.Parameter)

    def test_adaptive_log_softmax_sums_to_one(self):
        layer = nn.AdaptiveLogSoftmaxWithLoss(8, 20, [5, 10], div_value=2.0)
        x = pattern(3, 8)
        log_prob = layer.log_prob(x)
        self.assertTrue(wick.allclose(log_prob.exp().sum(1), wick.ones(3), atol=1e-5))
        target = wick.tensor([1, 7, 19])
        output, loss = layer(x, target)
        self.assertTrue(wick.allclose(output, log_prob.gather(1, target.unsqueeze(1)).squeeze(1), atol=1e-5))
        self.assertAlmostEqual(loss.item(), -output.mean().item(), places=5)

    def test_errors(self):
        for make, kind, text in (
                (lambda: nn.Conv2d(3, 4, 3, groups=2), ValueError, 'in_channels must be divisible by groups'),
                (lambda: nn.Conv2d(2, 4, 3, stride=2, padding='same'), ValueError, 'not supported for strided'),
                (lambda: nn.BatchNorm2d(3)(wick.ones(2, 3)), ValueError, r'expected 4D input \(got 2D input\)'),
                (lambda: nn.BatchNorm1d(3)(wick.ones(1, 3)), ValueError, 'Expected more than 1 value per channel'),
                (lambda: nn.LSTM(3, 4)(wick.ones(5, 2, 2)), RuntimeError, 'Expected 3, got 2'),
                (lambda: nn.GRU(3, 4)(wick.ones(5, 2, 3), wick.ones(1, 3, 4)), RuntimeError, 'Expected hidden size'),
                (lambda: nn.MultiheadAttention(5, 2), AssertionError, 'divisible by num_heads'),
                (lambda: nn.Embedding(3, 2, padding_idx=3), AssertionError, 'Padding_idx')):
            with self.assertRaisesRegex(kind, text):
                make()


if __name__ == '__main__':
    if RECORD:
        warnings.simplefilter('ignore')
        for text in CASES:
            print('    {!r}: ({:.6g}, {:.6g}),'.format(text, *run(text)[1]))
    else:
        unittest.main()
