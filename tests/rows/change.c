/* Hostile changes: each makes one argument, or one part of it, something that the row may not expect. They are counted,
 * so that all can be made, or every n-th. */
#include "sample.h"

#include <math.h>

#include "schema/schema.h"
#include "type/type.h"

typedef struct Changes {
  size_t wanted, seen;
  bool made;
} Changes;

/* Whether the next change is the one to make; afterwards none is. */
static bool turn(Changes *c) {
  if (c->made) return false;
  return c->made = c->seen++ == c->wanted;
}

/* ---- numbers ---- */
static const int64_t hostile_numbers[] = {0,
                                          1,
                                          -1,
                                          2,
                                          -2,
                                          3,
                                          5,
                                          7,
                                          12,
                                          -7,
                                          100,
                                          1000,
                                          INT8_MAX,
                                          65536,
                                          INT32_MAX,
                                          INT32_MIN,
                                          (int64_t)1 << 31,
                                          (int64_t)1 << 32,
                                          ((int64_t)1 << 32) + 1,
                                          (int64_t)1 << 40,
                                          (int64_t)1 << 53,
                                          (int64_t)1 << 62,
                                          INT64_MAX,
                                          INT64_MAX - 1,
                                          INT64_MIN,
                                          INT64_MIN + 1,
                                          -((int64_t)1 << 40)};
static const double hostile_reals[] = {0,    -0.0, 1,     -1,     0.5, 2,        -3.5,      1e-300, 5e-324,
                                       1e38, 1e39, 1e300, -1e300, NAN, INFINITY, -INFINITY, 9.3e18, -9.3e18};
#define COUNT(array) (sizeof(array) / sizeof *(array))

static void change_number(Sample *s, Changes *c) {
  for (size_t i = 0; i < COUNT(hostile_numbers); i++)
    if (turn(c)) s->number = hostile_numbers[i];
}
static void change_real(Sample *s, Changes *c) {
  for (size_t i = 0; i < COUNT(hostile_reals); i++)
    if (turn(c)) s->real = hostile_reals[i];
}
/* An int or float where any number may stand. */
static void change_scalar(Sample *s, Changes *c) {
  static const int64_t whole[] = {0, 1, -1, 256, INT64_MAX, INT64_MIN};
  for (size_t i = 0; i < COUNT(whole); i++)
    if (turn(c)) *s = sample_int(whole[i]);
  for (size_t i = 0; i < COUNT(hostile_reals); i++)
    if (turn(c)) *s = (Sample){.kind = SAMPLE_FLOAT, .real = hostile_reals[i]};
  if (turn(c)) *s = (Sample){.kind = SAMPLE_BOOL, .number = 1};
  if (turn(c)) *s = (Sample){.kind = SAMPLE_COMPLEX, .real = 2};
  if (turn(c)) *s = (Sample){.kind = SAMPLE_COMPLEX, .real = NAN};
}
static void change_text(Sample *s, Changes *c) {
  static const char *const texts[] = {
      "",      "a",    "none",     "mean",    "sum",       "constant", "reflect",     "circular", "replicate", "fro",
      "nuc",   "ij",   "xy",       "ortho",   "forward",   "tanh",     "trunc",       "floor",    "max",       "linear",
      "valid", "same", "\xff\xfe", "%s%n{}{", "ij,jk->ik", "ii->i",    "...i,i...->", "left"};
  for (size_t i = 0; i < COUNT(texts); i++)
    if (turn(c)) *s = sample_text(texts[i]);
}

