"""Ordinary uses of packages over PyTorch: each function calls one package and says what came out.

    python programs.py NAME                                with PyTorch
    python -m wick.torch_stand_in programs.py NAME         with wick

prints a line of JSON: shapes and sums of results, seconds of importing torch and of the rest, the largest resident
memory in MiB. compare.py runs all of them side by side.
"""
import json
import resource
import sys
import time
import warnings

warnings.simplefilter("ignore")
begin = time.time()
import numpy as np  # noqa: E402
import torch  # noqa: E402

torch.set_num_threads(1)
seen = []


def say(*values):
    """Keeps the shape and the sum of magnitudes of each tensor or number."""
    for value in values:
        if isinstance(value, dict):
            say(*value.values())
        elif isinstance(value, (list, tuple)):
            say(*value)
        else:
            value = torch.as_tensor(value).detach()
            total = value.abs() if value.is_complex() else value.double().abs()
            seen.append([list(value.shape), float(total.sum())])


def sound(samples, rate=16000):
    """Seven wavering tones that come and go, with noise."""
    t = np.arange(samples) / rate
    tones = sum(np.sin(2 * np.pi * tone * t * (1 + .02 * np.sin(2 * np.pi * 3 * t))) / k
                for k, tone in enumerate([140, 280, 420, 560, 700, 1200, 2400], 1))
    loud = np.sin(2 * np.pi * 1.1 * t) > 0
    noise = np.random.RandomState(0).randn(samples)
    return torch.from_numpy((loud * tones * .2 + .005 * noise).astype(np.float32))


def silero_vad():
    from silero_vad import VADIterator, get_speech_timestamps, load_silero_vad
    net, wave = load_silero_vad(), sound(16000 * 6)
    say([[part["start"], part["end"]] for part in get_speech_timestamps(wave, net)])
    stream = VADIterator(net)
    say([list(found.values()) for found in (stream(wave[i:i + 512]) for i in range(0, len(wave) - 512, 512)) if found])


def torchcrepe():
    import torchcrepe as crepe
    say(crepe.predict(sound(16000)[None], 16000, 160, 50., 550., "tiny", return_periodicity=True, device="cpu",
                      decoder=crepe.decode.argmax))
    say(crepe.predict(sound(8000)[None], 16000, 160, 50., 550., "full", device="cpu",
                      decoder=crepe.decode.weighted_argmax))


