/* Products of matrices by cuBLAS, which is opened with the first of them. */
#ifndef CUDA_PRODUCTS_H
#define CUDA_PRODUCTS_H

#include "wick/status.h"

wick_status products_register(wick_error **error);

#endif
