/* Expansions of a sample: tensors of one element, repeated so often that nothing gets through them. One size of all
 * tensors, one dimension of one tensor, or all dimensions become long. Results that memory must hold are refused by its
 * budget; everything else must look at the time. */
#include "sample.h"

/* The first lets results of a few bytes an element be, the last nothing. */
static const int64_t lengths[] = {3000000, 1000000000, 1000000000000};
enum { LENGTHS = sizeof lengths / sizeof *lengths, MANY_ROWS = 20000 };

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
  return s->state == STATE_PLAIN || s->state == STATE_RECORDS;
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

static void expand(SampleCall *call, Expansions *e) {
  int64_t many_rows = MANY_ROWS;
  if (!has_tensor(call)) return;
  for (int64_t size = 1; size <= 5; size++)
    for (int i = 0; i < LENGTHS; i++)
      if (turn(e)) each_tensor(call, change_size, &(SizeChange){size, lengths[i]});
  if (turn(e)) each_tensor(call, change_all_sizes, &many_rows);
  each_tensor(call, change_one_dimension, e);
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
