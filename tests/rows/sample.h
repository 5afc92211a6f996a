/* Samples: what an argument of a call is made of, so that it can be changed, written down and made again.
 *
 *   sample.c  their text: parsing and printing
 *   make.c    values made of them
 *   guess.c   samples for a schema, and rows' own from samples.txt
 *   change.c  hostile changes of a sample, counted
 *   expand.c  expansions of a sample's tensors to lengths that no loop gets through, counted
 *   watch.c   what a call must leave alone
 *
 * Text: 3, -1.5, True, None, "text", 2j, cpu, generator, future, enum, [1, 2], (1, 2), {1: 2}, and tensors as
 * f32[2,3], i64[3]=1 (each element), f32[3,3]=definite (a fill), f32[2,3]/transposed (a layout or state). */
#pragma once

#include "../chance.h"
#include "checks.h"

typedef enum SampleKind {
  SAMPLE_NONE,
  SAMPLE_INT,
  SAMPLE_FLOAT,
  SAMPLE_BOOL,
  SAMPLE_COMPLEX,
  SAMPLE_TEXT,
  SAMPLE_DEVICE,
  SAMPLE_GENERATOR,
  SAMPLE_STORAGE,
  SAMPLE_FUTURE,
  SAMPLE_ENUM,
  SAMPLE_TENSOR,
  SAMPLE_LIST,
  SAMPLE_TUPLE,
  SAMPLE_DICT /* items: key, value, key, value */
} SampleKind;

#define FILLS(X)                                                         \
  X(SMALL, "small") /* positive, different; whole numbers are 1 and 2 */ \
  X(NUMBER, "")     /* all `number` */                                   \
  X(DEFINITE, "definite")                                                \
  X(LEAST, "least") /* of the dtype, or -inf */                          \
  X(GREATEST, "greatest")                                                \
  X(NAN, "nan")                                                          \
  X(NEGATIVE, "negative")                                                \
  X(ONE_WRONG, "one_wrong") /* zeros, and one 1000 at the end */         \
  X(NOISE, "noise")         /* any bits */                               \
  X(COUNT, "count")         /* 0, 1, 2, ... */
#define LAYOUTS(X)                                                         \
  X(DENSE, "dense")                                                        \
  X(TRANSPOSED, "transposed")                                              \
  X(GAPS, "gaps")               /* every second element, after one more */ \
  X(OVERLAPPING, "overlapping") /* all strides 1 */                        \
  X(EXPANDED, "expanded")       /* all strides 0: one element */           \
  X(EXPANDED_FIRST, "expanded_first")                                      \
  X(CHANNELS_LAST, "channels_last")
#define STATES(X)                                                                         \
  X(PLAIN, "plain")                                                                       \
  X(UNDEFINED, "undefined")                                                               \
  X(META, "meta")                                                                         \
  X(CONJUGATE, "conjugate")                                                               \
  X(NEGATED, "negated")                                                                   \
  X(WRAPPED, "wrapped")                                                                   \
  X(READ_ONLY, "read_only")                                                               \
  X(RECORDS, "records")                                                                   \
  X(OWN, "own")                 /* memory of wick's own, which resize_ can grow */        \
  X(SAME, "same")               /* the first tensor of the call */                        \
  X(SHIFTED, "shifted")         /* a view of the first tensor's memory, one element on */ \
  X(QUANTIZED, "quantized")     /* quint8, 0.1 * (q - 2) */                               \
  X(PER_CHANNEL, "per_channel") /* the same, by its first dimension */                    \
  X(NESTED, "nested")           /* of its first dimension's tensors */                    \
  X(SPARSE, "sparse")           /* COO, by all dimensions */                              \
  X(HYBRID, "hybrid")           /* COO, by the first dimension */                         \
  X(COMPRESSED, "compressed")   /* CSR */

#define X(name, text) FILL_##name,
typedef enum Fill { FILLS(X) FILL_KINDS } Fill;
#undef X
#define X(name, text) LAYOUT_##name,
typedef enum Layout { LAYOUTS(X) LAYOUT_KINDS } Layout;
#undef X
#define X(name, text) STATE_##name,
typedef enum State { STATES(X) STATE_KINDS } State;
#undef X

enum { SAMPLE_MAX_DIMS = 8, SAMPLE_MAX_ARGUMENTS = 40, SAMPLE_TEXT_LENGTH = 48 };

typedef struct Sample {
  SampleKind kind;
  int64_t number;
  double real; /* and the imaginary part of a complex number */
  char text[SAMPLE_TEXT_LENGTH];
  DType dtype;
  int ndim;
  int64_t sizes[SAMPLE_MAX_DIMS];
  Fill fill;
  Layout layout;
  State state;
  struct Sample *items;
  size_t count;
} Sample;

typedef struct SampleCall {
  const Operator *op;
  Sample arguments[SAMPLE_MAX_ARGUMENTS];
  uint32_t count;
} SampleCall;

/* Items lie in one pool, emptied at once. */
Sample *samples_take(size_t count);
size_t samples_mark(void);
void samples_reset(size_t mark);
Sample sample_copy(const Sample *sample);
void sample_call_copy(const SampleCall *call, SampleCall *out);

static inline Sample sample_int(int64_t number) {
  return (Sample){.kind = SAMPLE_INT, .number = number};
}
Sample sample_text(const char *text);
Sample sample_list(size_t count, const Sample *items);
Sample sample_tensor(DType dtype, int ndim, const int64_t *sizes);

/* ---- text ---- */
void sample_print(const Sample *sample, StrBuf *out);
void sample_call_print(const SampleCall *call, StrBuf *out);
bool sample_parse(Str *text, Sample *out); /* takes it off the front */

/* ---- make.c ---- */
typedef struct MadeCall {
  IValue inputs[SAMPLE_MAX_ARGUMENTS];
  uint32_t count;
  Tensor *first; /* borrowed: the first tensor made */
} MadeCall;
/* false: there is no such value (a stride that the storage does not hold, ...) */
bool sample_make_call(const SampleCall *call, MadeCall *out);
void made_call_release(MadeCall *made);

/* ---- guess.c ---- */
void samples_open(const char *path);
/* The row's own samples, if it has some; else, and for later attempts, from names and types. */
bool sample_guess(const Operator *op, int attempt, SampleCall *out);
int sample_own_attempts(const Operator *op);

/* ---- change.c ---- */
size_t changes_count(const SampleCall *call);
/* Makes change `which` of them in place. */
void change_make(SampleCall *call, size_t which);

/* ---- expand.c ---- */
size_t expansions_count(const SampleCall *call);
/* Makes expansion `which` of them in place. */
void expansion_make(SampleCall *call, size_t which);

/* ---- watch.c ---- */
typedef struct Watch Watch;
Watch *watch_begin(const Operator *op, const MadeCall *made);
/* Appends what the call should not have done. */
void watch_end(Watch *watch, const MadeCall *made, bool succeeded, const IValue *outputs, uint32_t output_count,
               StrBuf *complaints);
