/* compute: numeric engines that know no operator: numbers in memory, numbers out. Files for an instruction set are
 * told by their suffix, chosen when they run; the _body and _template headers are the source of those.
 *
 *   compute/activation.h                functions of results that are in registers or in cache
 *   compute/element/element.h           one element at a time
 *   compute/gemm/gemm.h                 matrix products and what follows them; gemm_template.h, gemm_tile_body.h,
 *                                       gemm_transpose.h, gemm_transpose_neon.h
 *   compute/distance/distance.h         between rows
 *   compute/attention/attention.h       softmax(Q K) V without all scores; attention_body.h
 *   compute/conv/conv.h                 convolutions
 *   compute/conv/conv_backward.h        their gradients, and transposed ones
 *   compute/conv/conv_patches.h         those that cut channels-last images into patches
 *   compute/conv/conv_weights.h         their weights and those of linear layers, packed
 *   compute/conv/weight_order.h         putting them in that order, and back
 *   compute/conv/winograd_rest.h        what Winograd's transforms lack to be put back
 *   compute/conv/weight_reader.h        a weight on the way there, in place or out of the file
 *   compute/conv/flat_conv.h            all others of float32, but transposed ones
 *   compute/conv/flat_few.h             those with few results; flat_few_body.h
 *   compute/conv/flat_product.h         those on small planes
 *   compute/conv/flat_expand.h          1x1 ones together with the depthwise ones after them
 *   compute/conv/flat_planes.h          the planes they read
 *   compute/conv/flat_winograd.h        3x3 ones with fewer products
 *   compute/conv/flat_tile.h            their inner loops; flat_tile_body.h, flat_tile_four.h, flat_winograd_body.h,
 *                                       flat_lanes_body.h, flat_direct_body.h, flat_dots_body.h, flat_exp_body.h
 *   compute/conv/conv_epilogue.h        what happens to results in registers
 *   compute/pool/pool_plane.h           pooling of float32 planes
 *   compute/pool/pool_maximum.h         the greatest of windows of few columns; pool_maximum_body.h
 *   compute/pool/pool_indices.h         the greatest of windows, and where it was
 *   compute/norm/norm_affine.h          scale and shift; norm_affine_body.h
 *   compute/norm/norm_batch.h           sums over channels and their gradients; norm_batch_body.h
 *   compute/norm/norm_bfloat16.h        normalization with bfloat16's rounding
 *   compute/resample/resample.h         images and signals of another size, dimension by dimension
 *   compute/rnn/rnn_step.h              one step of a recurrent layer
 *   compute/quantized/qgemm.h           products of bytes, the loops around them
 *   compute/quantized/quantized_lanes.h   vectors for those; quantized_loops_body.h
 *   compute/reduce/reduce.h             the reduction engine
 *   compute/reduce/reduce_ops.h         its accumulators
 *   compute/reduce/reduce_float32.h     those that read float32 as it is; reduce_float32_body.h
 *   compute/fft/fft.h                   Fourier transforms of any length; fft_plan.h, fft_lines_body.h
 *   compute/sort/sort.h                 sorting, selecting and searching in a line
 *   compute/lapack/lapack.h             LAPACK by element type
 *   compute/linalg/linalg.h             its routines for machines without it; linalg_real.h, linalg_workspace.h and
 *                                       linalg_number.h, then linalg_body.h with its parts: linalg_vector_body.h,
 *                                       linalg_product_body.h, linalg_lu_body.h, linalg_cholesky_body.h,
 *                                       linalg_ldl_body.h, linalg_qr_body.h, linalg_real_body.h,
 *                                       linalg_symmetric_body.h, linalg_svd_body.h, linalg_lstsq_body.h,
 *                                       linalg_hessenberg_body.h, linalg_schur_body.h, linalg_schur_real_body.h,
 *                                       linalg_schur_complex_body.h */
#pragma once
