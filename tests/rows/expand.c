/* Expansions of a sample: tensors of one element, repeated so often that nothing gets through them, and numbers that
 * nothing counts to. One size of all tensors, one dimension of one tensor, or all dimensions become long; one number or
 * all of a list become great, with tensors as they are or wide; everything grows by one factor, as windows with what
 * they are moved over, of quantized tensors, too. Results that memory must hold are refused by its budget; everything
 * else must look at the time. */
#include "sample.h"

#include "schema/schema.h"
#include "type/type.h"

/* The first lets results of a few bytes an element be, the last nothing. */
static const int64_t lengths[] = {3000000, 1000000000, 1000000000000};
static const int64_t numbers[] = {1000000000,       INT32_MAX,        (int64_t)1 << 31,
                                  (int64_t)1 << 40, (int64_t)1 << 53, (int64_t)1 << 62};
static const double reals[] = {1e9, 1e18, 1e-300};
static const int64_t elements[] = {1000000, 1000000000, (int64_t)1 << 40}; /* all of a tensor */
static const int64_t factors[] = {10, 30, 100, 500, 20000};
#define COUNT(array) (sizeof(array) / sizeof *(array))
enum { LENGTHS = COUNT(lengths), MANY_ROWS = 20000, WIDE = 100, MOST_DENSE = 1 << 16 };

typedef struct Expansions {
  size_t wanted, seen;
  bool made;
} Expansions;

static bool turn(Expansions *e) {
  if (e->made) return false;
  return e->made = e->seen++ == e->wanted;
}

typedef void TensorVisit(Sample *tensor, void *argument);
static void each_tensor_of(Sample *s, TensorVisit *visit, void *argument) {
  if (s->kind == SAMPLE_TENSOR) visit(s, argument);
  for (size_t i = 0; i < s->count; i++) each_tensor_of(&s->items[i], visit, argument);
}
static void each_tensor(SampleCall *call, TensorVisit *visit, void *argument) {
  for (uint32_t i = 0; i < call->count; i++) each_tensor_of(&call->arguments[i], visit, argument);
}

static bool can_expand(const Sample *s) {
  return s->state == STATE_PLAIN || s->state == STATE_RECORDS || s->state == STATE_QUANTIZED;
}
static void lengthen(Sample *s, int dim, int64_t length) {
  s->sizes[dim] = length;
  s->layout = LAYOUT_EXPANDED;
}

typedef struct SizeChange {
  int64_t from, to;
} SizeChange;
static void change_size(Sample *s, void *argument) {
  const SizeChange *change = argument;
  for (int d = 0; d < s->ndim && can_expand(s); d++)
    if (s->sizes[d] == change->from) lengthen(s, d, change->to);
}
static void change_all_sizes(Sample *s, void *argument) {
  for (int d = 0; d < s->ndim && can_expand(s); d++)
    if (s->sizes[d] > 1) lengthen(s, d, *(int64_t *)argument);
}
/* One dimension after the other. */
static void change_one_dimension(Sample *s, void *argument) {
  for (int d = 0; d < s->ndim && can_expand(s); d++)
    for (int i = 0; i < LENGTHS; i++)
      if (turn(argument)) lengthen(s, d, lengths[i]);
}

static bool has_tensor(SampleCall *call) {
  for (uint32_t i = 0; i < call->count; i++)
    if (call->arguments[i].kind == SAMPLE_TENSOR || call->arguments[i].kind == SAMPLE_LIST) return true;
  return false;
}

static void lengthen_tensors(SampleCall *call, Expansions *e) {
  int64_t many_rows = MANY_ROWS;
  for (int64_t size = 1; size <= 5; size++)
    for (int i = 0; i < LENGTHS; i++)
      if (turn(e)) each_tensor(call, change_size, &(SizeChange){size, lengths[i]});
  if (turn(e)) each_tensor(call, change_all_sizes, &many_rows);
  each_tensor(call, change_one_dimension, e);
}

/* ---- numbers ---- */

