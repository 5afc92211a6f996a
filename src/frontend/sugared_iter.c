/* What for loops go over that is no Value: ranges, zip and enumerate, reversed, tuples of SugaredValues, slices. */
#include "frontend/emitter.h"
#include "frontend/suggest.h"

/* ---- tuples of sugared values: unrolled ---- */

typedef struct SugaredTuple {
  SugaredValue base;
  uint32_t count;
  SugaredValue **values;
} SugaredTuple;

static Value *tuple_as_value(SugaredValue *self, Emitter *e, SourceRange range) {
  const SugaredTuple *tuple = (const SugaredTuple *)self;
  Value **values = ARENA_ARRAY(e->arena, Value *, tuple->count + 1);
  for (uint32_t i = 0; i < tuple->count; i++) values[i] = sugared_as_value(tuple->values[i], e, range);
  return emit_tuple(e, range, tuple->count, values);
}
static Value *tuple_len(SugaredValue *self, Emitter *e, SourceRange range) {
  return emit_int(e, range, ((SugaredTuple *)self)->count);
}
static int64_t tuple_static_length(SugaredValue *self, Emitter *e) {
  (void)e;
  return ((SugaredTuple *)self)->count;
}
static SugaredValue *tuple_get_item(SugaredValue *self, Emitter *e, SourceRange range, Value *index, const Type *hint) {
  (void)hint;
  const SugaredTuple *tuple = (const SugaredTuple *)self;
  IValue constant;
  if (!value_is_constant(index, &constant) || constant.tag != TAG_INT)
    compilation_fail(e->c, range, "Expected integer literal for index: a compile-time constant is needed here");
  int64_t at = constant.i < 0 ? constant.i + tuple->count : constant.i;
  if (at < 0 || at >= tuple->count)
    compilation_fail(e->c, range, "Index %lld out of range of length %u", (long long)constant.i, tuple->count);
  return tuple->values[at];
}
static SugaredValue **tuple_elements(SugaredValue *self, Emitter *e, SourceRange range, uint32_t binders,
                                     uint32_t *out_count) {
  (void)e, (void)range, (void)binders;
  *out_count = ((SugaredTuple *)self)->count;
  return ((SugaredTuple *)self)->values;
}

const SugaredKind SUGARED_TUPLE = {.name = "Tuple",
                                   .as_value = tuple_as_value,
                                   .len = tuple_len,
                                   .static_length = tuple_static_length,
                                   .get_item = tuple_get_item,
                                   .elements = tuple_elements};

SugaredValue *sugared_tuple(Compilation *c, uint32_t count, SugaredValue **values) {
  SugaredTuple *tuple = ARENA_NEW(&c->scratch, SugaredTuple);
  tuple->base.kind = &SUGARED_TUPLE;
  tuple->count = count;
  tuple->values = ARENA_ARRAY(&c->scratch, SugaredValue *, count + 1);
  if (count) memcpy(tuple->values, values, count * sizeof *values);
  return &tuple->base;
}

/* ---- range ---- */

typedef struct SugaredRange {
  SugaredValue base;
  Value *start, *stop, *step;
  bool only_stop;
  int64_t static_length;
} SugaredRange;

static Value *range_len(SugaredValue *self, Emitter *e, SourceRange range) {
  const SugaredRange *r = (const SugaredRange *)self;
  if (r->only_stop) return r->stop;
  Value *inputs[3] = {r->start, r->stop, r->step};
  return emit_builtin(e, range, SYM_aten___range_length, 3, inputs);
}
static SugaredValue *range_get_item(SugaredValue *self, Emitter *e, SourceRange range, Value *index, const Type *hint) {
  (void)hint;
  const SugaredRange *r = (const SugaredRange *)self;
  if (r->only_stop) return sugared_value(e->c, index);
  Value *inputs[3] = {index, r->start, r->step};
  return sugared_value(e->c, emit_builtin(e, range, SYM_aten___derive_index, 3, inputs));
}
static int64_t range_static_length(SugaredValue *self, Emitter *e) {
  (void)e;
  return ((SugaredRange *)self)->static_length;
}

const SugaredKind SUGARED_RANGE = {
    .name = "range", .len = range_len, .get_item = range_get_item, .static_length = range_static_length};

SugaredValue *sugared_range(Emitter *e, SourceRange range, uint32_t count, Value **inputs, int64_t static_length) {
  for (uint32_t i = 0; i < count; i++) {
    if (inputs[i]->type->kind != TYPE_INT)
      compilation_fail(e->c, range, "all inputs of range must be ints, found %s in argument %u%s",
                       type_text(e->c, inputs[i]->type), i, suggest_annotation(e, inputs[i]));
  }
  if (!count) compilation_fail(e->c, range, "range expected at least 1 arguments, got 0");
  if (count > 3) compilation_fail(e->c, range, "range expected at most 3 arguments, got %u", count);
  SugaredRange *r = ARENA_NEW(e->arena, SugaredRange);
  r->base.kind = &SUGARED_RANGE;
  r->static_length = static_length;
  r->only_stop = count == 1;
  if (count == 1) {
    r->stop = inputs[0];
  } else {
    r->start = inputs[0];
    r->stop = inputs[1];
    r->step = count == 3 ? inputs[2] : emit_int(e, range, 1);
  }
  return &r->base;
}

/* ---- several in step ---- */