/* ---- tensors ---- */
static void insert_size(Sample *s, int at, int64_t size) {
  if (s->ndim == SAMPLE_MAX_DIMS) return;
  memmove(&s->sizes[at + 1], &s->sizes[at], (size_t)(s->ndim - at) * sizeof *s->sizes);
  s->sizes[at] = size;
  s->ndim++;
}
static void remove_size(Sample *s, int at) {
  s->ndim--;
  memmove(&s->sizes[at], &s->sizes[at + 1], (size_t)(s->ndim - at) * sizeof *s->sizes);
}
static void change_rank(Sample *s, Changes *c) {
  if (s->ndim) {
    if (turn(c)) remove_size(s, 0);
    if (turn(c)) remove_size(s, s->ndim - 1);
    if (turn(c)) s->ndim = 0;
  }
  if (turn(c)) insert_size(s, 0, 1);
  if (turn(c)) insert_size(s, 0, 3);
  if (turn(c)) insert_size(s, s->ndim, 1);
  if (turn(c)) insert_size(s, s->ndim, 2);
  if (turn(c))
    while (s->ndim < SAMPLE_MAX_DIMS) insert_size(s, 0, 1);
}
static void change_sizes(Sample *s, Changes *c) {
  for (int d = 0; d < s->ndim; d++) {
    if (turn(c)) s->sizes[d] = 0;
    if (turn(c)) s->sizes[d] = 1;
    if (s->sizes[d] > 1000) continue; /* a change made it so */
    if (turn(c)) s->sizes[d]++;
    if (turn(c) && s->sizes[d]) s->sizes[d]--;
    if (turn(c)) s->sizes[d] = 2 * s->sizes[d] + 5;
  }
  if (turn(c))
    for (int d = 0; d < s->ndim; d++) s->sizes[d] = 0;
  if (turn(c)) *s = sample_tensor(s->dtype, 0, NULL);
}
/* No elements, and a dimension that nobody should walk. */
static void change_to_endless(Sample *s, Changes *c) {
  const int64_t many = 1000000000000000000;
  for (int d = 0; d < s->ndim; d++) {
    if (!turn(c)) continue;
    for (int k = 0; k < s->ndim; k++)
      if (k != d) s->sizes[k] = 0;
    s->sizes[d] = many;
    if (s->ndim == 1) insert_size(s, 1, 0);
  }
  if (s->ndim >= 2) {
    if (turn(c)) s->sizes[0] = many, s->sizes[s->ndim - 1] = 0;
    if (turn(c)) s->sizes[0] = 0, s->sizes[s->ndim - 1] = many;
    if (turn(c)) s->sizes[0] = s->sizes[1] = (int64_t)1 << 31, s->layout = LAYOUT_EXPANDED;
  }
  if (s->ndim && turn(c)) s->sizes[0] = (int64_t)1 << 40, s->layout = LAYOUT_EXPANDED_FIRST;
  if (s->ndim && turn(c))
    s->sizes[s->ndim - 1] = INT64_MAX, s->sizes[0] = s->ndim > 1 ? 1 : INT64_MAX, s->layout = LAYOUT_EXPANDED;
}
static void change_tensor(Sample *s, Changes *c) {
  static const DType dtypes[] = {DTYPE_UINT8,     DTYPE_INT8,       DTYPE_INT16,   DTYPE_INT32,
                                 DTYPE_INT64,     DTYPE_FLOAT16,    DTYPE_FLOAT32, DTYPE_FLOAT64,
                                 DTYPE_COMPLEX64, DTYPE_COMPLEX128, DTYPE_BOOL,    DTYPE_BFLOAT16};
  for (size_t i = 0; i < COUNT(dtypes); i++)
    if (dtypes[i] != s->dtype && turn(c)) s->dtype = dtypes[i];
  change_rank(s, c);
  change_sizes(s, c);
  change_to_endless(s, c);
  for (int layout = LAYOUT_DENSE + 1; layout < LAYOUT_KINDS; layout++)
    if (turn(c)) s->layout = (Layout)layout;
  for (int fill = 0; fill < FILL_KINDS; fill++)
    if (fill != FILL_NUMBER && turn(c)) s->fill = (Fill)fill;
  for (int k = -1; k <= 1; k++)
    if (turn(c)) s->fill = FILL_NUMBER, s->number = k;
  for (int state = 1; state < STATE_KINDS; state++)
    if (turn(c)) s->state = (State)state;
  if (turn(c)) s->state = STATE_CONJUGATE, s->dtype = DTYPE_COMPLEX64;
}

/* ---- any sample ---- */
static void change(Sample *s, const Type *type, Changes *c);

