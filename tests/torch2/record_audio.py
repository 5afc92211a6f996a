#!/usr/bin/env python3
"""Records what models, transforms and functions of the torchaudio that runs this give, with random weights.

usage: record_audio.py FOLDER [NAME...]

Each becomes FOLDER/NAME.pt, scripted, or traced where it can't be scripted (FOLDER/FORMS.tsv says which), and
NAME.io.pt with inputs and results, for `wick check --library torchaudio.so --scaled NAME.pt NAME.io.pt`. What was left
out, and why, is in FOLDER/LEFT_OUT.tsv. Not for the test suite: it takes a PyTorch and a torchaudio of its own.
"""
import linecache, os, sys, warnings

from typing import List

import torch
import torchaudio
from torch import Tensor
import torchaudio.functional as F
from torchaudio import models, transforms as T
from torchaudio.compliance import kaldi as K

warnings.filterwarnings("ignore")
NOISE = torch.randn(2, 16000, generator=torch.Generator().manual_seed(9)) * 0.05  # no frequency is rounding alone
TIMES = torch.arange(32000.0).reshape(2, 16000)
WAVE = NOISE[:, :4000] + torch.sin(TIMES[:, :4000] ** 1.1 / 9) * torch.linspace(0.1, 0.8, 4000)
LONG = NOISE + torch.sin(TIMES ** 1.05 / 7) * 0.5  # what loudness and pitch need


def draw(*sizes, seed=1, complex=False):
    dtype = torch.complex64 if complex else torch.float32
    return torch.randn(*sizes, generator=torch.Generator().manual_seed(seed), dtype=dtype)


def lengths(*numbers, dtype=torch.int64):
    return torch.tensor(numbers, dtype=dtype)


# ---- functions: name: (parameters, expression, arguments) ----

