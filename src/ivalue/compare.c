/* Equality, identity and hashes. Equality walks an explicit list of pairs and remembers the pairs of containers it has
 * seen, so that shared and cyclic structure ends. */
#include "base/vec.h"
#include "ivalue/lock.h"
#include "ivalue/print.h"
#include "type/pair_map.h"

typedef struct Pair {
  IValue a, b; /* borrowed */
} Pair;
typedef struct Comparison {
  VEC(Pair) pending;
  PairMap seen;
  VEC(IValue) held; /* copies of shared containers, whose members are in `pending` */
  bool comparable;
} Comparison;

bool ivalue_is(IValue a, IValue b) {
  if (a.tag != b.tag) return false;
  switch (a.tag) {
    case TAG_NONE:
      return true;
    case TAG_BOOL:
      return a.b == b.b;
    case TAG_INT:
      return a.i == b.i;
    case TAG_FLOAT:
      return a.f == b.f;
    case TAG_DEVICE:
      return device_equal(a.device, b.device);
    case TAG_ENUM:
      return a.enum_value->type == b.enum_value->type && a.enum_value->index == b.enum_value->index;
    case TAG_COMPLEX:
      return a.complex->value == b.complex->value;
    default:
      return a.counted == b.counted;
  }
}

static bool numbers_equal(IValue a, IValue b) {
  if (a.tag == TAG_COMPLEX || b.tag == TAG_COMPLEX) return ivalue_to_complex(a) == ivalue_to_complex(b);
  if (a.tag == TAG_FLOAT || b.tag == TAG_FLOAT) return ivalue_to_double(a) == ivalue_to_double(b);
  return ivalue_to_int(a) == ivalue_to_int(b);
}

static Status later(Comparison *c, IValue a, IValue b) {
  Pair pair = {a, b};
  return vec_push(&c->pending, pair) ? OK : status_out_of_memory();
}

/* In place of a container, one that other threads do not change. */
static Status hold(Comparison *c, IValue *v) {
  bool shared = v->tag == TAG_LIST ? list_may_change(v->list) : v->tag == TAG_DICT && dict_may_change(v->dict);
  if (!shared) return OK;
  IValue copy;
  TRY(ivalue_hold(*v, &copy));
  if (!vec_push(&c->held, copy)) {
    ivalue_release(copy);
    return status_out_of_memory();
  }
  *v = copy;
  return OK;
}

/* What is not decided here goes to `pending`; *out_equal says whether the rest may be equal. */
static Status lists_equal(Comparison *c, const List *a, const List *b, bool *out_equal) {
  *out_equal = a->length == b->length;
  if (!*out_equal) return OK;
  if (a->kind == b->kind && a->kind == LIST_INTS) {
    *out_equal = !a->length || !memcmp(a->ints, b->ints, a->length * sizeof *a->ints);
    return OK;
  }
  for (size_t i = 0; i < a->length && *out_equal; i++) {
    IValue x = a->kind == LIST_VALUES ? a->values[i] : list_get(a, i),
           y = b->kind == LIST_VALUES ? b->values[i] : list_get(b, i);
    if (ivalue_is_number(x) && ivalue_is_number(y))
      *out_equal = numbers_equal(x, y);
    else
      TRY(later(c, x, y));
  }
  return OK;
}

static Status dicts_equal(Comparison *c, const Dict *a, const Dict *b, bool *out_equal) {
  *out_equal = a->live == b->live;
  for (DictEntry *e = dict_next(a, NULL); e && *out_equal; e = dict_next(a, e)) {
    IValue other;
    TRY(dict_get(b, e->key, &other, out_equal));
    if (!*out_equal) return OK;
    ivalue_release(other); /* b holds it */
    TRY(later(c, e->value, other));
  }
  return OK;
}

static Status containers_equal(Comparison *c, IValue a, IValue b, bool *out_equal) {
  *out_equal = true;
  if (pair_map_find(&c->seen, a.counted, b.counted)) return OK; /* decided elsewhere in the walk */
  if (!pair_map_put(&c->seen, a.counted, b.counted, c)) return status_out_of_memory();
  TRY(hold(c, &a));
  TRY(hold(c, &b));
  if (a.tag == TAG_LIST) return lists_equal(c, a.list, b.list, out_equal);
  if (a.tag == TAG_DICT) return dicts_equal(c, a.dict, b.dict, out_equal);
  *out_equal = a.tuple->length == b.tuple->length;
  for (uint32_t i = 0; i < a.tuple->length && *out_equal; i++) TRY(later(c, a.tuple->values[i], b.tuple->values[i]));
  return OK;
}