/* One after the other: an int where there is one or may be one, a float, all elements of a tensor. */
static void raise_numbers_of(Sample *s, const Type *type, Expansions *e) {
  bool is_optional = type && type->kind == TYPE_OPTIONAL;
  TypeKind kind = is_optional ? type->elements[0]->kind : TYPE_NONE;
  if (s->kind == SAMPLE_INT || (s->kind == SAMPLE_NONE && (kind == TYPE_INT || kind == TYPE_NUMBER)))
    for (size_t i = 0; i < COUNT(numbers); i++)
      if (turn(e)) *s = sample_int(numbers[i]);
  if (s->kind == SAMPLE_FLOAT)
    for (size_t i = 0; i < COUNT(reals); i++)
      if (turn(e)) s->real = reals[i];
  if (s->kind == SAMPLE_TENSOR && can_expand(s))
    for (size_t i = 0; i < COUNT(elements); i++)
      if (turn(e)) s->fill = FILL_NUMBER, s->number = elements[i];
  for (size_t i = 0; i < s->count; i++) raise_numbers_of(&s->items[i], NULL, e);
}
static void raise_list(Sample *s, Expansions *e) {
  if (s->kind != SAMPLE_LIST || s->count < 2 || s->items[0].kind != SAMPLE_INT) return;
  for (size_t i = 0; i < COUNT(numbers); i++)
    if (turn(e))
      for (size_t k = 0; k < s->count; k++) s->items[k].number = numbers[i];
}
static void raise_numbers(SampleCall *call, Expansions *e) {
  const FunctionSchema *schema = operator_schema(call->op);
  for (uint32_t i = 0; i < call->count; i++) {
    raise_numbers_of(&call->arguments[i], i < schema->argument_count ? schema->arguments[i].type : NULL, e);
    raise_list(&call->arguments[i], e);
  }
}
/* Elements that lie apart, where there may be so many, since one that is repeated may be computed once. */
static void widen(Sample *s, void *unused) {
  (void)unused;
  int64_t count = 1;
  for (int d = 0; d < s->ndim && can_expand(s); d++)
    if (s->sizes[d] > 1) lengthen(s, d, WIDE);
  for (int d = 0; d < s->ndim && count <= MOST_DENSE; d++) count *= s->sizes[d];
  if (count <= MOST_DENSE && can_expand(s)) s->layout = LAYOUT_DENSE;
}
static void raise_numbers_over_wide(SampleCall *call, Expansions *e) {
  bool was_made = e->made;
  raise_numbers(call, e);
  if (e->made != was_made) each_tensor(call, widen, NULL);
}
static void raise_elements(Sample *s, void *argument) {
  if (can_expand(s)) s->fill = FILL_NUMBER, s->number = *(int64_t *)argument;
}
/* Of all tensors at once. */
static void raise_all_elements(SampleCall *call, Expansions *e) {
  for (size_t i = 0; i < COUNT(elements); i++) {
    int64_t element = elements[i];
    if (!turn(e)) continue;
    each_tensor(call, raise_elements, &element);
    each_tensor(call, widen, NULL);
  }
}

/* ---- everything ---- */

typedef struct Growth {
  int64_t factor;
  int first; /* of the dimensions that grow */
} Growth;
static void grow_sizes(Sample *s, void *argument) {
  const Growth *growth = argument;
  for (int d = growth->first; d < s->ndim && can_expand(s); d++)
    if (s->sizes[d] > 1) lengthen(s, d, s->sizes[d] * growth->factor);
}
static void grow_numbers(Sample *s, int64_t factor) {
  if (s->kind == SAMPLE_INT && s->number > 1) s->number *= factor;
  for (size_t i = 0; i < s->count; i++) grow_numbers(&s->items[i], factor);
}
static void quantize(Sample *s, void *unused) {
  (void)unused;
  if (s->state == STATE_PLAIN && s->dtype == DTYPE_FLOAT32) s->state = STATE_QUANTIZED;
}
/* All dimensions, or those that follow a batch and channels. */
static void grow(SampleCall *call, Expansions *e) {
  for (size_t i = 0; i < 4 * COUNT(factors); i++) {
    Growth growth = {.factor = factors[i / 4], .first = i % 4 < 2 ? 0 : 2};
    if (!turn(e)) continue;
    if (i % 2) each_tensor(call, quantize, NULL);
    each_tensor(call, grow_sizes, &growth);
    for (uint32_t k = 0; k < call->count; k++) grow_numbers(&call->arguments[k], growth.factor);
  }
}

static void expand(SampleCall *call, Expansions *e) {
  if (has_tensor(call)) lengthen_tensors(call, e);
  raise_numbers(call, e);
  if (has_tensor(call)) raise_numbers_over_wide(call, e);
  if (has_tensor(call)) raise_all_elements(call, e);
  grow(call, e);
}

size_t expansions_count(const SampleCall *call) {
  Expansions e = {.wanted = SIZE_MAX};
  size_t mark = samples_mark();
  SampleCall copy;
  sample_call_copy(call, &copy);
  expand(&copy, &e);
  samples_reset(mark);
  return e.seen;
}
void expansion_make(SampleCall *call, size_t which) {
  Expansions e = {.wanted = which};
  expand(call, &e);
}