X = "x: Tensor"
SPECTRUM = draw(2, 201, 20, complex=True)
CHANNELS = draw(2, 3, 33, 20, complex=True)
MASK = draw(2, 33, 20, seed=2).sigmoid()
FILTERS = {
    "allpass_biquad": "16000, 1000.",
    "band_biquad": "16000, 1000., 0.7, True",
    "bandpass_biquad": "16000, 1000., 0.7, True",
    "bandreject_biquad": "16000, 1000.",
    "bass_biquad": "16000, 4.",
    "biquad": "0.2, 0.3, 0.1, 1.1, -0.4, 0.2",
    "contrast": "60.",
    "dcshift": "0.3, 0.05",
    "deemph_biquad": "44100",
    "equalizer_biquad": "16000, 1000., 6.",
    "flanger": "16000",
    "gain": "3.",
    "highpass_biquad": "16000, 1000.",
    "lowpass_biquad": "16000, 1000.",
    "overdrive": "20., 20.",
    "phaser": "16000",
    "riaa_biquad": "44100",
    "treble_biquad": "16000, 4.",
    "mu_law_encoding": "256",
    "preemphasis": "0.9",
    "deemphasis": "0.9",
}
FUNCTIONS = {name: (X, "F.%s(x, %s)" % (name, rest), (WAVE,)) for name, rest in FILTERS.items()}
FUNCTIONS["flanger"] = (X, "F.flanger(x, 16000)", (WAVE[None],))
FUNCTIONS["flanger_triangular"] = (
    X,
    "F.flanger(x, 16000, modulation='triangular', interpolation='quadratic')",
    (WAVE[None],),
)
FUNCTIONS["mu_law_decoding"] = (X, "F.mu_law_decoding(x, 256)", (torch.arange(256).reshape(2, 128),))
FUNCTIONS.update(
    {
        "lfilter": (
            "x: Tensor, a: Tensor, b: Tensor",
            "F.lfilter(x, a, b)",
            (WAVE, lengths(1, -0.3, 0.2, dtype=None), lengths(0.2, 0.3, 0.1, dtype=None)),
        ),
        "lfilter_banks": (
            "x: Tensor, a: Tensor, b: Tensor",
            "F.lfilter(x, a, b, batching=False)",
            (WAVE[0], torch.tensor([[1, -0.3, 0.2], [1, 0.1, 0.3]]), torch.tensor([[0.2, 0.3, 0.1], [1, 0, -1]])),
        ),
        "filtfilt": (
            "x: Tensor, a: Tensor, b: Tensor",
            "F.filtfilt(x, a, b)",
            (WAVE, lengths(1, -0.3, 0.2, dtype=None), lengths(0.2, 0.3, 0.1, dtype=None)),
        ),
        "dither": (X, "F.dither(x)", (WAVE,)),
        "dither_shaped": (X, "F.dither(x, noise_shaping=True)", (WAVE,)),
        "dither_random": (X, "[torch.manual_seed(7), F.dither(x, 'RPDF')]", (WAVE,)),
        "DB_to_amplitude": (X, "F.DB_to_amplitude(x, 1., 0.5)", (WAVE,)),
        "amplitude_to_DB": (X, "F.amplitude_to_DB(x, 10., 1e-10, 0., 80.)", (WAVE.abs()[:, None],)),
        "compute_deltas": (X, "F.compute_deltas(x)", (WAVE.reshape(2, 40, 100),)),
        "create_dct": ("", "F.create_dct(13, 40, 'ortho')", ()),
        "detect_pitch_frequency": (X, "F.detect_pitch_frequency(x, 16000)", (LONG,)),
        "edit_distance": ("a: List[str], b: List[str]", "F.edit_distance(a, b)", (list("kitten"), list("sitting"))),
        "frechet_distance": (
            "a: Tensor, b: Tensor, c: Tensor, d: Tensor",
            "F.frechet_distance(a, b, c, d)",
            (draw(4), torch.eye(4), draw(4, seed=2), torch.eye(4) * 2),
        ),
        "griffinlim": (
            "x: Tensor, w: Tensor",
            "F.griffinlim(x, w, 400, 200, 400, 1., 8, 0.9, None, False)",
            (SPECTRUM.abs(), torch.hann_window(400)),
        ),
        "spectrogram": (
            "x: Tensor, w: Tensor",
            "F.spectrogram(x, 10, w, 400, 200, 400, 2., True)",
            (WAVE, torch.hann_window(400)),
        ),
        "spectrogram_complex": (
            "x: Tensor, w: Tensor",
            "F.spectrogram(x, 0, w, 400, 160, 320, None, 'frame_length', False, 'constant', False)",
            (WAVE, torch.hamming_window(320)),
        ),
        "inverse_spectrogram": (
            "x: Tensor, w: Tensor",
            "F.inverse_spectrogram(x, 3000, 0, w, 400, 200, 400, True)",
            (SPECTRUM, torch.hann_window(400)),
        ),
        "linear_fbanks": ("", "F.linear_fbanks(201, 0., 8000., 40, 16000)", ()),
        "melscale_fbanks": ("", "F.melscale_fbanks(201, 0., 8000., 40, 16000, 'slaney', 'slaney')", ()),
        "loudness": (X, "F.loudness(x, 16000)", (LONG,)),
        "phase_vocoder": (
            "x: Tensor, p: Tensor",
            "F.phase_vocoder(x, 1.3, p)",
            (SPECTRUM, torch.linspace(0, 3.14 * 200, 201)[:, None]),
        ),
        "pitch_shift": (X, "F.pitch_shift(x, 16000, 4, n_fft=256)", (WAVE,)),
        "resample": (X, "F.resample(x, 16000, 11025)", (WAVE,)),
        "resample_kaiser": (
            X,
            "F.resample(x, 8000, 12000, 16, 0.9, 'sinc_interp_kaiser', 12.)",
            (WAVE,),
        ),
        "sliding_window_cmn": (
            X,
            "F.sliding_window_cmn(x, 30, 10, False, True)",
            (WAVE.reshape(2, 100, 40),),
        ),
        "sliding_window_cmn_center": (X, "F.sliding_window_cmn(x, center=True)", (WAVE.reshape(2, 100, 40),)),
        "spectral_centroid": (
            "x: Tensor, w: Tensor",
            "F.spectral_centroid(x, 16000, 0, w, 400, 200, 400)",
            (WAVE, torch.hann_window(400)),
        ),
        "vad": (X, "F.vad(x, 16000)", (torch.cat([LONG * 1e-4, LONG], 1),)),
        "mask_along_axis": (
            X,
            "[torch.manual_seed(3), F.mask_along_axis(x, 10, 0., 2, 0.5)]",
            (WAVE.reshape(2, 2, 40, 50),),
        ),
        "mask_along_axis_iid": (
            X,
            "[torch.manual_seed(3), F.mask_along_axis_iid(x, 10, 0., 2)]",
            (WAVE.reshape(2, 2, 40, 50),),
        ),
        "speed": ("x: Tensor, n: Tensor", "F.speed(x, 16000, 1.1, n)", (WAVE, lengths(4000, 3000))),
        "add_noise": (
            "x: Tensor, y: Tensor, s: Tensor, n: Tensor",
            "F.add_noise(x, y, s, n)",
            (WAVE, draw(2, 4000), torch.tensor([3.0, 10]), lengths(4000, 3000)),
        ),
        "convolve": ("x: Tensor, y: Tensor", "F.convolve(x, y, 'same')", (WAVE[:, :300], draw(2, 21))),
        "fftconvolve": ("x: Tensor, y: Tensor", "F.fftconvolve(x, y)", (WAVE, draw(2, 300))),
        "psd": ("x: Tensor, m: Tensor", "F.psd(x, m)", (CHANNELS, MASK)),
        "rtf_evd": (X, "F.rtf_evd(F.psd(x)).abs()", (CHANNELS,)),
        "rtf_power": ("x: Tensor, m: Tensor", "F.rtf_power(F.psd(x, m), F.psd(x, 1 - m), 0)", (CHANNELS, MASK)),
        "mvdr_weights_souden": (
            "x: Tensor, m: Tensor",
            "F.mvdr_weights_souden(F.psd(x, m), F.psd(x, 1 - m), 0)",
            (CHANNELS, MASK),
        ),
        "mvdr_weights_rtf": (
            "x: Tensor, m: Tensor, r: Tensor",
            "F.mvdr_weights_rtf(r, F.psd(x, m), 0)",
            (CHANNELS, MASK, draw(2, 33, 3, complex=True)),
        ),
        "apply_beamforming": (
            "x: Tensor, w: Tensor",
            "F.apply_beamforming(w, x)",
            (CHANNELS, draw(2, 33, 3, complex=True)),
        ),
        "rnnt_loss": (
            "x: Tensor, t: Tensor, n: Tensor, m: Tensor",
            "F.rnnt_loss(x, t, n, m, 0)",
            (
                draw(2, 6, 4, 5),
                lengths(1, 2, 3, 4, 1, 2, dtype=torch.int32).reshape(2, 3),
                lengths(6, 5, dtype=torch.int32),
                lengths(3, 2, dtype=torch.int32),
            ),
        ),
        "forced_align": (
            "x: Tensor, t: Tensor, n: Tensor, m: Tensor",
            "F.forced_align(x, t, n, m)",
            (draw(1, 20, 6).log_softmax(-1), lengths(1, 2, 2, 5).reshape(1, 4), lengths(20), lengths(4)),
        ),
        "kaldi_fbank": (X, "K.fbank(x, dither=0., num_mel_bins=40, window_type='povey')", (LONG * 1e4,)),
        "kaldi_mfcc": (X, "K.mfcc(x, dither=0.)", (LONG * 1e4,)),
        "kaldi_spectrogram": (X, "K.spectrogram(x, dither=0.)", (LONG * 1e4,)),
    }
)
def called(module, *args):
    """The module after its first call, which makes what it keeps."""
    module(*args)
    return module