static Sample item_like(const Sample *list, const Type *element) {
  if (list->count) return sample_copy(&list->items[list->count - 1]);
  if (element->kind == TYPE_OPTIONAL) element = element->elements[0];
  switch (element->kind) {
    case TYPE_TENSOR:
      return sample_tensor(DTYPE_FLOAT32, 2, (const int64_t[]){2, 3});
    case TYPE_FLOAT:
      return (Sample){.kind = SAMPLE_FLOAT, .real = 1};
    case TYPE_STRING:
      return sample_text("a");
    case TYPE_BOOL:
      return (Sample){.kind = SAMPLE_BOOL};
    case TYPE_COMPLEX:
      return (Sample){.kind = SAMPLE_COMPLEX, .real = 1};
    default:
      return sample_int(1);
  }
}
static void change_length(Sample *s, const Type *element, Changes *c) {
  if (s->count) {
    if (turn(c)) s->count = 0;
    if (turn(c)) s->count--;
    if (turn(c)) s->items++, s->count--;
  }
  for (int more = 1; more <= 40; more += 13)
    if (turn(c)) {
      Sample longer[64], item = item_like(s, element);
      size_t count = s->count < 20 ? s->count : 20;
      memcpy(longer, s->items, count * sizeof *longer);
      for (int k = 0; k < more; k++) longer[count++] = item;
      *s = sample_list(count, longer);
    }
}
static void change_list(Sample *s, const Type *type, Changes *c) {
  const Type *element = type->kind == TYPE_LIST ? type->elements[0] : TYPE(ANY);
  if (element->kind != TYPE_VAR) change_length(s, element, c);
  for (size_t i = 0; i < s->count; i++) change(&s->items[i], element, c);
}
static Sample present(const Type *type) {
  Sample s = {.kind = SAMPLE_NONE};
  switch (type->kind) {
    case TYPE_LIST:
      s = sample_list(0, NULL);
      Sample item = item_like(&s, type->elements[0]);
      return sample_list(1, &item);
    case TYPE_TENSOR:
    case TYPE_FLOAT:
    case TYPE_INT:
    case TYPE_BOOL:
    case TYPE_STRING:
      s = (Sample){.kind = SAMPLE_LIST};
      return item_like(&s, type);
    case TYPE_NUMBER:
      return sample_int(1);
    case TYPE_GENERATOR:
      return (Sample){.kind = SAMPLE_GENERATOR};
    default:
      return s;
  }
}
static void change_optional(Sample *s, const Type *inner, Changes *c) {
  if (s->kind == SAMPLE_NONE) {
    Sample value = present(inner);
    if (value.kind == SAMPLE_NONE) return;
    if (turn(c)) *s = value;
    if (c->made) return;
    /* the changes of what could be there */
    change(&value, inner, c);
    if (c->made) *s = value;
    return;
  }
  if (turn(c)) s->kind = SAMPLE_NONE;
  change(s, inner, c);
}
static void change(Sample *s, const Type *type, Changes *c) {
  if (c->made) return;
  if (type->kind == TYPE_OPTIONAL) {
    change_optional(s, type->elements[0], c);
    return;
  }
  switch (s->kind) {
    case SAMPLE_INT:
      if (type->kind == TYPE_NUMBER)
        change_scalar(s, c);
      else
        change_number(s, c);
      break;
    case SAMPLE_FLOAT:
      if (type->kind == TYPE_NUMBER)
        change_scalar(s, c);
      else
        change_real(s, c);
      break;
    case SAMPLE_COMPLEX:
      change_real(s, c);
      break;
    case SAMPLE_BOOL:
      if (turn(c)) s->number = !s->number;
      break;
    case SAMPLE_TEXT:
      change_text(s, c);
      break;
    case SAMPLE_DEVICE:
      if (turn(c)) *s = (Sample){.kind = SAMPLE_DEVICE, .text = "meta"};
      if (turn(c)) *s = (Sample){.kind = SAMPLE_DEVICE, .text = "cuda:7"};
      break;
    case SAMPLE_TENSOR:
      change_tensor(s, c);
      break;
    case SAMPLE_LIST:
      change_list(s, type, c);
      break;
    case SAMPLE_TUPLE:
    case SAMPLE_DICT:
      for (size_t i = 0; i < s->count; i++) change(&s->items[i], TYPE(ANY), c);
      break;
    default:
      break;
  }
}

static void change_call(SampleCall *call, Changes *c) {
  const FunctionSchema *schema = operator_schema(call->op);
  for (uint32_t i = 0; i < call->count; i++)
    change(&call->arguments[i], i < schema->argument_count ? schema->arguments[i].type : TYPE(ANY), c);
}

size_t changes_count(const SampleCall *call) {
  Changes c = {.wanted = SIZE_MAX};
  size_t mark = samples_mark();
  SampleCall copy;
  sample_call_copy(call, &copy);
  change_call(&copy, &c);
  samples_reset(mark);
  return c.seen;
}
void change_make(SampleCall *call, size_t which) {
  Changes c = {.wanted = which};
  change_call(call, &c);
}
