/* The kernels of torch_scatter; torch_scatter.c has the operators. */
#pragma once

#include "wick/library.h"

wick_kernel kernel_scatter;     /* user: its Reduction */
wick_kernel kernel_segment_csr; /* likewise */
wick_kernel kernel_gather_csr;
wick_kernel kernel_check_sorted;