# ---- transforms: name: (module, arguments) ----

TRANSFORMS = {
    "Spectrogram": (lambda: T.Spectrogram(400, power=None), (WAVE,)),
    "Spectrogram_normalized": (lambda: T.Spectrogram(512, 400, 160, 20, normalized=True, center=False), (WAVE,)),
    "InverseSpectrogram": (lambda: T.InverseSpectrogram(400), (SPECTRUM,)),
    "GriffinLim": (lambda: T.GriffinLim(400, n_iter=8, rand_init=False), (SPECTRUM.abs(),)),
    "AmplitudeToDB": (lambda: T.AmplitudeToDB(top_db=80.0), (WAVE.abs(),)),
    "MelScale": (lambda: T.MelScale(64, 16000, n_stft=201), (SPECTRUM.abs(),)),
    "InverseMelScale": (lambda: T.InverseMelScale(201, 64, driver="gelsd"), (draw(2, 64, 20).abs(),)),
    "MelSpectrogram": (lambda: T.MelSpectrogram(16000, n_mels=64), (WAVE,)),
    "MelSpectrogram_slaney": (
        lambda: T.MelSpectrogram(16000, 512, norm="slaney", mel_scale="slaney", power=1.0, window_fn=torch.hamming_window),
        (WAVE,),
    ),
    "MFCC": (lambda: T.MFCC(16000, 20), (WAVE,)),
    "MFCC_log": (lambda: T.MFCC(16000, 20, log_mels=True), (WAVE,)),
    "LFCC": (lambda: T.LFCC(16000, 64, n_lfcc=20), (WAVE,)),
    "MuLawEncoding": (T.MuLawEncoding, (WAVE,)),
    "MuLawDecoding": (T.MuLawDecoding, (torch.arange(256),)),
    "Resample": (lambda: T.Resample(16000, 8000), (WAVE,)),
    "Resample_up": (lambda: T.Resample(44100, 48000, "sinc_interp_kaiser"), (WAVE,)),
    "ComputeDeltas": (lambda: T.ComputeDeltas(7), (WAVE.reshape(2, 40, 100),)),
    "TimeStretch": (lambda: T.TimeStretch(fixed_rate=1.2), (SPECTRUM,)),
    "Fade": (lambda: T.Fade(500, 700, "logarithmic"), (WAVE,)),
    "Fade_half_sine": (lambda: T.Fade(500, 700, "half_sine"), (WAVE,)),
    "Loudness": (lambda: T.Loudness(16000), (LONG,)),
    "Vol": (lambda: T.Vol(3.0, "db"), (WAVE,)),
    "SlidingWindowCmn": (lambda: T.SlidingWindowCmn(100), (WAVE.reshape(2, 100, 40),)),
    "SpectralCentroid": (lambda: T.SpectralCentroid(16000), (WAVE,)),
    "Vad": (lambda: T.Vad(16000), (torch.cat([LONG * 1e-4, LONG], 1),)),
    "PitchShift": (lambda: called(T.PitchShift(16000, 4, n_fft=256), WAVE), (WAVE,)),
    "RNNTLoss": (lambda: T.RNNTLoss(0), FUNCTIONS["rnnt_loss"][2]),
    "PSD": (lambda: T.PSD(True), (CHANNELS, MASK[:, None].repeat(1, 3, 1, 1))),
    "MVDR": (lambda: T.MVDR(solution="ref_channel"), (CHANNELS, MASK)),
    "MVDR_power": (lambda: T.MVDR(solution="stv_power", multi_mask=True), (CHANNELS, MASK[:, None].repeat(1, 3, 1, 1))),
    "RTFMVDR": (T.RTFMVDR, (CHANNELS, draw(2, 33, 3, complex=True), F.psd(CHANNELS), 0)),
    "SoudenMVDR": (T.SoudenMVDR, (CHANNELS, F.psd(CHANNELS, MASK), F.psd(CHANNELS, 1 - MASK), 0)),
    "Speed": (lambda: T.Speed(16000, 0.9), (WAVE, lengths(4000, 3000))),
    "AddNoise": (T.AddNoise, FUNCTIONS["add_noise"][2]),
    "Convolve": (T.Convolve, (WAVE[:, :300], draw(2, 21))),
    "FFTConvolve": (lambda: T.FFTConvolve("valid"), (WAVE, draw(2, 300))),
    "Preemphasis": (T.Preemphasis, (WAVE,)),
    "Deemphasis": (T.Deemphasis, (WAVE,)),
    "SpecAugment": (lambda: T.SpecAugment(2, 10, 2, 5, zero_masking=True), (WAVE.reshape(2, 40, 100),)),
    "TimeMasking": (lambda: T.TimeMasking(20), (WAVE.reshape(2, 40, 100),)),
    "FrequencyMasking": (lambda: T.FrequencyMasking(20, True), (WAVE.reshape(2, 1, 40, 100),)),
}
DRAWN = ("SpecAugment", "TimeMasking", "FrequencyMasking")  # seeded in the program