def torchani():
    import torchani as ani

    def net():
        return torch.nn.Sequential(torch.nn.Linear(computer.aev_length, 32), torch.nn.CELU(.1), torch.nn.Linear(32, 1))

    class Potential(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.computer = computer
            self.nets = ani.ANIModel([net() for _ in range(4)])
            self.shift = ani.EnergyShifter([-.6, -38., -54., -75.])

        def forward(self, species: torch.Tensor, coordinates: torch.Tensor):
            return self.shift(self.nets(self.computer((species, coordinates)))).energies

    computer = ani.AEVComputer.cover_linearly(5.2, 3.5, 16., 8., 16, 4, 32., 8, 4)
    potential = Potential()
    species = torch.tensor([[1, 0, 0, 0, 0]])
    coordinates = torch.tensor([[[.03, .006, .01], [-.83, .39, -.26], [-.66, -.84, .21], [.46, .54, .81],
                                 [.66, -.16, -.91]]], requires_grad=True)
    for one in (potential, torch.jit.script(potential)):
        energy = one(species, coordinates)
        say(energy, torch.autograd.grad(energy.sum(), coordinates))
    say(ani.utils.hessian(coordinates, energies=potential(species, coordinates)))
    say(computer((species, coordinates), torch.eye(3) * 12, torch.tensor([True] * 3)).aevs)


def e3nn():
    from e3nn import nn, o3
    say(o3.spherical_harmonics([0, 1, 2, 3], torch.rand(5, 3), True), o3.wigner_3j(1, 1, 2))
    product = o3.FullyConnectedTensorProduct("8x0e+4x1o", "4x0e+2x1o", "6x0e+3x1o+1x2e")
    left, right = torch.rand(7, 20), torch.rand(7, 10)
    say(product(left, right), torch.jit.script(product)(left, right))
    say(o3.Linear("4x0e+2x1o", "3x0e+2x1o")(torch.rand(3, 10)))
    say(nn.Gate("4x0e", [torch.tanh], "2x0e", [torch.sigmoid], "2x1o")(torch.rand(3, 12)))
    say(nn.NormActivation("2x0e+1x1o", torch.sigmoid)(torch.rand(2, 5)))
    say(nn.FullyConnectedNet([3, 8, 2], torch.relu)(torch.rand(4, 3)))


def kornia():
    import kornia as k
    x = torch.rand(1, 3, 32, 40)
    say(k.filters.gaussian_blur2d(x, (5, 5), (1.5, 1.5)), k.filters.sobel(x), k.filters.canny(x)[1],
        k.filters.median_blur(x, (3, 3)), k.color.rgb_to_hsv(x), k.color.rgb_to_lab(x), k.losses.ssim_loss(x, x * .9, 5))
    say(k.geometry.rotate(x, torch.tensor([30.])), k.geometry.warp_perspective(x, torch.eye(3)[None], (32, 40)),
        k.geometry.conversions.angle_axis_to_rotation_matrix(torch.rand(2, 3)),
        k.geometry.homography.find_homography_dlt(torch.rand(1, 8, 2), torch.rand(1, 8, 2)))
    say(k.feature.harris_response(x), k.feature.SIFTDescriptor(32)(torch.rand(2, 1, 32, 32)))
    say(k.morphology.dilation(x, torch.ones(3, 3)), k.enhance.equalize_clahe(x))
    say(k.augmentation.RandomAffine(30.)(x), k.augmentation.ColorJitter(.1, .1, .1, .1, p=1.)(x))


def torchmetrics():
    import torchmetrics as m
    guesses, labels = torch.rand(50, 5).softmax(-1), torch.randint(0, 5, (50,))
    for make in (m.Accuracy, m.F1Score, m.AUROC, m.ConfusionMatrix, m.CalibrationError, m.AveragePrecision):
        metric = make(task="multiclass", num_classes=5)
        metric.update(guesses[:25], labels[:25])
        metric.update(guesses[25:], labels[25:])
        say(metric.compute())
    a, b = torch.rand(60), torch.rand(60)
    for make in (m.MeanSquaredError, m.R2Score, m.PearsonCorrCoef, m.SpearmanCorrCoef, m.ExplainedVariance,
                 m.KendallRankCorrCoef):
        say(make()(a, b))
    pictures = torch.rand(1, 3, 48, 48), torch.rand(1, 3, 48, 48)
    say(m.functional.structural_similarity_index_measure(*pictures, data_range=1.),
        m.functional.peak_signal_noise_ratio(*pictures, data_range=1.),
        m.functional.scale_invariant_signal_distortion_ratio(a, b))
    say(m.text.WordErrorRate()(["a b c"], ["a b d"]), m.text.CharErrorRate()(["abc"], ["abd"]))


def timm():
    import timm as t
    import timm.data
    import timm.optim  # noqa: F401
    x = torch.rand(1, 3, 224, 224)
    for name in ("resnet18", "mobilenetv3_small_100", "efficientnet_b0", "vit_tiny_patch16_224", "convnext_atto",
                 "swin_tiny_patch4_window7_224", "deit_tiny_patch16_224", "regnety_002", "mixer_s16_224"):
        torch.manual_seed(0)
        with torch.no_grad():
            say(t.create_model(name, pretrained=False).eval()(x))
    say(t.create_model("resnet18", features_only=True).eval()(x))
    say(t.data.Mixup(prob=1.)(torch.rand(4, 3, 8, 8), torch.arange(4)))


def julius():
    import julius as j
    x = sound(8000)
    say(j.resample_frac(x, 4, 5), j.lowpass_filter(x, .1), j.highpass_filter(x, .1), j.split_bands(x, 16000, 4),
        j.fft_conv1d(x[None, None], torch.rand(1, 1, 200)), torch.jit.script(j.ResampleFrac(4, 5))(x))


def nnaudio():
    import nnAudio.features as f
    x = sound(16000)[None]
    say(f.STFT(512, verbose=False, output_format="Magnitude")(x), f.MelSpectrogram(16000, verbose=False)(x),
        f.CQT(16000, fmin=220, n_bins=24, verbose=False)(x), f.CQT2010v2(16000, fmin=220, n_bins=24, verbose=False)(x),
        f.MFCC(16000, verbose=False)(x))


def lpips():
    import lpips as similarity
    a, b = torch.rand(1, 3, 64, 64), torch.rand(1, 3, 64, 64)
    for name in ("alex", "squeeze"):
        torch.manual_seed(0)
        say(similarity.LPIPS(net=name, pnet_rand=True, verbose=False).eval()(a, b))


def pytorch_msssim():
    import pytorch_msssim as similarity
    a, b = torch.rand(1, 3, 180, 180), torch.rand(1, 3, 180, 180)
    say(similarity.ssim(a, b, data_range=1.), similarity.ms_ssim(a, b, data_range=1.))


def torchdiffeq():
    from torchdiffeq import odeint, odeint_adjoint

    class Slope(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(2, 2)

        def forward(self, t, y):
            return torch.tanh(self.layer(y ** 3))

    slope, start = Slope(), torch.rand(3, 2)
    for method in ("dopri5", "rk4", "euler", "adaptive_heun", "dopri8", "explicit_adams", "implicit_adams"):
        say(odeint(slope, start, torch.linspace(0, 1, 5), method=method))
    odeint_adjoint(slope, start, torch.linspace(0, 1, 3)).sum().backward()
    say(slope.layer.weight.grad)


def segmentation_models_pytorch():
    import segmentation_models_pytorch as smp
    x = torch.rand(1, 3, 128, 128)
    for name in ("Unet", "FPN", "Linknet", "PSPNet", "DeepLabV3Plus", "MAnet", "PAN"):
        torch.manual_seed(0)
        net = getattr(smp, name)("resnet18", encoder_weights=None, classes=2).eval()
        with torch.no_grad():
            say(net(x), torch.jit.trace(net, x, check_trace=False)(x))
    guess, truth = torch.rand(1, 1, 8, 8), torch.ones(1, 1, 8, 8)
    say(smp.losses.DiceLoss("binary")(guess, truth), smp.losses.FocalLoss("binary")(guess, truth))


def openunmix():
    from openunmix import model, transforms
    net = model.OpenUnmix(nb_bins=257, hidden_size=32, nb_channels=2).eval()
    wave = torch.rand(1, 2, 8000)
    spectrum = transforms.make_filterbanks(n_fft=512, n_hop=128)[0](wave)
    say(spectrum, net(transforms.ComplexNorm()(spectrum)[:, :, :257]))
    separator = model.Separator({"a": net, "b": net}, niter=1, n_fft=512, n_hop=128, nb_channels=2).eval()
    with torch.no_grad():
        say(separator(wave), torch.jit.script(separator)(wave))


def torch_optimizer():
    import torch_optimizer as optim
    for name in ("RAdam", "Lamb", "AdaBound", "DiffGrad", "NovoGrad", "Yogi", "AdaBelief", "MADGRAD", "Ranger",
                 "QHAdam", "SGDW", "AggMo", "Shampoo"):
        torch.manual_seed(0)
        layer = torch.nn.Linear(4, 3)
        optimizer = getattr(optim, name)(layer.parameters(), lr=1e-2)
        for _ in range(5):
            optimizer.zero_grad()
            (layer(torch.ones(2, 4)) ** 2).sum().backward()
            optimizer.step()
        say(layer.weight)


def efficientnet_pytorch():
    from efficientnet_pytorch import EfficientNet
    net = EfficientNet.from_name("efficientnet-b0").eval()
    net.set_swish(False)
    x = torch.rand(1, 3, 64, 64)
    with torch.no_grad():
        say(net(x), net.extract_features(x), torch.jit.trace(net, x, check_trace=False)(x))


def einops():
    import einops as e
    from einops.layers.torch import Rearrange
    x = torch.rand(2, 3, 4, 5)
    say(e.rearrange(x, "b c h w -> b (h w) c"), e.reduce(x, "b c h w -> b c", "max"),
        e.repeat(x, "b c h w -> b c h (w r)", r=2), e.einsum(x, x, "b c h w, b c h w -> b h"))
    say(torch.jit.script(Rearrange("b c h w -> b (c h) w"))(x))


def main(name):
    np.random.seed(0)
    torch.manual_seed(0)
    imported = time.time()
    globals()[name]()
    resident = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print("RESULT", json.dumps({"seen": seen, "import_s": imported - begin, "run_s": time.time() - imported,
                                "resident_mib": resident}))


if __name__ == "__main__":
    main(sys.argv[1])
