/* Short-time Fourier transforms: windows slid over a signal, and signals put together from them. */
#include "call/row.h"

#define STFT_CHECKS                                          \
  "hop = n_fft // 4 if hop_length is None else hop_length\n" \
  "length = n_fft if win_length is None else win_length\n"

/* Frames begin with the window: what n_fft has beyond it is made of zeros (PyTorch 2.7). */
#define ALIGN_TO_WINDOW(x)                                \
  "aligned = " x                                          \
  "\n"                                                    \
  "if align_to_window is not None and align_to_window:\n" \
  "    gap = n_fft - length\n"                            \
  "    aligned = torch.constant_pad_nd(aligned, [gap // 2, gap - gap // 2], 0.)\n"

static const OpRow rows[] = {
    /* First, as it is the one that archives mean by torch.stft and methods by .stft; torch.functional.stft centers. */
    {.schema =
         "aten::stft(Tensor self, int n_fft, int? hop_length=None, int? win_length=None, Tensor? window=None, "
         "bool normalized=False, bool? onesided=None, bool? return_complex=None, bool? align_to_window=None) -> Tensor",
     .body = STFT_CHECKS ALIGN_TO_WINDOW(
         "self") "return short_transform(aligned, n_fft, hop, length, window, normalized, onesided, return_complex)"},
    {.schema = "aten::stft.center(Tensor self, int n_fft, int? hop_length=None, int? win_length=None, Tensor? "
               "window=None, bool center=True, str pad_mode=\"reflect\", bool normalized=False, bool? onesided=None, "
               "bool? return_complex=None, bool? align_to_window=None) -> Tensor",
     .body = STFT_CHECKS
     "if center and align_to_window is not None:\n"
     "    raise RuntimeError('stft: align_to_window should only be set when center = false.')\n"
     "if self.dim() != 1 and self.dim() != 2:\n"
     "    raise RuntimeError('stft: expected a 1D or 2D tensor')\n"
     "x = self\n"
     "if center:\n"
     "    side = n_fft // 2\n"
     "    x = self.unsqueeze(0) if self.dim() == 2 else self.unsqueeze(0).unsqueeze(0)\n"
     "    x = torch.pad(x, [side, side], pad_mode)\n"
     "    x = x.squeeze(0) if self.dim() == 2 else x.squeeze(0).squeeze(0)\n" ALIGN_TO_WINDOW(
         "x") "return short_transform(aligned, n_fft, hop, length, window, normalized, onesided, return_complex)"},
    {.schema = "aten::istft(Tensor self, int n_fft, int? hop_length=None, int? win_length=None, Tensor? window=None, "
               "bool center=True, bool normalized=False, bool? onesided=None, int? length=None, bool "
               "return_complex=False) -> Tensor",
     .body = "hop = n_fft // 4 if hop_length is None else hop_length\n"
             "window_length = n_fft if win_length is None else win_length\n"
             "return join_frames(self, n_fft, hop, window_length, window, center, normalized, onesided, length, "
             "return_complex)"},
};
OP_TABLE(op_table_fft_stft, rows);