# ---- models: name: (module, calls, as which method) ----


def heard(make, mode="group_norm", **more):
    layers = [(32, 10, 5), (32, 3, 2), (32, 3, 2), (32, 2, 2)]
    sizes = dict(
        extractor_mode=mode,
        extractor_conv_layer_config=layers,
        extractor_conv_bias=mode != "group_norm",
        encoder_embed_dim=48,
        encoder_projection_dropout=0.1,
        encoder_num_layers=2,
        encoder_num_heads=4,
        encoder_ff_interm_features=64,
    )
    sizes.update(encoder_pos_conv_kernel=16, encoder_pos_conv_groups=4, encoder_layer_norm_first=mode != "group_norm")
    sizes.update(encoder_attention_dropout=0.1, encoder_ff_interm_dropout=0.1, encoder_dropout=0.1)
    sizes.update(encoder_layer_drop=0.0)
    if make is models.wavlm_model:
        sizes.update(encoder_num_buckets=32, encoder_max_distance=80)
    if make is not models.hubert_pretrain_model:
        sizes["aux_num_out"] = more.pop("aux", 10)
    sizes.update(more)
    return make(**sizes)


def pretrained():
    return heard(
        models.hubert_pretrain_model,
        mask_prob=0.8,
        mask_selection="static",
        mask_other=0.0,
        mask_length=4,
        no_mask_overlap=False,
        mask_min_space=1,
        mask_channel_prob=0.0,
        mask_channel_selection="static",
        mask_channel_other=0.0,
        mask_channel_length=4,
        no_mask_channel_overlap=False,
        mask_channel_min_space=1,
        skip_masked=False,
        skip_nomask=False,
        num_classes=12,
        final_dim=16,
        feature_grad_mult=None,
    )


