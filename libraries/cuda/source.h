/* Source: the text of a kernel that is written by hand, compiled for dtypes and numbers that a use of it names.
 *
 * The text finds: `place`, the type of counts and indices; A, B, C, the types of elements, with A_load(x) and
 * A_store(x) between an element and `value`, which computes; N0 to N3, numbers. Its kernel is `wick_kernel`, of GROUP
 * threads. */
#ifndef CUDA_SOURCE_H
#define CUDA_SOURCE_H

#include "cuda/code.h"

enum { SOURCE_DTYPES = 3, SOURCE_NUMBERS = 4, SOURCE_NO_DTYPE = 31 };
typedef struct Source {
  const char *text;
  Codes codes;
} Source;
void source_write(const void *source, uint64_t variant, Text *out);
#define SOURCE(words) \
  { .text = (words), .codes = CODES(source_write) }

typedef struct SourceUse {
  uint8_t dtypes[SOURCE_DTYPES];   /* of A, B, C: WICK_FLOAT32 ..., or SOURCE_NO_DTYPE */
  uint8_t type;                    /* of `value`: WICK_KERNEL_... */
  bool is_wide;                    /* places have 64 bits */
  uint8_t numbers[SOURCE_NUMBERS]; /* N0 ... */
} SourceUse;
/* On `threads` threads; parameters are addresses of the kernel's. */
wick_status source_launch(Source *source, const SourceUse *use, const Card *card, int64_t threads, void **parameters,
                          wick_error **error);
/* The type that computes for a dtype: halves in float32. */
uint8_t source_type_of(uint32_t dtype);
/* An integer's dtype of that size, for elements that are moved as they are. */
uint8_t source_raw_dtype(size_t bytes);

#endif
