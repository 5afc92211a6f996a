/* op: the operators, in rooms by noun. A file is a family: its kernels, then its rows (call/row.h).
 *
 *   op/scalar/     numbers, strings, lists, dicts, printing: what sees no tensor's elements
 *   op/tensor/     making, viewing, indexing, joining, sorting and searching tensors; pointwise rows
 *   op/nn/         layers: convolutions, products, norms, pooling, losses, recurrent nets
 *   op/quantized/  quantized tensors
 *   op/sparse/     sparse tensors
 *   op/linalg/     batches of matrices
 *   op/fft/        Fourier transforms
 *
 *   op/tensor/view.h          what the rows of views share
 *   op/nn/pool.h              windows of pooling
 *   op/nn/norm.h              batch normalization by stored statistics
 *   op/nn/softmax.h           softmax as the anchor of attention
 *   op/nn/conv.h              how convolutions' arguments are read
 *   op/nn/fused.h             what engines ask before they do a region at once
 *   op/nn/linear.h            the product of a linear layer
 *   op/nn/rnn_layers.h        recurrent layers without an operator call for each gate
 *   op/quantized/quantized.h  what kernels of quantized tensors share
 *   op/quantized/layer.h      weights of quantized layers, and their outputs
 *   op/quantized/conv_run.h   the running of quantized convolutions
 *   op/quantized/packed.h     what objects of their native classes hold
 *   op/sparse/sparse.h        what kernels of sparse tensors share
 *   op/linalg/linalg.h        what operators over batches of matrices share */
#pragma once