static Status pair_equal(Comparison *c, IValue a, IValue b, bool *out_equal) {
  if (ivalue_is_number(a) && ivalue_is_number(b)) {
    *out_equal = numbers_equal(a, b);
    return OK;
  }
  *out_equal = false;
  if (a.tag != b.tag) return OK;
  switch (a.tag) {
    case TAG_STRING:
      *out_equal = a.string == b.string || str_equal(ivalue_str(a), ivalue_str(b));
      return OK;
    case TAG_LIST:
    case TAG_DICT:
    case TAG_TUPLE:
      return containers_equal(c, a, b, out_equal);
    case TAG_TENSOR:
      if (a.tensor != b.tensor) c->comparable = false;
      *out_equal = a.tensor == b.tensor;
      return OK;
    default:
      *out_equal = ivalue_is(a, b);
      return OK;
  }
}

Status ivalue_equal(IValue a, IValue b, bool *out_equal, bool *out_comparable) {
  Comparison c = {.comparable = true};
  Status status = pair_equal(&c, a, b, out_equal);
  while (status == OK && *out_equal && c.pending.length) {
    Pair pair = vec_pop(&c.pending);
    status = pair_equal(&c, pair.a, pair.b, out_equal);
  }
  for (size_t i = 0; i < c.held.length; i++) ivalue_release(c.held.data[i]);
  vec_dispose(&c.held);
  vec_dispose(&c.pending);
  pair_map_dispose(&c.seen);
  if (out_comparable) *out_comparable = c.comparable;
  if (status) *out_equal = false;
  return status;
}

bool ivalue_is_surely_equal(IValue a, IValue b) {
  bool equal, comparable;
  Status status = ivalue_equal(a, b, &equal, &comparable);
  bool known = status == OK && comparable;
  status_free(status);
  return known && equal;
}

/* ---- hashes: equal values hash alike, across int, float, bool and complex too ---- */

static uint64_t mix(uint64_t h) {
  static _Atomic uint64_t seed;
  uint64_t s = atomic_load_explicit(&seed, memory_order_relaxed);
  if (!s) atomic_store_explicit(&seed, s = str_hash(STR("ivalue")) | 1, memory_order_relaxed);
  h = (h ^ s) * 0x9E3779B97F4A7C15u;
  h = (h ^ h >> 32) * 0xD6E8FEB86659FD93u;
  return h ^ h >> 32;
}

static uint64_t hash_double(double f) {
  if (f >= -0x1p63 && f < 0x1p63 && (double)(int64_t)f == f) return mix((uint64_t)(int64_t)f);
  uint64_t bits;
  memcpy(&bits, &f, sizeof bits);
  return mix(bits);
}

static uint64_t hash_string(String *s) {
  uint64_t hash = atomic_load_explicit(&s->hash, memory_order_relaxed);
  if (!hash) {
    hash = str_hash(string_view(s));
    if (!hash) hash = 1;
    atomic_store_explicit(&s->hash, hash, memory_order_relaxed);
  }
  return hash;
}

static Status hash_leaf(IValue v, uint64_t *out) {
  switch (v.tag) {
    case TAG_NONE:
      *out = mix(0x6e6f6e65);
      return OK;
    case TAG_INT:
      *out = mix((uint64_t)v.i);
      return OK;
    case TAG_BOOL:
      *out = mix(v.b);
      return OK;
    case TAG_FLOAT:
      *out = hash_double(v.f);
      return OK;
    case TAG_COMPLEX: {
      double imaginary = __imag__ v.complex->value;
      uint64_t hash = hash_double(__real__ v.complex->value);
      *out = imaginary == 0 ? hash : mix(hash ^ hash_double(imaginary) * 31);
      return OK;
    }
    case TAG_DEVICE:
      *out = mix((uint64_t)v.device.type << 32 ^ (uint16_t)v.device.index);
      return OK;
    case TAG_STRING:
      *out = hash_string(v.string);
      return OK;
    case TAG_ENUM:
      *out = mix(ivalue_identity(v.enum_value->type) ^ v.enum_value->index);
      return OK;
    case TAG_LIST:
      return status_exception("TypeError", "unhashable type: 'list'");
    case TAG_DICT:
      return status_exception("TypeError", "unhashable type: 'dict'");
    default:
      *out = ivalue_identity(v.counted);
      return OK;
  }
}

/* A tuple inside a tuple counts with its length only below a small depth, which keeps shared structure linear. */
static Status hash_tuple(const Tuple *t, int depth, uint64_t *out) {
  uint64_t hash = mix(t->length + 0x7475706cu);
  for (uint32_t i = 0; i < t->length; i++) {
    uint64_t element = 0;
    IValue v = t->values[i];
    if (v.tag != TAG_TUPLE)
      TRY(hash_leaf(v, &element));
    else if (depth < 4)
      TRY(hash_tuple(v.tuple, depth + 1, &element));
    hash = mix(hash * 31 ^ element);
  }
  *out = hash;
  return OK;
}

Status ivalue_hash(IValue v, uint64_t *out) {
  return v.tag == TAG_TUPLE ? hash_tuple(v.tuple, 0, out) : hash_leaf(v, out);
}
