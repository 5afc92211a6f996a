/* The kernels of torchaudio; torchaudio.c has the operators. */
#pragma once

#include "kit/kit.h"

wick_kernel kernel_lfilter_core_loop, kernel_overdrive_core_loop, kernel_iir;
wick_kernel kernel_rnnt_costs, kernel_rnnt_gradients, kernel_forced_align;
