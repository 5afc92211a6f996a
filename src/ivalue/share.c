/* Marking as shared. The walk needs no memory, so that it can't fail: what is yet to be looked at is chained through
 * the containers. */
#include "ivalue/lock.h"

#include <assert.h>

/* Containers under way, each once, in the order they were met; guarded by the lock of marking. */
typedef struct Chain {
  uint8_t state; /* what they get */
  IValue first, last;
} Chain;

static _Atomic uint8_t *mark_of(IValue v) {
  switch (v.tag) {
    case TAG_LIST:
      return &v.list->shared;
    case TAG_DICT:
      return &v.dict->shared;
    case TAG_TUPLE:
      return &v.tuple->shared;
    case TAG_OBJECT:
      return &v.object->shared;
    default:
      return NULL;
  }
}

static Link *link_of(IValue v) {
  assert(mark_of(v)); /* a container */
  return v.tag == TAG_LIST    ? &v.list->next_marked
         : v.tag == TAG_DICT  ? &v.dict->next_marked
         : v.tag == TAG_TUPLE ? &v.tuple->next_marked
                              : &v.object->next_marked;
}

static IValue next_of(IValue v) {
  const Link *link = link_of(v);
  return (IValue){.tag = link->tag, .counted = link->container};
}

static void meet(Chain *chain, IValue v) {
  _Atomic uint8_t *mark = mark_of(v);
  if (!mark) return;
  uint8_t now = atomic_load_explicit(mark, memory_order_relaxed);
  if (now == SHARING_UNDER_WAY || now >= chain->state) return;
  atomic_store_explicit(mark, SHARING_UNDER_WAY, memory_order_relaxed);
  *link_of(v) = (Link){TAG_NONE, NULL};
  if (chain->first.tag == TAG_NONE)
    chain->first = v;
  else
    *link_of(chain->last) = (Link){v.tag, v.counted};
  chain->last = v;
}

static void meet_all(Chain *chain, const IValue *values, size_t count) {
  for (size_t i = 0; i < count; i++) meet(chain, values[i]);
}

static void meet_content(Chain *chain, IValue v) {
  switch (v.tag) {
    case TAG_LIST:
      if (v.list->kind == LIST_VALUES) meet_all(chain, v.list->values, v.list->length);
      return;
    case TAG_DICT:
      for (DictEntry *e = dict_next(v.dict, NULL); e; e = dict_next(v.dict, e)) {
        meet(chain, e->key);
        meet(chain, e->value);
      }
      return;
    case TAG_TUPLE:
      meet_all(chain, v.tuple->values, v.tuple->length);
      return;
    default:
      meet_all(chain, v.object->slots, v.object->slot_count);
      return;
  }
}

static void mark_all(IValue v, uint8_t state) {
  const _Atomic uint8_t *mark = mark_of(v);
  if (!mark || atomic_load_explicit(mark, memory_order_acquire) >= state) return;
  Chain chain = {state, IVALUE_NONE, IVALUE_NONE};
  marking_lock();
  meet(&chain, v);
  for (IValue at = chain.first; at.tag != TAG_NONE; at = next_of(at)) meet_content(&chain, at);
  for (IValue at = chain.first; at.tag != TAG_NONE;) {
    IValue next = next_of(at); /* the link is another's to use as soon as the mark stands */
    atomic_store_explicit(mark_of(at), state, memory_order_release);
    at = next;
  }
  marking_unlock();
}

void ivalue_mark_shared(IValue v) {
  mark_all(v, SHARING_SHARED);
}
void ivalue_mark_constant(IValue v) {
  mark_all(v, SHARING_CONSTANT);
}
