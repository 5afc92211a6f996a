/* Equality, identity and hashes. Equality walks an explicit list of pairs and remembers the pairs of containers it has
 * seen, so that shared and cyclic structure ends. */
#include "ivalue/lock.h"
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

static bool later(Comparison *c, IValue a, IValue b) {
  Pair pair = {a, b};
  if (vec_push(&c->pending, pair)) return true;
  c->comparable = false;
  return false;
}

/* In place of a container, one that other threads do not change. */
static bool hold(Comparison *c, IValue *v) {
  bool shared = v->tag == TAG_LIST ? list_may_change(v->list) : v->tag == TAG_DICT && dict_may_change(v->dict);
  if (!shared) return true;
  IValue copy;
  Status status = ivalue_hold(*v, &copy);
  if (!status && !vec_push(&c->held, copy)) {
    ivalue_release(copy);
    status = status_out_of_memory();
  }
  if (!status) {
    *v = copy;
    return true;
  }
  status_free(status);
  return c->comparable = false;
}

static bool lists_equal(Comparison *c, const List *a, const List *b) {
  if (a->length != b->length) return false;
  if (a->kind == b->kind && a->kind == LIST_INTS)
    return !a->length || !memcmp(a->ints, b->ints, a->length * sizeof *a->ints);
  for (size_t i = 0; i < a->length; i++) {
    IValue x = a->kind == LIST_VALUES ? a->values[i] : list_get(a, i),
           y = b->kind == LIST_VALUES ? b->values[i] : list_get(b, i);
    if (ivalue_is_number(x) && ivalue_is_number(y)) {
      if (!numbers_equal(x, y)) return false;
    } else if (!later(c, x, y)) {
      return false;
    }
  }
  return true;
}

static bool dicts_equal(Comparison *c, const Dict *a, const Dict *b) {
  if (a->live != b->live) return false;
  for (DictEntry *e = dict_next(a, NULL); e; e = dict_next(a, e)) {
    IValue other;
    if (!dict_get(b, e->key, &other)) return false;
    bool queued = later(c, e->value, other);
    ivalue_release(other); /* b holds it */
    if (!queued) return false;
  }
  return true;
}

static bool pair_equal(Comparison *c, IValue a, IValue b) {
  if (ivalue_is_number(a) && ivalue_is_number(b)) return numbers_equal(a, b);
  if (a.tag != b.tag) return false;
  switch (a.tag) {
    case TAG_STRING:
      return a.string == b.string || str_equal(ivalue_str(a), ivalue_str(b));
    case TAG_LIST:
    case TAG_DICT:
    case TAG_TUPLE:
      break;
    case TAG_TENSOR:
      if (a.tensor != b.tensor) c->comparable = false;
      return a.tensor == b.tensor;
    default:
      return ivalue_is(a, b);
  }
  if (pair_map_find(&c->seen, a.counted, b.counted)) return true; /* decided elsewhere in the walk */
  if (!pair_map_put(&c->seen, a.counted, b.counted, c)) return c->comparable = false;
  if (!hold(c, &a) || !hold(c, &b)) return false;
  if (a.tag == TAG_LIST) return lists_equal(c, a.list, b.list);
  if (a.tag == TAG_DICT) return dicts_equal(c, a.dict, b.dict);
  if (a.tuple->length != b.tuple->length) return false;
  for (uint32_t i = 0; i < a.tuple->length; i++)
    if (!later(c, a.tuple->values[i], b.tuple->values[i])) return false;
  return true;
}

bool ivalue_equal(IValue a, IValue b, bool *out_comparable) {
  Comparison c = {.comparable = true};
  bool equal = pair_equal(&c, a, b);
  while (equal && c.pending.length) {
    Pair pair = vec_pop(&c.pending);
    equal = pair_equal(&c, pair.a, pair.b);
  }
  for (size_t i = 0; i < c.held.length; i++) ivalue_release(c.held.data[i]);
  vec_dispose(&c.held);
  vec_dispose(&c.pending);
  pair_map_dispose(&c.seen);
  *out_comparable = c.comparable;
  return equal;
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
      *out = mix((uintptr_t)v.enum_value->type ^ (uint64_t)v.enum_value->index << 48);
      return OK;
    case TAG_LIST:
      return status_exception("TypeError", "unhashable type: 'list'");
    case TAG_DICT:
      return status_exception("TypeError", "unhashable type: 'dict'");
    default:
      *out = mix((uintptr_t)v.counted);
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
