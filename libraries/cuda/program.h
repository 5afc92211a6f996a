/* Program: a rendered kernel as code for cards, compiled when it is first launched on one. Counts of elements and
 * places that 32 bits can hold have code of their own. */
#ifndef CUDA_PROGRAM_H
#define CUDA_PROGRAM_H

#include "cuda/card.h"
#include "render/render.h"

typedef struct Program Program;
/* Compiles for the card that is open first, or device 0, so that mistakes show. */
wick_status program_new(const wick_kernel_ir *kernel, Program **out, wick_error **error);
void program_free(Program *program);
size_t program_bytes(const Program *program);
/* For outputs of one size on one card, or of one size but for lines; arguments as wick/backend.h has them. */
wick_status program_run(Program *program, const wick_kernel_argument *arguments, const wick_tensor_view *outputs,
                        wick_error **error);

#endif
