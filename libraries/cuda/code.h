/* Codes: kernels of one text as code for cards, compiled when they are first asked for, by variants of the text. */
#ifndef CUDA_CODE_H
#define CUDA_CODE_H

#include <stdatomic.h>

#include "cuda/card.h"
#include "render/text.h"

/* The text of a kernel `wick_kernel` in a variant. */
typedef void WriteText(const void *of, uint64_t variant, Text *out);
typedef struct Code Code;
typedef struct Codes {
  WriteText *write;
  pthread_mutex_t lock; /* compiling */
  _Atomic(Code *) first;
  atomic_size_t bytes;
} Codes;
#define CODES(writes) \
  { .write = (writes), .lock = PTHREAD_MUTEX_INITIALIZER }

/* Of what is given to `write`, for a card. */
wick_status code_for(Codes *codes, const Card *card, const void *of, uint64_t variant, CUfunction *out,
                     wick_error **error);
void codes_dispose(Codes *codes);
/* So many groups of RENDER_GROUP threads. */
wick_status code_launch(const Card *card, CUfunction function, int64_t groups, void **parameters, wick_error **error);

#endif
