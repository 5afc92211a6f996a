/* torchaudio: the filters, the loss and the alignment that its functions call (https://github.com/pytorch/audio, 0.13
 * and 2.11, has the operators' meanings). */
#include "torchaudio/operators.h"

#define TRANSDUCER                                                                                            \
  "Tensor logits, Tensor targets, Tensor logit_lengths, Tensor target_lengths, int blank, float clamp, bool " \
  "fused_log_softmax=True"
#define TRANSDUCER_VALUES "logits, targets, logit_lengths, target_lengths, blank, clamp, fused_log_softmax"

static const wick_operator operators[] = {
    OPERATOR("torchaudio::cuda_version() -> int", .kernel = kernel_cuda_version),
    OPERATOR("torchaudio::is_sox_available() -> bool", .body = "return False"),
    OPERATOR("torchaudio::is_ffmpeg_available() -> bool", .body = "return False"),
    OPERATOR("torchaudio::is_kaldi_available() -> bool", .body = "return False"),
    OPERATOR("torchaudio::is_rir_available() -> bool", .body = "return False"),
    OPERATOR("torchaudio::is_align_available() -> bool", .body = "return True"),
    /* what they write is their result since 2.x; programs of before name none */
    OPERATOR("torchaudio::_lfilter_core_loop(Tensor input_signal_windows, Tensor a_coeff_flipped, Tensor(a!) "
             "padded_output_waveform) -> Tensor(a!)",
             .body = "torch.ops.torchaudio._lfilter_loop(input_signal_windows, a_coeff_flipped, "
                     "padded_output_waveform)\n"
                     "return padded_output_waveform\n"),
    OPERATOR("torchaudio::_lfilter_loop(Tensor input_signal_windows, Tensor a_coeff_flipped, Tensor(a!) "
             "padded_output_waveform) -> ()",
             .kernel = kernel_lfilter_core_loop),
    OPERATOR("torchaudio::_overdrive_core_loop(Tensor waveform, Tensor temp, Tensor(a!) last_in, Tensor(b!) last_out, "
             "Tensor(c!) output_waveform) -> (Tensor(a!), Tensor(b!), Tensor(c!))",
             .body = "torch.ops.torchaudio._overdrive_loop(waveform, temp, last_in, last_out, output_waveform)\n"
                     "return last_in, last_out, output_waveform\n"),
    OPERATOR("torchaudio::_overdrive_loop(Tensor waveform, Tensor temp, Tensor(a!) last_in, Tensor(b!) last_out, "
             "Tensor(c!) output_waveform) -> ()",
             .kernel = kernel_overdrive_core_loop),

    /* a waveform [batch, channel, time] with a filter for each channel, or [channel, time] with one for all */
    OPERATOR("torchaudio::_lfilter(Tensor waveform, Tensor a_coeffs, Tensor b_coeffs) -> Tensor",
             .body = "if a_coeffs.size() != b_coeffs.size():\n"
                     "    raise RuntimeError('the coefficients should be of equal sizes')\n"
                     "if a_coeffs.dim() == 1 and waveform.dim() == 2:\n"
                     "    each = torch.ops.torchaudio._lfilter(waveform.unsqueeze(1), a_coeffs.unsqueeze(0), "
                     "b_coeffs.unsqueeze(0))\n"
                     "    return each.squeeze(1)\n"
                     "if a_coeffs.dim() != 2 or waveform.dim() != 3:\n"
                     "    raise RuntimeError('the waveform should be [batch, channel, time], the coefficients "
                     "[channel, order]')\n"
                     "if a_coeffs.size(0) != waveform.size(1) or a_coeffs.size(1) < 1:\n"
                     "    raise RuntimeError('every channel should have coefficients')\n"
                     "first = a_coeffs.slice(1, 0, 1)\n"
                     "before = a_coeffs.size(1) - 1\n"
                     "padded = torch.constant_pad_nd(waveform, [before, 0], 0)\n"
                     "weight = (b_coeffs / first).flip([1]).unsqueeze(1)\n"
                     "filtered = torch.conv1d(padded, weight, None, [1], [0], [1], waveform.size(1))\n"
                     "result = torch.ops.torchaudio._iir_forward(filtered, a_coeffs / first)\n"
                     /* the end of a waveform that has room for what came before, as torchaudio's is */
                     "return torch.constant_pad_nd(result, [before, 0], 0).slice(2, before) if before else result\n"),
    OPERATOR("torchaudio::_iir_forward(Tensor waveform, Tensor a_coeffs_normalized) -> Tensor", .kernel = kernel_iir,
             .gradient = "waveform, a_coeffs_normalized: torch.ops.torchaudio._iir_backward(grad, waveform, "
                         "a_coeffs_normalized, result)"),
    /* the filter run backwards, and what each delayed output was times that */
    OPERATOR("torchaudio::_iir_backward(Tensor grad_output, Tensor waveform, Tensor a_coeffs_normalized, Tensor "
             "output) -> (Tensor, Tensor)",
             .body = "by_waveform = torch.ops.torchaudio._iir_forward(grad_output.flip([-1]), "
                     "a_coeffs_normalized).flip([-1])\n"
                     "padded = torch.constant_pad_nd(output, [a_coeffs_normalized.size(1) - 1, 0], 0)\n"
                     "delayed = padded.unfold(-1, output.size(-1), 1)\n"
                     "return by_waveform, -(delayed * by_waveform.unsqueeze(2)).sum([0, 3]).flip([-1])\n"),

    /* the gradients are there in any mode */
    OPERATOR("torchaudio::rnnt_loss(" TRANSDUCER ") -> (Tensor, Tensor?)",
             .body = "costs = torch.ops.torchaudio._rnnt_costs(" TRANSDUCER_VALUES ")\n"
                     "logits = logits.detach()\n"
                     "return costs, torch.ops.torchaudio._rnnt_gradients(" TRANSDUCER_VALUES ")\n"),
    OPERATOR("torchaudio::rnnt_loss_forward(" TRANSDUCER ") -> (Tensor, Tensor?)",
             .body = "return torch.ops.torchaudio._rnnt_costs(" TRANSDUCER_VALUES "), None\n"),
    OPERATOR("torchaudio::_rnnt_costs(" TRANSDUCER ") -> Tensor", .kernel = kernel_rnnt_costs,
             .gradient = "logits: grad.reshape([-1, 1, 1, 1]) * "
                         "torch.ops.torchaudio._rnnt_gradients(" TRANSDUCER_VALUES ")"),
    OPERATOR("torchaudio::_rnnt_gradients(" TRANSDUCER ") -> Tensor", .kernel = kernel_rnnt_gradients),

    OPERATOR("torchaudio::forced_align(Tensor log_probs, Tensor targets, Tensor input_lengths, Tensor target_lengths, "
             "int blank) -> (Tensor, Tensor)",
             .kernel = kernel_forced_align),
};

WICK_API wick_status wick_library_init(wick_error **error) {
  return wick_operators_register(operators, COUNT(operators), error);
}