typedef struct SugaredIterable {
  SugaredValue base;
  uint32_t count;
  SugaredValue **children;
  int64_t static_length; /* -1: a loop */
} SugaredIterable;

typedef struct Lengths {
  VEC(Value *) values;
} Lengths;

/* Of everything that is gone over, also within nested ones. */
static void gather_lengths(const SugaredIterable *tree, Emitter *e, SourceRange range, Lengths *lengths) {
  for (uint32_t i = 0; i < tree->count; i++) {
    if (tree->children[i]->kind == &SUGARED_ITERABLE)
      gather_lengths((const SugaredIterable *)tree->children[i], e, range, lengths);
    else
      vec_arena_push(e->arena, &lengths->values, sugared_len(tree->children[i], e, range));
  }
}

static Value *iterable_len(SugaredValue *self, Emitter *e, SourceRange range) {
  Lengths gathered = {0};
  gather_lengths((const SugaredIterable *)self, e, range, &gathered);
  Value *list = emit_list(e, range, TYPE(INT), (uint32_t)gathered.values.length, gathered.values.data);
  return emit_builtin(e, range, SYM_prim_min, 1, &list);
}
static int64_t iterable_static_length(SugaredValue *self, Emitter *e) {
  (void)e;
  return ((SugaredIterable *)self)->static_length;
}
static SugaredValue *iterable_get_item(SugaredValue *self, Emitter *e, SourceRange range, Value *index,
                                       const Type *hint) {
  const SugaredIterable *tree = (const SugaredIterable *)self;
  SugaredValue **items = ARENA_ARRAY(e->arena, SugaredValue *, tree->count);
  for (uint32_t i = 0; i < tree->count; i++) items[i] = sugared_get_item(tree->children[i], e, range, index, hint);
  return sugared_tuple(e->c, tree->count, items);
}
static SugaredValue **iterable_elements(SugaredValue *self, Emitter *e, SourceRange range, uint32_t binders,
                                        uint32_t *out_count) {
  (void)binders;
  const SugaredIterable *tree = (const SugaredIterable *)self;
  if (tree->static_length < 0)
    compilation_fail(e->c, range, "%s cannot be used as a tuple: its length is not known when the program is compiled",
                     self->kind->name);
  SugaredValue **items = ARENA_ARRAY(e->arena, SugaredValue *, tree->static_length + 1);
  for (int64_t i = 0; i < tree->static_length; i++)
    items[i] = iterable_get_item(self, e, range, emit_int(e, range, i), NULL);
  *out_count = (uint32_t)tree->static_length;
  return items;
}

const SugaredKind SUGARED_ITERABLE = {.name = "iterabletree",
                                      .len = iterable_len,
                                      .static_length = iterable_static_length,
                                      .get_item = iterable_get_item,
                                      .elements = iterable_elements};

SugaredValue *sugared_iterable(Emitter *e, SourceRange range, uint32_t count, SugaredValue **children) {
  SugaredIterable *tree = ARENA_NEW(e->arena, SugaredIterable);
  tree->base.kind = &SUGARED_ITERABLE;
  tree->count = count;
  tree->children = ARENA_ARRAY(e->arena, SugaredValue *, count);
  memcpy(tree->children, children, count * sizeof *children);
  tree->static_length = -1;
  for (uint32_t i = 0; i < count; i++) {
    int64_t length = sugared_static_length(children[i], e);
    if (i && (length < 0) != (tree->static_length < 0))
      compilation_fail(e->c, range,
                       "Can not iterate over a module list or tuple with a value that does not have a static length");
    if (i == 0 || length < tree->static_length) tree->static_length = length;
  }
  return &tree->base;
}

/* ---- backwards ---- */

typedef struct SugaredReversed {
  SugaredValue base;
  SugaredValue *inner;
  Value *last; /* index of the last element */
} SugaredReversed;

static Value *reversed_len(SugaredValue *self, Emitter *e, SourceRange range) {
  return sugared_len(((SugaredReversed *)self)->inner, e, range);
}
static SugaredValue *reversed_get_item(SugaredValue *self, Emitter *e, SourceRange range, Value *index,
                                       const Type *hint) {
  const SugaredReversed *r = (const SugaredReversed *)self;
  Value *inputs[2] = {r->last, index};
  return sugared_get_item(r->inner, e, range, emit_builtin(e, range, SYM_aten_sub, 2, inputs), hint);
}
static const SugaredKind SUGARED_REVERSED = {.name = "reversed", .len = reversed_len, .get_item = reversed_get_item};

SugaredValue *sugared_reversed(Emitter *e, SourceRange range, SugaredValue *iterable) {
  if (sugared_static_length(iterable, e) >= 0) {
    uint32_t count;
    SugaredValue **forward = sugared_elements(iterable, e, range, 0, &count),
                 **backward = ARENA_ARRAY(e->arena, SugaredValue *, count + 1);
    for (uint32_t i = 0; i < count; i++) backward[i] = forward[count - 1 - i];
    return sugared_tuple(e->c, count, backward);
  }
  SugaredReversed *r = ARENA_NEW(e->arena, SugaredReversed);
  r->base.kind = &SUGARED_REVERSED;
  r->inner = iterable;
  Value *inputs[2] = {sugared_len(iterable, e, range), emit_int(e, range, 1)};
  r->last = emit_builtin(e, range, SYM_aten_sub, 2, inputs);
  return &r->base;
}

const SugaredKind SUGARED_SLICE = {.name = "slice"};
