/* Kernel IR as text of a C for devices. The renderer knows what operations compute and how elements are found; a
 * dialect knows how the language calls things; neither knows how memory is had or kernels are launched.
 *
 * A kernel computes RENDER_EACH elements for each thread of a group of RENDER_GROUP, one group's apart, so that what
 * neighbors read lies side by side. Its parameters, in order:
 *
 *   n                      how many elements, a `place`
 *   a0, a1, ...            what the kernel reads: an element's address, or a number (f64 or i64)
 *   r0, ...                where results go
 *   l                      where operands are strided: sizes[rank], strides[strided operands][rank], all `place`
 *
 * One with operations over lines, the elements along the last dimension, computes a line for each RENDER_LANES threads
 * (defined before it: 1, 32 or all of the group). It goes over the line once for each number that an operation needs of
 * it, and once more to store. Dimensions before the last are RENDER_OUTER (defined, too) for all operands:
 *
 *   n, length              how many lines, and of how many elements
 *   a0, ..., r0, ...       as above
 *   l                      sizes[RENDER_OUTER + 1], strides[operands][RENDER_OUTER + 1], along[operands]: the strides
 *                          along the line. An output that does not move along it gets a line's first element.     */
#ifndef RENDER_H
#define RENDER_H

#include <stdint.h>

#include "render/text.h"
#include "wick/backend.h"

enum { RENDER_GROUP = 256, RENDER_EACH = 4, RENDER_MAX_RANK = 8, RENDER_MAX_OPERANDS = 48 };

/* Formats have %s for a name or a type. */
typedef struct Dialect {
  const char *name;
  const char *prelude;  /* types u8 to f64, bits and floats as each other; what the language names otherwise */
  const char *function; /* before a function of the prelude's */
  const char *entry;    /* a kernel's head: its name */
  const char *pointer;  /* to elements: const or nothing, their type */
  const char *first;    /* the number of a thread's first element, with RENDER_GROUP and RENDER_EACH: %d, %d */
  const char *unroll;   /* before a loop */
} Dialect;
extern const Dialect dialect_cuda;

/* How the operands of a kernel are found. */
typedef struct RenderLayout {
  uint32_t strided_count;
  bool has_lines;
  int8_t slots[RENDER_MAX_OPERANDS]; /* of arguments, then outputs: row of `strides`; RENDER_LINEAR, RENDER_FIRST */
} RenderLayout;
enum { RENDER_LINEAR = -1 /* element i of it is i from its start */, RENDER_FIRST = -2 /* one for all; or none */ };
void render_layout(const wick_kernel_ir *kernel, RenderLayout *out);

/* Whether all of the kernel has a text. */
bool render_knows(const wick_kernel_ir *kernel);
/* What kernels of a text stand on: once before them. */
void render_prelude(const Dialect *dialect, int index_bits, Text *out);
void render_kernel(const Dialect *dialect, const wick_kernel_ir *kernel, const char *name, Text *out);

/* For texts that are written by hand: elements of a dtype as the type `name`, NAME_load(x) of one as a value of the
 * type (WICK_KERNEL_...), NAME_store(x) of such a value as an element. False: there are no such elements. */
bool render_dtype(const char *name, uint32_t dtype, uint32_t type, Text *out);
const char *render_type(uint32_t type); /* "f32" */

/* An operation's expression in a type, with $a, $b and $c for its operands; NULL: there is none. */
const char *render_operation(const wick_kernel_operation *operation);
/* Functions that expressions call. */
extern const char *const render_functions;

#endif