def transducer():
    return models.rnnt.emformer_rnnt_model(
        input_dim=16,
        encoding_dim=32,
        num_symbols=20,
        segment_length=8,
        right_context_length=4,
        time_reduction_input_dim=12,
        time_reduction_stride=4,
        transformer_num_heads=4,
        transformer_ffn_dim=48,
        transformer_num_layers=2,
        transformer_dropout=0.1,
        transformer_activation="gelu",
        transformer_left_context_length=10,
        transformer_max_memory_size=0,
        transformer_weight_init_scale_strategy="depthwise",
        transformer_tanh_on_mem=True,
        symbol_embedding_dim=24,
        num_lstm_layers=2,
        lstm_layer_norm=True,
        lstm_layer_norm_epsilon=1e-3,
        lstm_dropout=0.3,
    )


def searched():
    class Search(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.search = models.RNNTBeamSearch(transducer(), 19, step_max_tokens=5)

        def forward(self, x, n):
            return [(h[0], h[1], h[3]) for h in self.search(x, n, 4)]

    return Search()


class Streamed(torch.nn.Module):
    """Two segments, the second from what the first left."""

    def __init__(self):
        super().__init__()
        self.net = transducer()

    def forward(self, x, n):
        y, m, state = self.net.transcribe_streaming(x, n, None)
        z, m, state = self.net.transcribe_streaming(x * 0.5, n, state)
        return y, z, m, state


class Segmented(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.net = models.Emformer(32, 4, 48, 2, 8, left_context_length=6, right_context_length=2, max_memory_size=2)

    def forward(self, x, n):
        y, m, state = self.net.infer(x, n, None)
        z, m, state = self.net.infer(x * 0.5, n, state)
        return y, z, m, state


def tacotron():
    return models.Tacotron2(
        n_symbol=20,
        symbol_embedding_dim=16,
        encoder_embedding_dim=16,
        decoder_rnn_dim=32,
        decoder_max_step=12,
        attention_rnn_dim=32,
        attention_hidden_dim=16,
        attention_location_n_filter=4,
        attention_location_kernel_size=5,
        prenet_dim=16,
        postnet_embedding_dim=16,
        n_mels=10,
    )


class Spoken(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.net = tacotron()

    def forward(self, x, n):
        torch.manual_seed(5)  # its prenet drops out, in evaluation too
        return self.net.infer(x, n)


class Predicted(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.net = tacotron()

    def forward(self, x, n, mel, m):
        torch.manual_seed(5)
        return self.net(x, n, mel, m)


class Generated(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.net = wave_rnn()

    def forward(self, x, n):
        torch.manual_seed(5)
        return self.net.infer(x, n)


class Drawn(torch.nn.Module):
    def __init__(self, part):
        super().__init__()
        self.part = part

    def forward(self, x):
        torch.manual_seed(5)
        return self.part(x)


def wave_rnn():
    sizes = dict(n_res_block=2, n_rnn=24, n_fc=24, kernel_size=5, n_freq=10, n_hidden=12, n_output=12)
    return models.WaveRNN([2, 2, 3], 16, 12, **sizes)


HEARD = ((WAVE, lengths(4000, 3000)), (WAVE[:1, :1600],))
SYMBOLS = lengths(1, 2, 3, 4, 5, 6, dtype=torch.int32).reshape(2, 3)
WHOLE = ((WAVE,), (WAVE[:1, :1600],))  # WavLM takes no lengths
MODELS = {
    "wav2vec2": (lambda: heard(models.wav2vec2_model), HEARD),
    "wav2vec2_no_head": (lambda: heard(models.wav2vec2_model, aux=None), HEARD),
    "wav2vec2_layer_norm": (lambda: heard(models.wav2vec2_model, "layer_norm"), HEARD),
    "wavlm": (lambda: heard(models.wavlm_model), WHOLE),
    "wavlm_layer_norm": (lambda: heard(models.wavlm_model, "layer_norm", aux=None), WHOLE),
    "hubert_pretrain": (pretrained, ((WAVE, torch.arange(2 * 99).reshape(2, 99) % 12, lengths(4000, 3000)),)),
    "conformer": (lambda: models.Conformer(32, 4, 48, 2, 7), ((draw(2, 20, 32), lengths(20, 13)),)),
    "conformer_group_norm": (
        lambda: models.Conformer(32, 4, 48, 2, 7, use_group_norm=True, convolution_first=True),
        ((draw(2, 20, 32), lengths(20, 13)),),
    ),
    "emformer": (
        lambda: models.Emformer(32, 4, 48, 2, 8, left_context_length=6, right_context_length=2, max_memory_size=2),
        ((draw(2, 26, 32), lengths(26, 17)),),
    ),
    "emformer_infer": (Segmented, ((draw(2, 10, 32), lengths(10, 10)),)),
    "rnnt_emformer": (transducer, ((draw(2, 20, 16), lengths(20, 14), SYMBOLS, lengths(3, 2, dtype=torch.int32)),)),
    "rnnt_emformer_streaming": (Streamed, ((draw(2, 12, 16), lengths(12, 12)),)),
    "rnnt_beam_search": (searched, ((draw(1, 20, 16), lengths(20)),)),
    "conv_tasnet": (lambda: models.ConvTasNet(2, 16, 32, 3, 16, 24, 3, 2), ((WAVE[:, None],), (WAVE[:1, None, :801],))),
    "hdemucs": (lambda: models.HDemucs(["a", "b"], channels=8, nfft=1024, depth=4), ((draw(1, 2, 8000) * 0.1,),)),
    "tacotron2": (
        Predicted,
        ((torch.arange(14).reshape(2, 7), lengths(7, 5), draw(2, 10, 9), lengths(9, 8)),),
    ),
    "tacotron2_infer": (Spoken, ((torch.arange(14).reshape(2, 7), lengths(7, 5)),)),
    "wavernn": (wave_rnn, ((draw(2, 1, 12 * 6), draw(2, 1, 10, 10)),)),
    "wavernn_infer": (Generated, ((draw(2, 10, 7), lengths(7, 5)),)),
    "deepspeech": (lambda: models.DeepSpeech(20, 32, 12), ((draw(2, 1, 15, 20),),)),
    "wav2letter": (lambda: models.Wav2Letter(12), ((draw(1, 1, 3000),),)),
    "wav2letter_mfcc": (lambda: models.Wav2Letter(12, "mfcc", 13), ((draw(2, 13, 40),),)),
    "squim_objective": (
        models.squim_objective_base,
        ((WAVE,),),
    ),
    "squim_subjective": (models.squim_subjective_base, ((LONG[:1], WAVE[:1]),)),
}


def fresh(args):
    return tuple(a.clone() if torch.is_tensor(a) else a for a in args)


def record(folder, name, module, calls):
    path = os.path.join(folder, name)
    module.eval()
    with torch.no_grad():
        try:
            form, program = "scripted", torch.jit.script(module)
            program(*fresh(calls[0]))
        except Exception as reason:
            said = [line for line in str(reason).splitlines() if line.strip()]
            form, program, calls = "traced: %s ... %s" % (said[0], said[-1]), torch.jit.trace(module, calls[0]), calls[:1]
        program.save(path + ".pt")
        made = [{"method": "forward", "args": a, "kwargs": {}, "output": program(*fresh(a))} for a in calls]
    torch.save({"wick_io": 1, "entry": "forward", "calls": made}, path + ".io.pt")
    return form


def function(name, parameters, expression):
    """A module whose forward is the expression; the compiler reads its source as that of a file."""
    given = "self, " + parameters if parameters else "self"
    text = "class Program(torch.nn.Module):\n    def forward(%s):\n        return %s\n" % (given, expression)
    linecache.cache[name + ".py"] = (len(text), None, text.splitlines(True), name + ".py")
    exec(compile(text, name + ".py", "exec"), globals())
    return Program()  # noqa: F821, it was made just now


def main():
    folder, wanted = sys.argv[1], sys.argv[2:]
    os.makedirs(folder, exist_ok=True)
    cases = {n: (lambda m=m, n=n: Drawn(m()) if n in DRAWN else m(), [a]) for n, (m, a) in TRANSFORMS.items()}
    cases.update({n: (lambda n=n, p=p, e=e: function(n, p, e), [a]) for n, (p, e, a) in FUNCTIONS.items()})
    cases.update(MODELS)
    with open(os.path.join(folder, "LEFT_OUT.tsv"), "w") as left, open(os.path.join(folder, "FORMS.tsv"), "w") as forms:
        for name, (make, calls) in cases.items():
            if wanted and name not in wanted:
                continue
            torch.manual_seed(1)
            try:
                print(name, record(folder, name, make(), calls), sep="\t", file=forms, flush=True)
            except Exception as reason:
                print(name, " ".join(str(reason).split())[:1000], sep="\t", file=left, flush=True)
    print("torchaudio %s: %d cases" % (torchaudio.__version__, len(cases)))


main()
